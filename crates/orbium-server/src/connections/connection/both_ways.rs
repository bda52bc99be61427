// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bidirectional connections.

use orbium_channel::{Bidirectional, BidirectionalHalf};

use super::ServerConnection;
use crate::strategy::notifier::Notifier;

impl ServerConnection {
    /// The bidirectional interface of the connection, if it can become bidirectional.
    pub(crate) fn bidirectional(&self) -> Option<&dyn Bidirectional> {
        BidirectionalHalf::serving(&*self.stream)
    }

    /// Whether the peer may be silent for long: replies are pending, or this side makes calls over
    /// the connection, too.
    pub(crate) fn may_be_silent(&self) -> bool {
        let calls = || {
            self.bidirectional()
                .is_some_and(Bidirectional::is_called_over)
        };
        self.is_shared() || calls()
    }

    /// Whether this side may send requests over it yet.
    pub(crate) fn goes_both_ways(&self) -> bool {
        self.bidirectional().is_some_and(Bidirectional::is_both)
    }

    /// Receives while replies cannot be sent, if the peer may be in the same state; `false` if the
    /// connection has failed.
    pub(crate) fn read_ahead(&self, notifier: &Notifier) -> bool {
        let Some(both) = self.bidirectional().filter(|it| it.is_both()) else {
            return true;
        };
        match both.read_ahead() {
            Ok(true) => true,
            // The poller would report the end again and again.
            Ok(false) => self.stop_reading_ahead(notifier).is_ok(),
            Err(_) => false,
        }
    }

    /// Receives while a request waits for a place in a queue: replies to this side's calls may
    /// follow it. `None` if nothing is to be received, `false` if the connection has failed.
    pub(crate) fn read_ahead_in_part(&self) -> Option<bool> {
        let both = self.bidirectional()?;
        if !both.is_both() || !both.may_read_ahead() {
            return None;
        }
        match both.read_ahead() {
            Ok(more) => more.then_some(true),
            Err(_) => Some(false),
        }
    }
}
