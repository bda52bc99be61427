// SPDX-License-Identifier: MIT OR Apache-2.0
//! Closures as consumers that other processes call.

use std::cell::Cell;
use std::sync::Arc;

use orbium::cdr::{CdrError, CdrReader, Decode};
use orbium::{Call, SystemException};

use crate::delivery::dropped::dropped_events;
use crate::pool::{is_retained, read};
use crate::rtec::rtec_event_comm::{Event, PushConsumerServant};
use crate::supply::receive::Receive;

thread_local! {
    /// Received events of the thread, retained for their memory.
    static SET: Cell<Vec<Event>> = const { Cell::new(Vec::new()) };
}

/// A closure that gets sets of events, and the number of events dropped before each.
pub(super) struct Closure<F>(pub(super) F);

impl<F: Fn(&[Event], u64) + Send + Sync + 'static> PushConsumerServant for Closure<F> {
    fn push(&self, call: &Call<'_>, data: &[Event]) -> Result<(), SystemException> {
        (self.0)(data, dropped_events(call));
        Ok(())
    }

    fn disconnect_push_consumer(&self, call: &Call<'_>) -> Result<(), SystemException> {
        // It may have been deactivated already.
        let _ = call.poa().deactivate(call.object_id());
        Ok(())
    }
}

impl<F: Fn(&[Event], u64) + Send + Sync + 'static> Receive for Arc<Closure<F>> {
    fn receive(&self, events: &mut CdrReader<'_>) -> Result<(), SystemException> {
        self.receive_after(0, events)
    }

    fn receive_after(
        &self,
        dropped: u64,
        events: &mut CdrReader<'_>,
    ) -> Result<(), SystemException> {
        let mut set = SET.take();
        let received = read_set(&mut set, events);
        if let Ok(count) = received {
            (self.0)(&set[..count], dropped);
        }
        if is_retained(&set) {
            SET.set(set);
        }
        received?;
        Ok(())
    }
}

/// Reads a set of events into the first elements of an existing one; returns their number.
fn read_set(set: &mut Vec<Event>, reader: &mut CdrReader<'_>) -> Result<usize, CdrError> {
    let count = reader.read_count(Event::MIN_SIZE)?;
    let present = set.len().min(count);
    for event in &mut set[..present] {
        read(event, reader)?;
    }
    for _ in present..count {
        set.push(Event::decode(reader)?);
    }
    Ok(count)
}
