// SPDX-License-Identifier: MIT OR Apache-2.0
//! Entry of events into a channel: they are read or copied, stamped, and checked.

use std::convert::Infallible;
use std::time::{Instant, SystemTime};

use orbium::SystemException;
use orbium::cdr::{CdrError, CdrReader, Decode};

use super::Engine;
use crate::event::{SharedEvent, time_t};
use crate::pool::{copy, pooled, read, with_set};
use crate::rtec::rtec_event_comm::{Event, EventHeader};
use crate::supply::supplier::Supplier;

impl Engine {
    /// Offers a set of events to every consumer.
    pub(crate) fn publish(&self, supplier: &Supplier, events: &[Event]) {
        if !self.takes_events_of(supplier) {
            return;
        }
        self.received.add(events.len() as u64);
        let (now, time) = (Instant::now(), time_t(SystemTime::now()));
        with_set(|set| {
            for event in events {
                let filled = pooled(|pooled| {
                    copy(event, pooled);
                    self.enter(supplier, &mut pooled.header, time);
                    Ok::<(), Infallible>(())
                });
                let Ok(event) = filled;
                self.permit(supplier, event, set);
            }
            self.deliver(set, now);
        });
    }

    /// Offers an event to every consumer without copying it.
    pub(crate) fn publish_shared(&self, supplier: &Supplier, mut event: SharedEvent) {
        if !self.takes_events_of(supplier) {
            return;
        }
        self.received.add(1);
        let (now, time) = (Instant::now(), time_t(SystemTime::now()));
        if let Some(event) = event.exclusive() {
            self.enter(supplier, &mut event.header, time);
        }
        with_set(|set| {
            self.permit(supplier, event, set);
            self.deliver(set, now);
        });
    }

    /// Reads a set of events, and offers it to every consumer.
    ///
    /// # Errors
    /// MARSHAL: they cannot be read; none is offered.
    pub(crate) fn receive(
        &self,
        supplier: &Supplier,
        events: &mut CdrReader<'_>,
    ) -> Result<(), SystemException> {
        let count = events.read_count(Event::MIN_SIZE)?;
        let (now, time) = (Instant::now(), time_t(SystemTime::now()));
        with_set(|set| {
            for _ in 0..count {
                let event = pooled(|pooled| {
                    read(pooled, events)?;
                    self.enter(supplier, &mut pooled.header, time);
                    Ok::<(), CdrError>(())
                });
                self.permit(supplier, event?, set);
            }
            if self.takes_events_of(supplier) {
                self.received.add(count as u64);
                self.deliver(set, now);
            }
            Ok(())
        })
    }

    /// Stamps the header of an event. An event of a gateway retains the time at which it entered
    /// its first channel, by which duplicates are detected.
    fn enter(&self, supplier: &Supplier, header: &mut EventHeader, time: u64) {
        header.ec_send_time = time;
        if header.ec_recv_time == 0 || !supplier.is_gateway() {
            header.ec_recv_time = self.recent.entry_time(time);
        }
    }

    /// Starts recording events when the first gateway connects.
    pub(crate) fn note_gateway(&self, is_gateway: bool) {
        if is_gateway {
            self.recent.enable();
        }
    }

    fn takes_events_of(&self, supplier: &Supplier) -> bool {
        !self.is_destroyed() && !supplier.is_closed()
    }

    /// Adds an event to those to be delivered, if its supplier may push it.
    fn permit(&self, supplier: &Supplier, event: SharedEvent, set: &mut Vec<SharedEvent>) {
        let (r#type, source) = (event.header.r#type, event.header.source);
        if self.config.strict_publications && !supplier.publishes(r#type, source) {
            self.refused.add(1);
        } else if !self.recent.is_new(&event.header) {
            self.duplicates.add(1);
        } else {
            set.push(event);
        }
    }
}
