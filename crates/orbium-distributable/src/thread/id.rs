// SPDX-License-Identifier: MIT OR Apache-2.0
//! Identities of distributable threads.

use std::fmt;

use orbium_sys::random_number;

/// The globally unique id of a distributable thread (`IdType`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId([u8; Self::LENGTH]);

impl ThreadId {
    /// Bytes of an id.
    pub const LENGTH: usize = 16;

    /// A unique id.
    pub(crate) fn unique() -> Self {
        let mut bytes = [0; Self::LENGTH];
        for half in bytes.chunks_exact_mut(8) {
            half.copy_from_slice(&random_number().to_ne_bytes());
        }
        Self(bytes)
    }

    /// The id of these bytes; none if their number is wrong.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
