// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events of the stream that a subscription has collected. An event that a conjunction retains is
//! open: neither delivered nor acknowledged. Without clock, threads and sockets.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::slice;

use orbium_event::{Filter, Pattern, SharedEvent};

/// A message of the stream.
pub(crate) trait Sequenced {
    /// Its position in the stream.
    fn sequence(&self) -> u64;
}

/// The order of offered events: those of the stream by their positions, those of timers behind the
/// event before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    sequence: u64,
    tick: u64,
}

/// An offered event that is part of a future set. Without a message it is a timer's.
struct Offered<T> {
    event: SharedEvent,
    timer: Option<usize>,
    message: Option<T>,
}

/// Events to be pushed together.
pub(crate) struct Ready<T> {
    pub(crate) events: Vec<SharedEvent>,
    /// Their messages. Those of timers have none.
    pub(crate) messages: Vec<T>,
}

/// A subscription and the events of the stream that it has collected.
///
/// The collected events are a function of the open events in the order of the stream: after the
/// failure of a channel these are delivered again, perhaps behind later ones, and are collected as
/// before.
pub(crate) struct Collected<T> {
    pattern: Pattern,
    filter: Filter,
    open: BTreeMap<Position, Offered<T>>,
    last: Position,
    ready: VecDeque<Ready<T>>,
    /// Maximum bytes of the collected events.
    max_bytes: usize,
    /// Messages that were discarded beyond these.
    discarded: Vec<T>,
}

impl<T: Sequenced> Collected<T> {
    /// A subscription without events, which collects so many bytes at most: beyond them all
    /// collected events are discarded.
    pub(crate) fn new(pattern: &Pattern, max_bytes: usize) -> Self {
        Self {
            pattern: pattern.clone(),
            filter: Filter::new(pattern).with_bytes(max_bytes),
            max_bytes,
            discarded: Vec::new(),
            open: BTreeMap::new(),
            last: Position::default(),
            ready: VecDeque::new(),
        }
    }

    /// Offers an event. Returns the messages that are not part of a future set.
    pub(crate) fn offer(&mut self, event: SharedEvent, message: T) -> Vec<T> {
        let sequence = message.sequence();
        let message = match self.replace(message) {
            // An acknowledgement of the earlier delivery would acknowledge the event.
            Ok(_) => return Vec::new(),
            Err(message) => message,
        };
        let offered = Offered {
            event,
            timer: None,
            message: Some(message),
        };
        self.insert(Position { sequence, tick: 0 }, offered)
    }

    /// Offers the event of a timer.
    pub(crate) fn offer_timer(&mut self, timer: usize, event: SharedEvent) -> Vec<T> {
        let position = Position {
            tick: self.last.tick + 1,
            ..self.last
        };
        let offered = Offered {
            event,
            timer: Some(timer),
            message: None,
        };
        self.insert(position, offered)
    }

    /// Replaces an open event by a later delivery of it.
    fn replace(&mut self, message: T) -> Result<T, T> {
        let sequence = message.sequence();
        let open = self.open.get_mut(&Position { sequence, tick: 0 });
        let open = open.and_then(|it| it.message.as_mut());
        let mut ready = self.ready.iter_mut().flat_map(|it| &mut it.messages);
        match open.or_else(|| ready.find(|it| it.sequence() == sequence)) {
            Some(current) => Ok(mem::replace(current, message)),
            None => Err(message),
        }
    }

    fn insert(&mut self, position: Position, offered: Offered<T>) -> Vec<T> {
        let last = self.open.last_key_value();
        let is_late = last.is_some_and(|(last, _)| *last > position);
        self.open.insert(position, offered);
        self.last = self.last.max(position);
        if is_late {
            self.offer_open_again()
        } else {
            self.collect(position)
        }
    }

    fn collect(&mut self, position: Position) -> Vec<T> {
        let Some(offered) = self.open.get(&position) else {
            return Vec::new();
        };
        let mut passed = Vec::new();
        let set = slice::from_ref(&offered.event);
        if self.filter.offer(set, offered.timer, &mut passed) {
            return self.pass(position, passed);
        }
        let mut released = self.release(position);
        if self.filter.take_discarded() > 0 {
            self.discarded.append(&mut released);
        }
        released
    }

    /// Takes the messages that were discarded beyond the maximum bytes since the last call.
    pub(crate) fn take_discarded(&mut self) -> Vec<T> {
        mem::take(&mut self.discarded)
    }

    /// Offers again from the first open event on: an event was delivered again behind later ones.
    fn offer_open_again(&mut self) -> Vec<T> {
        self.filter = Filter::new(&self.pattern).with_bytes(self.max_bytes);
        let positions: Vec<_> = self.open.keys().copied().collect();
        let collected = positions.into_iter().flat_map(|it| self.collect(it));
        collected.collect()
    }

    /// The filter has passed events, and was cleared: open events are part of these, or of no set.
    fn pass(&mut self, position: Position, events: Vec<SharedEvent>) -> Vec<T> {
        let after = Position {
            tick: position.tick + 1,
            ..position
        };
        let later = self.open.split_off(&after);
        let before = mem::replace(&mut self.open, later).into_values();
        let is_part = |it: &Offered<T>| events.iter().any(|event| event.is(&it.event));
        let (parts, others): (Vec<_>, Vec<_>) = before.partition(is_part);
        let messages = parts.into_iter().filter_map(|it| it.message).collect();
        self.ready.push_back(Ready { events, messages });
        others.into_iter().filter_map(|it| it.message).collect()
    }

    /// Removes the events that the filter does not retain.
    fn release(&mut self, position: Position) -> Vec<T> {
        let open = self.open.range(..=position);
        let released = open.filter(|(_, it)| !self.filter.retains(&it.event));
        let released: Vec<_> = released.map(|(position, _)| *position).collect();
        let released = released.iter().filter_map(|it| self.open.remove(it));
        released.filter_map(|it| it.message).collect()
    }

    /// The next set to push.
    pub(crate) fn ready(&self) -> Option<&Ready<T>> {
        self.ready.front()
    }

    /// Removes the set after its push, or if it is not to be pushed any more.
    pub(crate) fn take_ready(&mut self) -> Option<Ready<T>> {
        self.ready.pop_front()
    }

    /// All messages of open events and of sets that are not delivered.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &T> {
        let open = self.open.values().filter_map(|it| it.message.as_ref());
        open.chain(self.ready.iter().flat_map(|it| &it.messages))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use orbium_event::{memory_size, new_event};

    use super::*;

    /// A message: type, position, and number of the delivery.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Stored(i32, u64, u64);

    impl Sequenced for Stored {
        fn sequence(&self) -> u64 {
            self.1
        }
    }

    const NONE: [u64; 0] = [];

    fn offer(collected: &mut Collected<Stored>, stored: Stored) -> Vec<u64> {
        let done = collected.offer(new_event(stored.0, 1).into(), stored);
        done.iter().map(Stored::sequence).collect()
    }

    fn taken(collected: &mut Collected<Stored>) -> Option<Vec<u64>> {
        let ready = collected.take_ready()?;
        Some(ready.messages.iter().map(Stored::sequence).collect())
    }

    fn open(collected: &Collected<Stored>) -> Vec<u64> {
        collected.messages().map(Stored::sequence).collect()
    }

    fn pair() -> Pattern {
        Pattern::Conjunction(vec![Pattern::of(16, 0), Pattern::of(17, 0)])
    }

    #[test]
    fn an_event_of_a_conjunction_is_open_until_the_set_is_taken() {
        let mut collected = Collected::new(&pair(), usize::MAX);
        assert_eq!(offer(&mut collected, Stored(16, 1, 1)), NONE);
        // The first one is retained, and events that the pattern ignores are not.
        assert_eq!(offer(&mut collected, Stored(16, 2, 1)), [2]);
        assert_eq!(offer(&mut collected, Stored(18, 3, 1)), [3]);
        assert_eq!(open(&collected), [1]);
        assert_eq!(offer(&mut collected, Stored(17, 4, 1)), NONE);
        assert_eq!(open(&collected), [1, 4]);
        assert_eq!(taken(&mut collected), Some(vec![1, 4]));
        assert_eq!(open(&collected), NONE);
    }

    #[test]
    fn an_open_event_that_is_delivered_again_is_the_same_one() {
        let mut collected = Collected::new(&pair(), usize::MAX);
        offer(&mut collected, Stored(16, 1, 1));
        assert_eq!(offer(&mut collected, Stored(16, 1, 2)), NONE);
        offer(&mut collected, Stored(17, 2, 1));
        // Part of a set that is ready, too.
        assert_eq!(offer(&mut collected, Stored(17, 2, 2)), NONE);
        let messages = collected.take_ready().unwrap().messages;
        assert_eq!(messages, [Stored(16, 1, 2), Stored(17, 2, 2)]);
        assert!(collected.ready().is_none());
    }

    #[test]
    fn events_count_in_the_order_of_the_stream() {
        let mut collected = Collected::new(&pair(), usize::MAX);
        // Events of another channel, which has failed, are delivered after its time-out.
        offer(&mut collected, Stored(16, 5, 1));
        assert_eq!(offer(&mut collected, Stored(16, 1, 2)), [5]);
        offer(&mut collected, Stored(17, 6, 1));
        assert_eq!(taken(&mut collected), Some(vec![1, 6]));

        let triple = vec![Pattern::of(16, 0), Pattern::of(17, 0), Pattern::of(18, 0)];
        let mut collected = Collected::new(&Pattern::Conjunction(triple), usize::MAX);
        for (r#type, sequence) in [(16, 5), (17, 6), (16, 1), (17, 2)] {
            offer(&mut collected, Stored(r#type, sequence, 1));
        }
        assert_eq!(open(&collected), [1, 2]);
    }

    #[test]
    fn a_delivery_forgets_what_another_branch_has_collected() {
        let either = Pattern::Disjunction(vec![pair(), Pattern::of(18, 0)]);
        let mut collected = Collected::new(&either, usize::MAX);
        offer(&mut collected, Stored(16, 1, 1));
        assert_eq!(offer(&mut collected, Stored(18, 2, 1)), [1]);
        assert_eq!(taken(&mut collected), Some(vec![2]));
        offer(&mut collected, Stored(17, 3, 1));
        assert_eq!(open(&collected), [3]);
    }

    #[test]
    fn an_event_of_a_timer_is_part_of_a_set_and_has_no_message() {
        let sampled = vec![
            Pattern::of(16, 0),
            Pattern::Interval(Duration::from_secs(1)),
        ];
        let mut collected = Collected::new(&Pattern::Conjunction(sampled), usize::MAX);
        assert!(collected.offer_timer(0, new_event(5, 0).into()).is_empty());
        // Collected again, with the timer's event behind the first one of the stream.
        offer(&mut collected, Stored(17, 9, 1));
        offer(&mut collected, Stored(16, 4, 1));
        let ready = collected.take_ready().unwrap();
        assert_eq!((ready.events.len(), ready.messages.len()), (2, 1));
    }

    /// Regression: it collected events of any size, one for each element of the pattern.
    #[test]
    fn events_of_conjunctions_beyond_the_maximum_bytes_are_discarded() {
        let types = [16, 17, 18];
        let each = types.map(|it| Pattern::of(it, 0)).to_vec();
        let size = memory_size(&new_event(16, 1));
        let mut collected = Collected::new(&Pattern::Conjunction(each), size + size / 2);
        assert_eq!(offer(&mut collected, Stored(16, 1, 1)), NONE);
        assert!(collected.take_discarded().is_empty());
        assert_eq!(offer(&mut collected, Stored(17, 2, 1)), NONE);
        let discarded = [Stored(16, 1, 1), Stored(17, 2, 1)];
        assert_eq!(collected.take_discarded(), discarded);
        assert_eq!(open(&collected), NONE);
        // The same in the order of the stream.
        offer(&mut collected, Stored(18, 9, 1));
        assert_eq!(offer(&mut collected, Stored(16, 3, 1)), NONE);
        assert_eq!(
            collected.take_discarded(),
            [Stored(16, 3, 1), Stored(18, 9, 1)]
        );
    }
}
