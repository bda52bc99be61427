// SPDX-License-Identifier: MIT OR Apache-2.0
//! A message taken out of the stream whole.

use orbium_channel::peer_memory::Charge;

/// A request message that has arrived whole, to be kept.
pub(super) struct Whole {
    pub(super) octets: Vec<u8>,
    pub(super) seams: Vec<u32>,
    pub(super) charge: Charge,
}
