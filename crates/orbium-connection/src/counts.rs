// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connection counters and notices of an ORB's client side.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use orbium_channel::Channel;
use orbium_metrics::{Closing, ConnectionBook, Tracked};
use orbium_trace::log::Recurring;
use orbium_transport::ByteStream;

use crate::flow_control::{FlowControl, FlowControlNotices};

/// The connections of an ORB to servers, as a number and in its book.
#[derive(Debug, Default)]
pub struct Counts {
    /// Connections, both idle and busy. Written only when one is opened or lost.
    open: AtomicUsize,
    /// Maximum number of open connections while some are idle.
    limit: AtomicUsize,
    /// Whether releasing a connection takes the slow path: there are too many, or the ORB has
    /// ended.
    pub(super) is_unusual: Arc<AtomicBool>,
    /// Connections opened since the last check of idle ones.
    pub made: AtomicUsize,
    closed: AtomicBool,
    book: ConnectionBook,
    flow_control: FlowControlNotices,
}

impl Counts {
    pub(super) fn new(limit: usize, book: &ConnectionBook) -> Self {
        Self {
            limit: AtomicUsize::new(limit),
            book: book.clone(),
            ..Self::default()
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.update();
    }

    /// Counts an idle connection that has turned out to be closed.
    pub fn note_stale(&self) {
        self.book.note_stale();
    }

    /// Notes that a connection no longer accepts buffered oneways, or accepts them again.
    #[cold]
    pub(super) fn note_flow_control(&self, channel: &Channel, begins: bool) {
        self.book.note_flow_control(begins);
        let change = if begins {
            FlowControl::Begins
        } else {
            FlowControl::Ends
        };
        orbium_trace::log::debug!(target: "orbium::conn", address = %channel, "{change}");
        self.flow_control.note(channel, change);
    }

    /// The notice of flow control.
    pub(crate) fn flow_control(&self) -> &FlowControlNotices {
        &self.flow_control
    }

    /// Registers `observer` for changes of flow control; `false` if there is another observer, no
    /// thread for it, or the ORB has ended.
    pub fn observe_flow_control(
        &self,
        observer: impl FnMut(&Channel, FlowControl) + Send + 'static,
    ) -> bool {
        self.flow_control.observe(Box::new(observer))
    }

    /// Notes that buffered oneways will not be sent.
    pub(super) fn note_lost_oneways(&self, count: usize) {
        if count > 0 {
            self.book.note_lost_oneways(count as u64);
            if let Some(suppressed) = self.book.admit(Recurring::LostOneways) {
                orbium_trace::log::warn!(target: "orbium::conn", count, suppressed, "buffered oneways are lost");
            }
        }
    }

    /// Whether an event that peers can cause is to be logged.
    pub fn admit(&self, event: Recurring) -> Option<u64> {
        self.book.admit(event)
    }

    /// Whether the number of open connections exceeds the limit.
    pub(super) fn is_crowded(&self) -> bool {
        self.open.load(Ordering::SeqCst) > self.limit.load(Ordering::SeqCst)
    }

    /// Sets the maximum number of open connections while some are idle.
    pub(super) fn set_limit(&self, limit: usize) {
        self.limit.store(limit, Ordering::SeqCst);
        self.update();
    }

    /// Updates `is_unusual` after a change of the state from which it is derived.
    ///
    /// Threads that open connections concurrently may store in another order than they counted.
    /// Each checks again after its store (all are SeqCst): a change that the last store missed is
    /// then noticed, or its thread has yet to store.
    fn update(&self) {
        loop {
            let unusual = self.is_crowded() || self.is_closed();
            self.is_unusual.store(unusual, Ordering::SeqCst);
            if unusual == (self.is_crowded() || self.is_closed()) {
                return;
            }
        }
    }

    fn opened(&self) {
        self.open.fetch_add(1, Ordering::SeqCst);
        self.made.fetch_add(1, Ordering::Relaxed);
        self.update();
    }

    fn ended(&self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
        self.update();
    }
}

/// One connection, as long as it is open.
#[derive(Debug)]
pub struct Counted {
    counts: Arc<Counts>,
    tracked: Tracked,
}

impl Counted {
    /// Counts a new connection over that channel.
    pub fn new(counts: &Arc<Counts>, channel: &Channel) -> Self {
        counts.opened();
        let tracked = counts.book.connected(&channel.scheme, &channel.address);
        let conn = tracked.id();
        orbium_trace::log::debug!(target: "orbium::conn", conn, address = %channel, "connected");
        Self {
            counts: Arc::clone(counts),
            tracked,
        }
    }

    /// Notes its effective settings.
    pub fn note_in_force(&self, text: String) {
        self.tracked.note_in_force(text);
    }

    /// Its stream, counted if metrics are on.
    pub fn metered(&self, stream: Box<dyn ByteStream>) -> Box<dyn ByteStream> {
        self.tracked.metered(stream)
    }

    /// This side closes it in order.
    #[cold]
    pub(super) fn note_closing(&self) {
        self.note_cause(if self.counts.is_closed() {
            Closing::Shutdown
        } else {
            Closing::Idle
        });
    }

    /// Records the cause of the end of the connection; only the first is kept.
    #[cold]
    pub fn note_cause(&self, cause: Closing) {
        self.tracked.note_closing(cause);
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.counts.ended();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: two threads connected concurrently. The first found no excess and stored so
    /// after the second had found one: no connection was closed to make room until the next one was
    /// opened.
    #[test]
    fn a_crowd_is_seen_though_its_connections_are_made_at_once() {
        let counts = Counts::new(1, &ConnectionBook::default());
        let (arrived, missed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let meet = |times: usize| {
            arrived.fetch_add(1, Ordering::SeqCst);
            let mut looks = 0;
            while arrived.load(Ordering::SeqCst) < 2 * times {
                looks += 1;
                match looks % 256 {
                    0 => std::thread::yield_now(),
                    _ => std::hint::spin_loop(),
                }
            }
        };
        let is_unusual = || counts.is_unusual.load(Ordering::SeqCst);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for round in 0..10_000 {
                        meet(4 * round + 1);
                        counts.opened();
                        meet(4 * round + 2);
                        missed.fetch_or(!is_unusual(), Ordering::SeqCst);
                        meet(4 * round + 3);
                        counts.ended();
                        meet(4 * round + 4);
                        missed.fetch_or(is_unusual(), Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(!missed.into_inner());
        counts.close();
        assert!(is_unusual());
    }
}
