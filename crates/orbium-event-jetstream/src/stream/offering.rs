// SPDX-License-Identifier: MIT OR Apache-2.0
//! The events that a consumer was offered, and has not yet reported on.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::config::JetStreamConfig;
use crate::delivery::delivery_outcome::Outcome;
use crate::stream::set::Received;

/// Called with an event, on which the consumer reports later. It may block for the duration of
/// remote filters.
pub(crate) type Offer = dyn Fn(&Received, Report) + Send + Sync;

/// Reports the outcome of an event. It does not block.
pub(crate) type Report = Box<dyn FnOnce(Outcome) + Send>;

/// A consumer that processes events asynchronously.
pub(crate) struct Offering {
    pub(super) offer: Arc<Offer>,
    /// Offered events without a report, by the position in the stream: not acknowledged, across
    /// failures of the server.
    pub(super) open: BTreeMap<u64, Arc<Received>>,
    /// Bounded by the length of `open`.
    pub(super) reports: UnboundedReceiver<(u64, Outcome)>,
    reporting: UnboundedSender<(u64, Outcome)>,
    /// Maximum number of outstanding events, and their bytes.
    max_events: usize,
    max_bytes: usize,
}

impl Offering {
    pub(crate) fn new(config: &JetStreamConfig, offer: Arc<Offer>) -> Self {
        let (reporting, reports) = unbounded_channel();
        Self {
            offer,
            open: BTreeMap::new(),
            reports,
            reporting,
            max_events: config.window.max(1),
            max_bytes: config.set_bytes,
        }
    }

    /// The number of events that it may be offered: at least one, whatever its size, if none is
    /// outstanding.
    pub(super) fn vacancy(&self) -> usize {
        let bytes: usize = self.messages().map(Received::len).sum();
        if bytes < self.max_bytes || self.open.is_empty() {
            self.max_events.saturating_sub(self.open.len())
        } else {
            0
        }
    }

    pub(super) fn messages(&self) -> impl Iterator<Item = &Received> {
        self.open.values().map(|it| &**it)
    }

    /// Replaces open events by their later deliveries; returns the other ones, to be offered.
    pub(super) fn open_all(&mut self, set: Vec<Received>) -> Vec<Arc<Received>> {
        let mut new = Vec::with_capacity(set.len());
        for received in set {
            let received = Arc::new(received);
            // An acknowledgement of the earlier delivery would acknowledge the event.
            if self
                .open
                .insert(received.sequence, Arc::clone(&received))
                .is_none()
            {
                new.push(received);
            }
        }
        new
    }

    pub(super) fn reports_on(&self, sequence: u64) -> Report {
        let reporting = self.reporting.clone();
        Box::new(move |outcome| {
            // The consumer may not be served any more.
            let _ = reporting.send((sequence, outcome));
        })
    }
}
