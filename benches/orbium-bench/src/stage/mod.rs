// SPDX-License-Identifier: MIT OR Apache-2.0
//! Server and client processes of the experiments. The harness writes commands to their standard
//! input, a line each; they reply with lines of JSON. The programs of other ORBs in `interop/`
//! implement the same commands.

pub(crate) mod awake;
pub(crate) mod burst;
mod caller;
pub(crate) mod class;
pub(crate) mod client;
pub(crate) mod clock;
mod idle;
mod load;
pub(crate) mod lock_counts;
pub(crate) mod network;
pub(crate) mod pacing;
mod ranks;
pub(crate) mod real_time;
pub(crate) mod server;
pub(crate) mod test_bed;
pub(crate) mod work;
