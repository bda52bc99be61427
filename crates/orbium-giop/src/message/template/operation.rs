// SPDX-License-Identifier: MIT OR Apache-2.0
//! The part of a request that depends on its operation.

use orbium_cdr::ByteOrder;

use crate::message::header::u32_octets;

/// Maximum length of an operation name for the fast path.
pub(super) const SHORT_OPERATION: usize = 44;
/// Count, longest short name, NUL, padding, count of contexts, padding.
pub(super) const SHORT_TAIL: usize = 64;

/// The part of a request that depends only on the operation, marshalled in native byte order at
/// compile time: its name, and the empty list after it (service contexts from 1.2 on, the principal
/// before).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationTail {
    pub(super) octets: [u8; SHORT_TAIL],
    /// Octets up to the end of the list; 0 if the name is too long.
    pub(super) len: usize,
    /// Octets of the name.
    pub(super) name_len: u8,
}

impl OperationTail {
    /// The tail for an operation of that name.
    #[must_use]
    pub const fn new(operation: &str) -> Self {
        let name = operation.as_bytes();
        let mut octets = [0; SHORT_TAIL];
        if name.len() > SHORT_OPERATION {
            return Self {
                octets,
                len: 0,
                name_len: 0,
            };
        }
        let count = u32_octets(name.len() as u32 + 1, ByteOrder::NATIVE);
        let mut i = 0;
        while i < count.len() {
            octets[i] = count[i];
            i += 1;
        }
        i = 0;
        while i < name.len() {
            octets[4 + i] = name[i];
            i += 1;
        }
        Self {
            octets,
            len: ((4 + name.len() + 1 + 3) & !3) + 4,
            name_len: name.len() as u8,
        }
    }

    /// The name; empty if it is too long.
    pub(super) fn name(&self) -> &[u8] {
        &self.octets[4..4 + usize::from(self.name_len)]
    }

    /// Identifies it.
    pub(super) fn address(&'static self) -> usize {
        core::ptr::from_ref(self) as usize
    }
}
