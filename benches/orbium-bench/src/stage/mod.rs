// SPDX-License-Identifier: MIT OR Apache-2.0
//! Server and client processes of the experiments. The harness writes commands to
//! their standard input, a line each; they answer with lines of JSON. The programs
//! of other ORBs in `interop/` understand the same commands.

pub(crate) mod awake;
pub(crate) mod burst;
pub(crate) mod cable;
mod caller;
pub(crate) mod client;
pub(crate) mod clock;
mod idle;
pub(crate) mod link;
mod load;
pub(crate) mod lock_counts;
pub(crate) mod pacing;
pub(crate) mod packets;
pub(crate) mod real_time;
pub(crate) mod server;
pub(crate) mod test_bed;
pub(crate) mod work;
