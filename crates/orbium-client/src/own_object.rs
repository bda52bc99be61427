// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where calls without a message find an object of the caller's own ORB.

use orbium_cdr::Format;
use orbium_sync::SlotKey;

/// An object of the caller's own ORB, as calls without a message address it.
#[derive(Debug)]
pub struct Collocated {
    /// The key of the object.
    pub object_key: Box<[u8]>,
    /// Its place among the active objects. No other object ever has it, so a call has to check
    /// no more than its generation.
    pub slot: SlotKey,
    /// How values would be written.
    pub format: Format,
}
