// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections over which requests of both sides may go.

use orbium_channel::{Bidirectional, BidirectionalHalf};

use super::ServerConnection;

impl ServerConnection {
    /// The connection as one over which requests of both sides may go, if it may become so.
    pub(crate) fn bidirectional(&self) -> Option<&dyn Bidirectional> {
        BidirectionalHalf::serving(&*self.stream)
    }

    /// Whether the peer may say nothing for long: replies are to go out, or this side's calls
    /// go over the connection too.
    pub(crate) fn may_be_silent(&self) -> bool {
        let calls = || {
            self.bidirectional()
                .is_some_and(Bidirectional::is_called_over)
        };
        self.is_shared() || calls()
    }

    /// Whether requests of this side may go over it by now.
    pub(crate) fn goes_both_ways(&self) -> bool {
        self.bidirectional().is_some_and(Bidirectional::is_both)
    }

    /// Receives while replies wait for room, if the peer may wait for the same; `false` if
    /// the connection has ended.
    pub(crate) fn read_ahead(&self) -> bool {
        let both = self.bidirectional().filter(|it| it.is_both());
        both.is_none_or(|it| it.read_ahead().is_ok())
    }

    /// Receives while a request waits for a place in a queue: replies to this side's calls may
    /// be behind it. `None` if nothing is to be received, `false` if the connection
    /// has ended.
    pub(crate) fn read_ahead_in_part(&self) -> Option<bool> {
        let both = self.bidirectional()?;
        (both.is_both() && both.may_read_ahead()).then(|| both.read_ahead().is_ok())
    }
}
