// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two sides of a connection.

/// Role in the making of a connection: a client, or the server's peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// This ORB called.
    Client,
    /// This ORB was called.
    Server,
}

impl Role {
    /// As metrics label it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}
