// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections over which nothing has come yet: the poller never reports those with
//! silent peers.

use std::time::{Duration, Instant};

/// While a thread serves, another is reminded of newcomers this often at most.
const REMINDER: Duration = Duration::from_millis(100);

/// The numbers of such connections. Each knows its place.
#[derive(Default)]
pub(crate) struct Newcomers {
    pub(super) ids: Vec<u64>,
    /// When one of them may be late, or later.
    pub(super) next: Option<Instant>,
    reminded: Option<Instant>,
}

impl Newcomers {
    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Whether another thread should wait with their deadlines in mind, since the
    /// calling one is about to serve.
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
