// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections over which requests of both sides may go.

use orbium_transport::Bidirectional;

use super::ServerConnection;

impl ServerConnection {
    /// Whether the peer may say nothing for long: replies are to go out, or this side's calls
    /// go over the connection too.
    pub(crate) fn may_be_silent(&self) -> bool {
        let calls = || {
            self.stream
                .bidirectional()
                .is_some_and(Bidirectional::is_called_over)
        };
        self.is_shared() || calls()
    }
}
