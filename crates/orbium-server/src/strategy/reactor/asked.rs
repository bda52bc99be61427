// SPDX-License-Identifier: MIT OR Apache-2.0
//! Entry points of the reactor for leader/followers threads and for nested waits.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use orbium_sys::{Interest, Ready, wait_for};

use super::Reactor;

/// The next step of a thread in a nested wait.
pub(crate) enum NestedTurn {
    /// Continue: the awaited event has occurred.
    Own,
    /// Serve that connection, and wait again.
    Served(u64),
    /// Wait again.
    Nothing,
}

impl Reactor {
    /// As `next`, for a thread that also waits for `source`: returns when that is ready, on
    /// time-out, or when a connection has something to serve.
    pub(crate) fn next_nested(
        &mut self,
        source: &dyn AsFd,
        interest: Interest,
        ready: &mut Vec<Ready>,
        left: Option<Duration>,
    ) -> io::Result<NestedTurn> {
        let busy = self.turns > 0 && self.has_turns();
        let timeout = if busy {
            Some(Duration::ZERO)
        } else {
            [self.timeout_of_a_look(), left].into_iter().flatten().min()
        };
        let poller = &self.notifier.poller;
        let own = if busy {
            // Level-triggered: other ready sources are reported at the next check.
            wait_for([(source, interest)], timeout)? == [true]
        } else {
            poller.wait_including(source, interest, ready, timeout)?
        };
        if own {
            return Ok(NestedTurn::Own);
        }
        if !busy {
            self.handle_ready::<false>(ready);
        }
        Ok(match self.next_turn() {
            Some(id) if !self.shared.is_stopping() => NestedTurn::Served(id),
            _ => NestedTurn::Nothing,
        })
    }

    /// Whether there is work besides waiting for connections, or soon will be.
    pub(crate) fn has_plans(&self) -> bool {
        self.shared.host.context.limits().server_idle_time.is_some()
            || !self.newcomers.is_empty()
            || self.is_timed()
            || !self.todo.is_empty()
    }

    /// Whether the waiting thread must wake for a deadline.
    pub(crate) fn is_timed(&self) -> bool {
        !self.timed.is_empty() || self.accepting.is_timed()
    }
}
