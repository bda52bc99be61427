// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two sides of a connection.

/// Role of this ORB in a connection: client or server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// This ORB has opened the connection.
    Client,
    /// This ORB has accepted the connection.
    Server,
}

impl Role {
    /// The label in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}
