// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers of a channel in front of a real-time event channel, and the events that they get.

use std::sync::Arc;
use std::time::Instant;

use orbium::SystemException;
use orbium_event::rtec::rtec_event_comm::Event as RtEvent;
use orbium_event::{ConsumerOptions, Pattern, SharedEvent};

use crate::channel::Channel;
use crate::consumer::Consumer;
use crate::consumer::sink::Sink;
use crate::event::{Body, Event, Population};
use crate::real_time_front::core_consumer::CoreConsumer;

impl Channel {
    /// Whether a consumer is one of the real-time channel behind this one: it is pushed to, and no pacing divides its events into
    /// batches.
    pub(crate) fn has_core_for(&self, consumer: &Consumer) -> bool {
        let is_paced = consumer.is_sequence && !self.rules(&consumer.level).pacing.is_zero();
        self.real_time.is_some() && !is_paced
    }

    /// Connects a consumer to the real-time channel.
    ///
    /// # Errors
    /// The exception that remote consumers get.
    pub(crate) fn connect_to_core(
        self: &Arc<Self>,
        consumer: &Arc<Consumer>,
        sink: Arc<dyn Sink>,
    ) -> Result<(), SystemException> {
        let Some(real_time) = &self.real_time else {
            return Ok(());
        };
        let rules = self.rules(&consumer.level);
        let core = CoreConsumer::new(self, consumer, sink);
        let core = Arc::new(core);
        let options = ConsumerOptions {
            is_remote: true,
            selection: Some(Arc::clone(&core) as _),
            queue: Some(real_time.limits(&rules)),
            batch: consumer.batch(&rules),
            ..ConsumerOptions::default()
        };
        let (channel, ended) = (Arc::downgrade(self), Arc::downgrade(consumer));
        let on_end = move || {
            if let (Some(channel), Some(consumer)) = (channel.upgrade(), ended.upgrade()) {
                channel.end_consumer(&consumer);
            }
        };
        let channel = &real_time.channel;
        let subscription = channel.subscribe_with(&Pattern::Null, options, core, on_end)?;
        consumer.joins_core(subscription);
        Ok(())
    }

    /// Has the real-time channel, if there is one, deliver to consumers with queues of their own.
    ///
    /// # Errors
    /// The exception that remote consumers get.
    pub(crate) fn serve_own_queues(self: &Arc<Self>) -> Result<(), SystemException> {
        let Some(real_time) = &self.real_time else {
            return Ok(());
        };
        let mut own_queues = real_time.own_queues.lock();
        if own_queues.is_none() {
            let channel = Arc::downgrade(self);
            let sink = move |events: &[SharedEvent]| {
                if let Some(channel) = channel.upgrade() {
                    channel.distribute_all(events);
                }
            };
            *own_queues = Some(real_time.channel.subscribe(&Pattern::Null, sink)?);
        }
        Ok(())
    }

    fn distribute_all(&self, events: &[SharedEvent]) {
        let now = Instant::now();
        for event in events {
            if let Some(event) = self.event_of(event, &self.population, now) {
                // Queues that are full count what they discard, or reject it; the channel goes on.
                let _ = self.distribute(event, now);
            }
        }
    }

    fn event_of(&self, event: &RtEvent, population: &Population, now: Instant) -> Option<Event> {
        let structured = self.real_time.as_ref()?.headers.to_structured(event);
        let body = Body::Structured(structured);
        Some(Event::new(body, &self.level, population, now))
    }

    /// An event of the real-time channel as its consumers behind this one share it.
    pub(super) fn converted(&self, event: &SharedEvent, now: Instant) -> Option<Arc<Event>> {
        let converted = &self.real_time.as_ref()?.converted;
        let found = converted.lock().find(event);
        found.or_else(|| {
            // It waits in queues of the real-time channel, which has bounds of its own.
            let new = self.event_of(event, &Population::default(), now)?;
            let new = Arc::new(new);
            converted.lock().add(event, &new);
            Some(new)
        })
    }
}
