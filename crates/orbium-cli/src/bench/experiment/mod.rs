// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the experiments of Schmidt, Mungee, Flores-Gaitan and Gokhale,
//! "Software Architectures for Reducing Priority Inversion and Non-determinism
//! in Real-time Object Request Brokers", have in common: servers and clients of
//! every architecture, in processes of their own, which are told by lines of
//! text what to do and answer by lines of JSON. The programs of other ORBs in
//! `interop/` understand the same lines.

mod architecture;
mod burst;
mod caller;
pub(crate) mod client;
mod clock;
mod idle;
mod load;
mod lock_counts;
mod pacing;
mod peers;
mod real_time;
pub(crate) mod server;
mod stand;
mod work;

pub(crate) use architecture::{Architecture, Kind, Lanes, architectures, ways_to_serve};
pub(crate) use burst::LATE;
pub(crate) use clock::{Span, now, stolen, stolen_since};
#[cfg(feature = "counted")]
pub(crate) use lock_counts::LockCounts;
pub(crate) use peers::{PeerArgs, Peers};
pub(crate) use real_time::{HIGH, can_be_real_time};
pub(crate) use stand::{How, Stand};
