// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reuse of the memory of events that no consumer holds any more: in steady state an event
//! allocates no memory.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use orbium::cdr::{CdrError, CdrReader, Decode};
use orbium::{Any, cdr::TCKind};

use crate::event::SharedEvent;
use crate::rtec::rtec_event_comm::Event;

/// Maximum number of events that a thread retains.
const MAX_EVENTS: usize = 256;
/// Maximum bytes of the payload of a retained event.
const MAX_PAYLOAD: usize = 4096;
/// Maximum bytes of a set of events that a thread retains.
const MAX_SET: usize = 64 << 10;
/// Maximum capacity of a list of events that is retained for the next ones.
pub(crate) const MAX_RETAINED: usize = 1024;

thread_local! {
    static EVENTS: RefCell<EventPool> = RefCell::default();
    static SET: Cell<Vec<SharedEvent>> = const { Cell::new(Vec::new()) };
    static COPIES: Cell<Vec<Event>> = const { Cell::new(Vec::new()) };
}

/// Fills an event of this thread's pool.
///
/// # Errors
/// The errors of `fill`.
pub(crate) fn pooled<E>(fill: impl FnOnce(&mut Event) -> Result<(), E>) -> Result<SharedEvent, E> {
    EVENTS.with_borrow_mut(|events| events.fill(fill))
}

/// Runs `body` with an empty list of events that retains its memory from one run to the next.
pub(crate) fn with_set<T>(body: impl FnOnce(&mut Vec<SharedEvent>) -> T) -> T {
    // A called consumer may itself publish: the inner run begins with a new list.
    let mut set = SET.take();
    let value = body(&mut set);
    set.clear();
    set.shrink_to(MAX_RETAINED);
    SET.set(set);
    value
}

/// Runs `body` with copies of the events, in memory that this thread has used for others.
pub(crate) fn with_copies<T>(events: &[SharedEvent], body: impl FnOnce(&[Event]) -> T) -> T {
    let mut set = COPIES.take();
    if set.len() < events.len() {
        set.resize_with(events.len(), Event::default);
    }
    for (event, place) in events.iter().zip(&mut set) {
        copy(event, place);
    }
    let value = body(&set[..events.len()]);
    if is_retained(&set) {
        COPIES.set(set);
    }
    value
}

/// Whether the memory of a set of events is retained for the next set.
pub(crate) fn is_retained(set: &[Event]) -> bool {
    let bytes = |it: &Event| size_of::<Event>() + it.data.payload.capacity();
    set.iter().map(bytes).sum::<usize>() <= MAX_SET && set.iter().all(has_no_any)
}

/// Events in the order of their last use, each of which consumers may still hold.
#[derive(Default)]
struct EventPool(VecDeque<SharedEvent>);

impl EventPool {
    fn fill<E>(
        &mut self,
        fill: impl FnOnce(&mut Event) -> Result<(), E>,
    ) -> Result<SharedEvent, E> {
        let mut event = self.take_unused().unwrap_or_default();
        if let Some(event) = event.exclusive() {
            fill(event)?;
        }
        let is_retained = event.data.payload.capacity() <= MAX_PAYLOAD && has_no_any(&event);
        if is_retained && self.0.len() < MAX_EVENTS {
            self.0.push_back(event.clone());
        }
        Ok(event)
    }

    /// Takes the least recently used event, if no consumer holds it.
    fn take_unused(&mut self) -> Option<SharedEvent> {
        let mut event = self.0.pop_front()?;
        if event.exclusive().is_some() {
            return Some(event);
        }
        self.0.push_back(event);
        None
    }
}

/// An any may contain references, which keep their ORB alive.
fn has_no_any(event: &Event) -> bool {
    event.data.any_value.type_code().kind() == TCKind::Null
}

/// Copies an event into existing memory.
pub(crate) fn copy(from: &Event, to: &mut Event) {
    to.header.clone_from(&from.header);
    to.data.pad1 = from.data.pad1;
    to.data.payload.clone_from(&from.data.payload);
    to.data.any_value.clone_from(&from.data.any_value);
}

/// Reads an event into existing memory.
///
/// # Errors
/// [`CdrError`]: the bytes are not an event; `event` is unspecified then.
pub(crate) fn read(event: &mut Event, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
    event.header.decode_into(reader)?;
    event.data.pad1.decode_into(reader)?;
    event.data.payload.decode_into(reader)?;
    reader.align(4)?;
    let is_null = reader
        .ahead()
        .starts_with(&(TCKind::Null as u32).to_ne_bytes());
    if !is_null {
        return event.data.any_value.decode_into(reader);
    }
    reader.read_u32()?;
    if !has_no_any(event) {
        event.data.any_value = Any::default();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::new_event;

    fn fill(pool: &mut EventPool, bytes: usize) -> SharedEvent {
        let filled = pool.fill(|event| {
            event.data.payload.resize(bytes, 7);
            Ok::<(), CdrError>(())
        });
        filled.unwrap()
    }

    #[test]
    fn an_unreferenced_event_is_used_again() {
        let mut pool = EventPool::default();
        let first = fill(&mut pool, 64);
        let payload = first.data.payload.as_ptr();
        let second = fill(&mut pool, 64);
        assert_ne!(second.data.payload.as_ptr(), payload);
        drop(first);
        assert_eq!(fill(&mut pool, 32).data.payload.as_ptr(), payload);
        drop(second);
    }

    #[test]
    fn an_event_that_a_consumer_keeps_stays_as_it_is() {
        let mut pool = EventPool::default();
        let kept = fill(&mut pool, 8);
        for _ in 0..2 * MAX_EVENTS {
            fill(&mut pool, 16);
        }
        assert_eq!(kept.data.payload, [7; 8]);
        assert!(pool.0.len() <= MAX_EVENTS);
    }

    /// The thread would keep the ORB of a reference within an any alive, and the memory of its
    /// largest sets.
    #[test]
    fn sets_of_little_memory_without_anys_are_retained() {
        let mut event = new_event(16, 1);
        event.data.payload = vec![7; 64];
        assert!(is_retained(&[event.clone(), event.clone()]));
        let mut grown = event.clone();
        grown.data.payload.reserve(MAX_SET);
        assert!(!is_retained(&[event.clone(), grown]));
        event.data.any_value = Any::new(&7i32).unwrap();
        assert!(!is_retained(&[event]));
    }

    /// Regression: the memory of the largest set was retained by its thread.
    #[test]
    fn the_list_of_a_large_set_is_not_retained() {
        with_set(|set| set.reserve(100 * MAX_RETAINED));
        assert!(with_set(|set| set.capacity()) <= MAX_RETAINED);
    }

    #[test]
    fn copies_are_of_these_events_alone() {
        let of = |number: u8| {
            let mut event = new_event(16, 1);
            event.data.payload = vec![number; 8];
            SharedEvent::from(event)
        };
        let numbers = |set: &[Event]| set.iter().map(|it| it.data.payload[0]).collect::<Vec<_>>();
        let three = with_copies(&[of(1), of(2), of(3)], numbers);
        // In memory that is larger than needed.
        let two = with_copies(&[of(4), of(5)], numbers);
        assert_eq!((three, two), (vec![1, 2, 3], vec![4, 5]));
    }

    #[test]
    fn large_events_and_those_with_an_any_are_not_retained() {
        let mut pool = EventPool::default();
        fill(&mut pool, MAX_PAYLOAD + 1);
        assert!(pool.0.is_empty());
        let mut given = new_event(16, 1);
        given.data.any_value = Any::new(&7i32).unwrap();
        let filled = pool.fill(|event| {
            copy(&given, event);
            Ok::<(), CdrError>(())
        });
        assert_eq!(*filled.unwrap(), given);
        assert!(pool.0.is_empty());
    }
}
