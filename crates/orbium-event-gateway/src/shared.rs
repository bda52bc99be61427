// SPDX-License-Identifier: MIT OR Apache-2.0
//! State shared by the threads of a gateway: queued events, and the subscriptions of the other
//! channel.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use orbium::lock::{Condvar, Mutex, MutexGuard};
use orbium_event::memory_size;
use orbium_event::rtec::rtec_event_comm::Event;

use crate::gateway_config::GatewayStatistics;

/// Types and sources.
pub(crate) type Headers = BTreeSet<(i32, i32)>;

/// The next task of the gateway's thread.
#[derive(Debug, PartialEq)]
pub(crate) enum Task {
    /// Forward these.
    Push(Vec<Event>),
    /// Subscribe to these, in place of the present subscription.
    Subscribe(Headers),
    /// Check whether both ends are reachable.
    Check,
    /// End.
    End,
}

pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Sets that may wait, and their bytes.
    queue: (usize, usize),
    uses_ttl: bool,
}

#[derive(Default)]
struct State {
    sets: VecDeque<Waiting>,
    /// Bytes of the sets.
    bytes: usize,
    wanted: Option<Headers>,
    has_ended: bool,
    counts: GatewayStatistics,
}

/// A set that waits.
struct Waiting {
    events: Vec<Event>,
    bytes: usize,
}

impl State {
    fn take(&mut self) -> Option<Vec<Event>> {
        let set = self.sets.pop_front()?;
        self.bytes -= set.bytes;
        Some(set.events)
    }
}

impl Shared {
    pub(crate) fn new((sets, bytes): (usize, usize), uses_ttl: bool) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            queue: (sets.max(1), bytes),
            uses_ttl,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Queues a set of events to be forwarded.
    pub(crate) fn offer(&self, events: &[Event]) {
        let is_alive = |event: &&Event| !self.uses_ttl || event.header.ttl > 0;
        let mut set: Vec<Event> = events.iter().filter(is_alive).cloned().collect();
        for event in &mut set {
            event.header.ttl -= i32::from(self.uses_ttl);
        }
        let mut state = self.lock();
        state.counts.expired += (events.len() - set.len()) as u64;
        if set.is_empty() {
            return;
        }
        if !state.counts.is_connected {
            state.counts.lost += set.len() as u64;
            return;
        }
        let bytes = set.iter().map(memory_size).sum();
        let (most, most_bytes) = self.queue;
        while state.sets.len() >= most || state.bytes.saturating_add(bytes) > most_bytes {
            // A larger set waits alone.
            let Some(oldest) = state.take() else { break };
            state.counts.lost += oldest.len() as u64;
        }
        state.bytes += bytes;
        state.sets.push_back(Waiting { events: set, bytes });
        self.changed.notify_all();
    }

    /// Records the subscriptions of the other channel.
    pub(crate) fn want(&self, headers: Headers) {
        self.lock().wanted = Some(headers);
        self.changed.notify_all();
    }

    /// Waits for the next task; [`Task::Check`] at `check_at` at the latest.
    pub(crate) fn next(&self, check_at: Instant) -> Task {
        let mut state = self.lock();
        loop {
            if state.has_ended {
                return Task::End;
            }
            if let Some(headers) = state.wanted.take() {
                return Task::Subscribe(headers);
            }
            let left = check_at.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Task::Check;
            }
            if let Some(set) = state.take() {
                return Task::Push(set);
            }
            state = self.changed.wait_timeout(state, left).0;
        }
    }

    /// Records the outcome of a push of so many events.
    pub(crate) fn pushed(&self, events: usize, is_forwarded: bool) {
        let counts = &mut self.lock().counts;
        if is_forwarded {
            counts.forwarded += events as u64;
        } else {
            counts.lost += events as u64;
        }
    }

    /// Records events of the own channel that were received from a group.
    pub(crate) fn left_out(&self, events: usize) {
        self.lock().counts.own += events as u64;
    }

    /// Records sets of a group's sender that have not arrived.
    pub(crate) fn missing(&self, sets: u64) {
        let counts = &mut self.lock().counts;
        counts.missing = counts.missing.saturating_add(sets);
    }

    /// Records a set that was missing.
    pub(crate) fn late_arrival(&self) {
        let counts = &mut self.lock().counts;
        counts.missing = counts.missing.saturating_sub(1);
    }

    pub(crate) fn connected(&self) {
        let counts = &mut self.lock().counts;
        counts.is_connected = true;
        counts.connections += 1;
    }

    /// Discards the waiting events; from now on events are lost.
    pub(crate) fn disconnected(&self) {
        let mut state = self.lock();
        state.counts.is_connected = false;
        while let Some(set) = state.take() {
            state.counts.lost += set.len() as u64;
        }
        state.wanted = None;
    }

    /// Waits so long; false if the gateway ends.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        let state = self.lock();
        let going_on = |state: &mut State| !state.has_ended;
        going_on(&mut self.changed.wait_timeout_while(state, time, going_on))
    }

    pub(crate) fn end(&self) {
        self.lock().has_ended = true;
        self.changed.notify_all();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.lock().has_ended
    }

    pub(crate) fn statistics(&self) -> GatewayStatistics {
        self.lock().counts
    }
}

#[cfg(test)]
mod tests {
    use orbium::{Any, TypeCode};
    use orbium_event::new_event;

    use super::*;

    const MANY: usize = 1 << 20;

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn the_time_to_live_counts_gateways() {
        let shared = Shared::new((8, MANY), true);
        shared.connected();
        let mut last = new_event(16, 1);
        last.header.ttl = 0;
        shared.offer(&[new_event(16, 2), last]);
        let Task::Push(set) = shared.next(later()) else {
            panic!("a set of events");
        };
        assert_eq!(
            (set.len(), set[0].header.source, set[0].header.ttl),
            (1, 2, 0)
        );
        assert_eq!(shared.statistics().expired, 1);
    }

    /// A thousand sets of any size waited.
    #[test]
    fn bytes_of_events_that_wait_are_bounded() {
        let shared = Shared::new((8, 3000), false);
        shared.connected();
        let event = |source, bytes| {
            let mut event = new_event(16, source);
            event.data.payload = vec![0; bytes];
            event
        };
        for source in 1..5 {
            shared.offer(&[event(source, 1000)]);
        }
        assert_eq!(shared.statistics().lost, 2);
        // One that is larger is alone.
        shared.offer(&[event(5, 5000)]);
        assert_eq!(shared.statistics().lost, 4);
        let Task::Push(set) = shared.next(later()) else {
            panic!("a set of events");
        };
        assert_eq!(set[0].header.source, 5);
        shared.offer(&[event(6, 1000)]);
        shared.offer(&[event(7, 1000)]);
        assert_eq!(shared.statistics().lost, 4);
    }

    /// A peer's type with a name of 16 MiB counted as nothing.
    #[test]
    fn bytes_of_an_event_contain_the_type_of_its_any() {
        let name = "x".repeat(1 << 20);
        let code = TypeCode::structure("IDL:S:1.0", &name, []);
        let mut event = new_event(16, 1);
        event.data.any_value = Any::with_type(code, &()).unwrap();
        assert!(memory_size(&event) >= name.len());
    }

    #[test]
    fn events_that_cannot_be_forwarded_are_bounded_and_counted() {
        let shared = Shared::new((2, MANY), false);
        shared.offer(&[new_event(16, 1)]);
        shared.connected();
        for source in 2..6 {
            shared.offer(&[new_event(16, source)]);
        }
        assert_eq!(shared.statistics().lost, 3);
        let Task::Push(set) = shared.next(later()) else {
            panic!("a set of events");
        };
        assert_eq!(set[0].header.source, 4);
        shared.disconnected();
        assert_eq!(shared.statistics().lost, 4);
        assert_eq!(shared.next(Instant::now()), Task::Check);
        shared.end();
        assert_eq!(shared.next(later()), Task::End);
        assert!(!shared.pause(Duration::from_secs(60)));
    }
}
