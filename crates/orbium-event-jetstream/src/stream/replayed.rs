// SPDX-License-Identifier: MIT OR Apache-2.0
//! The earlier events that a consumer gets.

use std::sync::atomic::{AtomicU64, Ordering};

use async_nats::jetstream::consumer::DeliverPolicy;
use orbium_event::Replay;

/// The last of the earlier events is unknown.
const UNKNOWN: u64 = u64::MAX;

/// The position of a consumer.
#[derive(Debug)]
pub(crate) struct Replayed {
    /// The last of the earlier events; 0 if it gets none.
    end: AtomicU64,
    /// The next position; 0 while it is unknown.
    next: AtomicU64,
}

impl Replayed {
    pub(crate) fn new(replays: bool) -> Self {
        Self {
            end: AtomicU64::new(if replays { UNKNOWN } else { 0 }),
            next: AtomicU64::new(0),
        }
    }

    /// Whether the last of the earlier events is unknown.
    pub(crate) fn is_open(&self) -> bool {
        self.end() == UNKNOWN
    }

    /// Sets the last of the earlier events.
    pub(crate) fn end_with(&self, sequence: u64) {
        self.end.store(sequence, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    /// Continues behind this event.
    pub(crate) fn deliver(&self, sequence: u64) {
        let next = sequence.saturating_add(1);
        self.next.fetch_max(next, Ordering::Relaxed);
    }

    pub(crate) fn next_sequence(&self) -> Option<u64> {
        let next = self.next.load(Ordering::Relaxed);
        (next > 0).then_some(next)
    }
}

/// The position at which the server begins.
pub(crate) fn begin(replay: Replay) -> DeliverPolicy {
    match replay {
        Replay::Last => DeliverPolicy::LastPerSubject,
        Replay::Sequence(sequence) => DeliverPolicy::ByStartSequence {
            start_sequence: sequence.max(1),
        },
        Replay::Time(time) => DeliverPolicy::ByStartTime {
            start_time: time.into(),
        },
    }
}
