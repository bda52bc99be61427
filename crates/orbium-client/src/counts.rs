// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is counted over all connections of an ORB.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use orbium_channel::Channel;
use orbium_metrics::{Closing, ConnectionBook, Tracked};
use orbium_trace::log::Recurring;
use orbium_transport::ByteStream;

#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Connections, idle and busy ones. Written only when one is made or lost.
    open: AtomicUsize,
    /// Connections that may be open while some are idle.
    limit: usize,
    /// Whether a connection that becomes idle is not simply kept: there are too
    /// many, or the ORB has ended.
    pub(super) is_unusual: Arc<AtomicBool>,
    /// Connections made since idle ones were last looked at.
    pub(super) made: AtomicUsize,
    closed: AtomicBool,
    book: ConnectionBook,
}

impl Counts {
    pub(super) fn new(limit: usize, book: &ConnectionBook) -> Self {
        Self {
            limit,
            book: book.clone(),
            ..Self::default()
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    #[inline]
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.is_unusual.store(true, Ordering::Release);
    }

    /// An idle connection turned out to have ended.
    pub(super) fn note_stale(&self) {
        self.book.note_stale();
    }

    /// Whether an event that peers can cause is to be logged.
    pub(super) fn admit(&self, event: Recurring) -> Option<u64> {
        self.book.admit(event)
    }

    /// Whether there are more connections than may be kept idle.
    pub(super) fn is_crowded(&self) -> bool {
        self.open.load(Ordering::Relaxed) > self.limit
    }

    #[inline(never)]
    fn update(&self) {
        let unusual = self.is_crowded() || self.is_closed();
        self.is_unusual.store(unusual, Ordering::Release);
    }
}

/// One connection, as long as it is open.
#[derive(Debug)]
pub(crate) struct Counted {
    counts: Arc<Counts>,
    tracked: Tracked,
}

impl Counted {
    pub(super) fn new(counts: &Arc<Counts>, channel: &Channel) -> Self {
        counts.open.fetch_add(1, Ordering::Relaxed);
        counts.made.fetch_add(1, Ordering::Relaxed);
        counts.update();
        let tracked = counts.book.connected(&channel.scheme, &channel.address);
        let conn = tracked.id();
        orbium_trace::log::debug!(target: "orbium::conn", conn, address = %channel, "connected");
        Self {
            counts: Arc::clone(counts),
            tracked,
        }
    }

    /// Its stream, counted if metrics are on.
    pub(super) fn metered(&self, stream: Box<dyn ByteStream>) -> Box<dyn ByteStream> {
        self.tracked.metered(stream)
    }

    /// This side closes it in order.
    #[cold]
    pub(super) fn note_closing(&self) {
        self.note_cause(match self.counts.is_closed() {
            true => Closing::Shutdown,
            false => Closing::Idle,
        });
    }

    /// Records why the connection ends; the first cause counts.
    #[cold]
    pub(super) fn note_cause(&self, cause: Closing) {
        self.tracked.note_closing(cause);
    }
}

impl Drop for Counted {
    #[inline(never)]
    fn drop(&mut self) {
        self.counts.open.fetch_sub(1, Ordering::Relaxed);
        self.counts.update();
    }
}
