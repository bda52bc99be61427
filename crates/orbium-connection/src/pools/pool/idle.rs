// SPDX-License-Identifier: MIT OR Apache-2.0
//! Idle connections: finding and closing them.

use std::sync::atomic::Ordering;
use std::time::Instant;

use orbium_transport::Deadline;

use super::{Pool, Source};
use crate::connection::Connection;

impl Pool {
    /// Closes idle connections, after one to the same server has failed.
    pub fn forget_idle(&self) {
        if let Some(own) = &self.own {
            let closed = own.close_all();
            self.count_closed(closed);
        }
        self.drop_idle(&|_| true);
    }

    /// Drops the idle connections for which `unwanted` is true; returns whether there were any.
    fn drop_idle(&self, unwanted: &dyn Fn(&Connection) -> bool) -> bool {
        let mut state = self.lock_all_idle();
        let (mut gone, mut kept) = (Vec::new(), Vec::new());
        for connection in std::mem::take(&mut state.idle) {
            if unwanted(&connection) {
                gone.push(connection);
            } else {
                kept.push(connection);
            }
        }
        state.idle = kept;
        state.open -= gone.len();
        drop(state);
        self.one_free.notify_all();
        !gone.is_empty()
    }

    /// Drops the copies of a parent's idle connections. Locks of a shared connection may be held by
    /// other threads of the parent.
    pub(crate) fn leave_idle(&self) {
        if let (Source::Exclusive(_), None) = (&self.source, &self.own) {
            drop(self.idle_cache.drain().collect::<Vec<_>>());
            if let Some(mut state) = self.state.try_lock() {
                state.idle.clear();
            }
        }
    }

    /// Whether readability of an acquired connection can only mean its end: on a shared one it may
    /// be data for others.
    #[inline]
    pub fn can_be_looked_at(&self) -> bool {
        match &self.source {
            Source::Exclusive(_) => !self.config.protocols.is_datagram(&self.key.channel),
            Source::Shared(_) => {
                let state = self.lock_all_idle();
                state.idle.len() + 1 == state.open
            }
        }
    }

    /// Counts an idle connection that has turned out to be closed.
    #[cold]
    pub fn note_stale(&self) {
        self.counts.note_stale();
    }

    /// Whether all connections that the limits permit are busy.
    pub fn is_exhausted(&self) -> bool {
        if let Some(own) = &self.own
            && own.has_idle()
        {
            return false;
        }
        let state = self.lock_all_idle();
        state.idle.is_empty() && state.open >= self.limit
    }

    /// Whether there are connections, idle or busy.
    pub(crate) fn is_in_use(&self) -> bool {
        self.lock().open > 0
    }

    /// Drops connections that the server has closed or spoiled.
    pub fn drop_stale(&self) {
        if let Source::Exclusive(_) = self.source {
            self.drop_idle(&Connection::has_unexpected_input);
            return;
        }
        // Data for busy call slots are expected.
        let state = self.lock_all_idle();
        let all_idle = state.idle.len() == state.open;
        let spoilt = all_idle && state.idle.iter().any(|slot| slot.has_unexpected_input());
        drop(state);
        if spoilt {
            self.forget_idle();
            self.close_source();
        }
    }

    /// The last use of the least recently used idle connection.
    pub(crate) fn oldest_idle(&self, now: Instant) -> Option<Instant> {
        if let Some(own) = &self.own {
            return own.oldest_idle(now);
        }
        self.put_back_flushed();
        let mut state = self.lock_all_idle();
        let mut used: Option<(Instant, Instant)> = None;
        for connection in &mut state.idle {
            let last = connection.last_used(now);
            let (first, latest) = used.unwrap_or((last, last));
            used = Some((first.min(last), latest.max(last)));
        }
        let (first, latest) = used?;
        match &self.source {
            Source::Exclusive(_) => Some(first),
            // If all call slots are idle.
            Source::Shared(multiplexer) => {
                let all_idle = state.idle.len() == state.open && multiplexer.is_open();
                all_idle.then_some(latest)
            }
        }
    }

    /// Closes in order the least recently used idle connection.
    pub(crate) fn close_oldest(&self) {
        if let Some(own) = &self.own {
            let closed = own.close_oldest();
            return self.count_closed(usize::from(closed));
        }
        if let Source::Shared(_) = self.source {
            self.close_idle_since(Instant::now());
            return;
        }
        let mut state = self.lock_all_idle();
        let mut oldest = 0;
        for (place, connection) in state.idle.iter().enumerate() {
            if connection.used() < state.idle[oldest].used() {
                oldest = place;
            }
        }
        if oldest < state.idle.len() {
            let connection = state.idle.remove(oldest);
            state.open -= 1;
            drop(state);
            connection.close();
            drop(connection);
            self.one_free.notify_one();
        }
    }

    /// Closes in order the connections that have not been used since then.
    pub(crate) fn close_idle_since(&self, since: Instant) {
        if let Some(own) = &self.own {
            let closed = own.close_idle_since(since);
            return self.count_closed(closed);
        }
        let closed = self.drop_idle(&|connection| {
            let is_idle = connection.used_before(since);
            if is_idle {
                connection.close();
            }
            is_idle
        });
        if closed && !self.is_in_use() {
            self.close_source();
        }
    }

    /// Closes idle connections; waiting callers fail.
    pub fn close(&self) {
        self.close_by(Deadline::after(Some(self.config.limits.send_time)));
    }

    /// The same; waits until the deadline for a server that does not accept buffered oneways.
    pub(crate) fn close_by(&self, deadline: Deadline) {
        // SeqCst, before the scan of the idle ones: a connection released later is closed
        // then.
        self.callers_wait.fetch_add(1, Ordering::SeqCst);
        self.end_oneways(deadline);
        if let Some(own) = &self.own {
            let closed = own.close_all();
            self.count_closed(closed);
        }
        self.drop_idle(&|connection| {
            connection.close();
            true
        });
        self.close_source();
        self.one_free.notify_all();
    }

    /// Closes the connection shared by callers, if there is one.
    pub fn close_source(&self) {
        if let Source::Shared(multiplexer) = &self.source {
            multiplexer.close();
        }
    }

    /// Counts off connections that were closed in the tables of their threads.
    fn count_closed(&self, closed: usize) {
        self.lock().open -= closed;
        self.one_free.notify_all();
    }
}
