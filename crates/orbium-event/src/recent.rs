// SPDX-License-Identifier: MIT OR Apache-2.0
//! The events that a channel has received recently, to detect duplicates of gateways.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use orbium::lock::Mutex;

use crate::rtec::rtec_event_comm::EventHeader;

/// Maximum number of recorded events.
const MAX_EVENTS: usize = 8192;

/// Type, source, creation time and time of entry into the first channel, which is unique there.
type EventId = (i32, i32, u64, u64);

/// Times of entry, and the recorded events once the channel has a gateway.
#[derive(Default)]
pub(crate) struct RecentEvents {
    last_entry: AtomicU64,
    is_enabled: AtomicBool,
    ids: Mutex<EventIds>,
}

#[derive(Default)]
struct EventIds {
    known: HashSet<EventId>,
    in_order: VecDeque<EventId>,
}

impl RecentEvents {
    /// Starts recording events.
    pub(crate) fn enable(&self) {
        self.is_enabled.store(true, Ordering::Release);
    }

    /// A time of entry, not before `now`, that no other event of this channel has.
    pub(crate) fn entry_time(&self, now: u64) -> u64 {
        let after = |last: u64| now.max(last.saturating_add(1));
        let updated = self
            .last_entry
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| {
                Some(after(last))
            });
        updated.map_or(now, after)
    }

    /// Whether an event is received for the first time; true if events are not recorded.
    pub(crate) fn is_new(&self, header: &EventHeader) -> bool {
        if !self.is_enabled.load(Ordering::Acquire) {
            return true;
        }
        let id = (
            header.r#type,
            header.source,
            header.creation_time,
            header.ec_recv_time,
        );
        let mut ids = self.ids.lock();
        ids.insert(id)
    }
}

impl EventIds {
    fn insert(&mut self, id: EventId) -> bool {
        let is_new = self.known.insert(id);
        if is_new {
            if self.in_order.len() >= MAX_EVENTS
                && let Some(oldest) = self.in_order.pop_front()
            {
                self.known.remove(&oldest);
            }
            self.in_order.push_back(id);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entered(at: u64) -> EventHeader {
        EventHeader {
            r#type: 16,
            ec_recv_time: at,
            ..EventHeader::default()
        }
    }

    #[test]
    fn times_of_entry_are_unique_and_grow() {
        let recent = RecentEvents::default();
        let times = [7, 7, 5, 20].map(|now| recent.entry_time(now));
        assert_eq!(times, [7, 8, 9, 20]);
    }

    #[test]
    fn the_events_before_are_remembered_up_to_a_bound() {
        let recent = RecentEvents::default();
        assert!(recent.is_new(&entered(1)) && recent.is_new(&entered(1)));
        recent.enable();
        assert!(recent.is_new(&entered(1)));
        assert!(!recent.is_new(&entered(1)));
        for time in 2..10_000 {
            assert!(recent.is_new(&entered(time)));
        }
        assert!(recent.is_new(&entered(1)));
        assert_eq!(recent.ids.lock().known.len(), MAX_EVENTS);
    }
}
