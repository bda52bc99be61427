// SPDX-License-Identifier: MIT OR Apache-2.0
//! Networks between processes: a cable, a link of limited rate, packets.

pub(crate) mod cable;
pub(crate) mod link;
pub(crate) mod packets;
pub(crate) mod transport;
