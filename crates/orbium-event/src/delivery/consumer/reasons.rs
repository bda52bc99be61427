// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reasons for events to wait in the queue of a consumer, in bits.

/// The program has paused it.
pub(super) const PAUSED: u8 = 1;
/// It has failed, and its events wait until it answers a ping.
pub(super) const SUSPECT: u8 = 1 << 1;
/// Its batch is not complete, and has not waited for its interval.
pub(super) const PACED: u8 = 1 << 2;
/// It pulls.
pub(super) const PULLED: u8 = 1 << 3;
