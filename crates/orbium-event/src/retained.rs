// SPDX-License-Identifier: MIT OR Apache-2.0
//! The last event of each type and source, for consumers that connect later.

use std::collections::{BTreeMap, HashMap};
use std::time::SystemTime;

use orbium::lock::{Mutex, MutexGuard};

use crate::event::{SharedEvent, system_time, time_t};
use crate::rtec::orbium_event::{Replay as IdlReplay, ReplayStart};

/// Bounds of the last events that a channel retains, one of each type and source. Beyond a bound
/// the oldest are dropped.
///
/// With retention, suppliers push one after the other: a connecting consumer gets each last event
/// before all later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Maximum number of events; 0 by default: none is retained.
    pub events: usize,
    /// Maximum bytes of these events; 16 MiB by default.
    pub bytes: usize,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            events: 0,
            bytes: 16 << 20,
        }
    }
}

/// The position at which a consumer begins among the events from before its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    /// With the last event of each type and source. A channel of this crate has them with a [`Retention`].
    Last,
    /// With the event at this position in the stream, of a persistent channel.
    Sequence(u64),
    /// With the first event that was stored at this time or later, likewise.
    Time(SystemTime),
}

impl Replay {
    /// The position that clients have passed.
    #[must_use]
    pub fn from_idl(replay: IdlReplay) -> Self {
        match replay.start {
            ReplayStart::FromLast => Self::Last,
            ReplayStart::FromSequence => Self::Sequence(replay.from),
            ReplayStart::FromTime => Self::Time(system_time(replay.from)),
        }
    }

    /// The position as clients pass it to a channel.
    #[must_use]
    pub fn to_idl(self) -> IdlReplay {
        let (start, from) = match self {
            Self::Last => (ReplayStart::FromLast, 0),
            Self::Sequence(sequence) => (ReplayStart::FromSequence, sequence),
            Self::Time(time) => (ReplayStart::FromTime, time_t(time)),
        };
        IdlReplay { start, from }
    }
}

/// The last event of each type and source.
pub(crate) struct RetainedEvents {
    limits: Retention,
    last: Mutex<LastEvents>,
}

/// Events in the order of their arrival.
#[derive(Default)]
pub(crate) struct LastEvents {
    in_order: BTreeMap<u64, SharedEvent>,
    by_header: HashMap<(i32, i32), u64>,
    next: u64,
    bytes: usize,
}

impl RetainedEvents {
    pub(crate) fn new(limits: Retention) -> Self {
        Self {
            limits,
            last: Mutex::default(),
        }
    }

    pub(crate) fn is_enabled(&self) -> bool {
        self.limits.events > 0
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, LastEvents> {
        self.last.lock()
    }

    /// Retains a set. While the result lives, no consumer is connected between the set and the
    /// consumers that it is offered to.
    pub(crate) fn add(&self, set: &[SharedEvent]) -> Option<MutexGuard<'_, LastEvents>> {
        if !self.is_enabled() {
            return None;
        }
        let mut last = self.lock();
        for event in set {
            last.add(event, self.limits);
        }
        Some(last)
    }
}

impl LastEvents {
    /// Iterates from the oldest one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &SharedEvent> {
        self.in_order.values()
    }

    fn add(&mut self, event: &SharedEvent, limits: Retention) {
        let header = (event.header.r#type, event.header.source);
        if let Some(before) = self.by_header.insert(header, self.next) {
            self.remove(before);
        }
        self.bytes += event.bytes();
        self.in_order.insert(self.next, event.clone());
        self.next += 1;
        while self.in_order.len() > limits.events || self.bytes > limits.bytes {
            let Some((&oldest, event)) = self.in_order.first_key_value() else {
                return;
            };
            let header = (event.header.r#type, event.header.source);
            self.by_header.remove(&header);
            self.remove(oldest);
        }
    }

    fn remove(&mut self, number: u64) {
        if let Some(event) = self.in_order.remove(&number) {
            self.bytes -= event.bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::new_event;

    fn sources(last: &LastEvents) -> Vec<i32> {
        last.iter().map(|it| it.header.source).collect()
    }

    #[test]
    fn the_last_event_of_each_source_is_retained_within_bounds() {
        let each = SharedEvent::from(new_event(16, 1)).bytes();
        let limits = Retention {
            events: 3,
            bytes: 3 * each,
        };
        let retained = RetainedEvents::new(limits);
        let push = |source, payload: usize| {
            let mut event = new_event(16, source);
            event.data.payload = vec![0; payload];
            retained.add(&[event.into()]);
            sources(&retained.lock())
        };
        assert_eq!(push(1, 0), [1]);
        assert_eq!(push(2, 0), [1, 2]);
        assert_eq!(push(1, 0), [2, 1]);
        assert_eq!(push(3, 0), [2, 1, 3]);
        assert_eq!(push(4, 0), [1, 3, 4]);
        // Two are dropped for it, and it is dropped itself if it is larger than the bound.
        assert_eq!(push(3, 1), [4, 3]);
        assert_eq!(push(5, 3 * each), []);
        assert_eq!(retained.lock().bytes, 0);
        assert!(retained.lock().by_header.is_empty());
    }

    #[test]
    fn nothing_is_retained_by_default() {
        let retained = RetainedEvents::new(Retention::default());
        assert!(retained.add(&[new_event(16, 1).into()]).is_none());
        assert_eq!(sources(&retained.lock()), []);
    }
}
