// SPDX-License-Identifier: MIT OR Apache-2.0
//! The events of before that a consumer gets.

use std::sync::atomic::{AtomicU64, Ordering};

use async_nats::jetstream::consumer::DeliverPolicy;
use orbium_event::Replay;

/// Until the last event of before is known.
const UNKNOWN: u64 = u64::MAX;

/// How far a consumer has come.
pub(crate) struct Replayed {
    /// The last event of before; 0 if it gets none.
    end: AtomicU64,
    /// The last event of a delivery.
    delivered: AtomicU64,
}

impl Replayed {
    pub(crate) fn new(replays: bool) -> Self {
        Self {
            end: AtomicU64::new(if replays { UNKNOWN } else { 0 }),
            delivered: AtomicU64::new(0),
        }
    }

    /// Whether the last event of before is not known yet.
    pub(crate) fn is_open(&self) -> bool {
        self.end() == UNKNOWN
    }

    /// The last event of before is this one.
    pub(crate) fn end_with(&self, sequence: u64) {
        self.end.store(sequence, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    pub(crate) fn deliver(&self, sequence: u64) {
        self.delivered.fetch_max(sequence, Ordering::Relaxed);
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }
}

/// Where the server begins.
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
