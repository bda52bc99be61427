// SPDX-License-Identifier: MIT OR Apache-2.0
//! The peers of the table.

/// One of the compared peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// Sockets that move the same numbers of octets: the upper limit.
    Raw,
    /// orbium.
    Orbium,
    /// omniORB 4.
    Omni,
}

impl Peer {
    /// The name in tables and file names.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Orbium => "orbium",
            Self::Omni => "omniORB",
        }
    }
}
