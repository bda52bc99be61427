// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs under comparison: orbium's strategies, raw sockets, and the programs of other
//! ORBs.

pub(crate) mod architecture;
pub(crate) mod built;
pub(crate) mod closed_loop;
pub(crate) mod contender;
pub(crate) mod programs;
pub(crate) mod server;
pub(crate) mod way;
