// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections without received data: the poller never reports those with silent peers.

use std::time::{Duration, Instant};

/// Minimum interval of wake-ups of another thread for newcomers while a thread serves.
const REMINDER: Duration = Duration::from_millis(100);

/// The ids of the newcomers. Each connection has its index here.
#[derive(Default)]
pub(crate) struct Newcomers {
    pub(super) ids: Vec<u64>,
    /// The earliest time at which one of them may be late.
    pub(super) next: Option<Instant>,
    reminded: Option<Instant>,
}

impl Newcomers {
    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Whether another thread should wait with their deadlines, since the calling one is about to
    /// serve.
    pub(crate) fn are_to_be_looked_at(&mut self) -> bool {
        if self.next.is_none() {
            return false;
        }
        let now = Instant::now();
        let due = self
            .reminded
            .is_none_or(|it| now.duration_since(it) >= REMINDER);
        if due {
            self.reminded = Some(now);
        }
        due
    }
}
