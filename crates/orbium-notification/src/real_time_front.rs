// SPDX-License-Identifier: MIT OR Apache-2.0
//! Notification in front of a real-time event channel: what suppliers of either kind push reaches consumers of both. Consumers that
//! are pushed to are consumers of that channel, with its queues and its threads; those that pull have queues of notification.

mod core_consumer;
mod event_headers;
mod served;

use std::collections::VecDeque;
use std::sync::Arc;

use orbium::SystemException;
use orbium::lock::Mutex;
use orbium_event::rtec::rtec_event_comm::Event as RtEvent;
use orbium_event::{
    Channel as RtChannel, Publication, Publisher, QueueLimits, SharedEvent, Subscription,
};

use crate::consumer::queue::Rules;
use crate::event::Event;
use crate::idl::cos_notification::StructuredEvent;

pub use event_headers::EventHeaders;

/// Events that are retained as notification has them, for further consumers; and their bytes.
const MAX_CONVERTED: usize = 64;
const MAX_CONVERTED_BYTES: usize = 1 << 20;

/// The real-time event channel behind a channel.
pub(crate) struct RealTime {
    channel: RtChannel,
    publisher: Publisher,
    headers: EventHeaders,
    converted: Mutex<Converted>,
    /// Delivers to consumers with queues of their own, once there is one.
    own_queues: Mutex<Option<Subscription>>,
}

/// Events of the real-time channel as notification has them: those that were converted last.
#[derive(Default)]
struct Converted {
    events: VecDeque<(SharedEvent, Arc<Event>)>,
    bytes: usize,
}

impl Converted {
    fn find(&self, event: &SharedEvent) -> Option<Arc<Event>> {
        let mut events = self.events.iter().rev();
        let found = events.find(|(it, _)| Arc::ptr_eq(it, event));
        found.map(|(_, converted)| Arc::clone(converted))
    }

    fn add(&mut self, event: &SharedEvent, converted: &Arc<Event>) {
        self.bytes += converted.bytes;
        let entry = (Arc::clone(event), Arc::clone(converted));
        self.events.push_back(entry);
        while self.events.len() > MAX_CONVERTED || self.bytes > MAX_CONVERTED_BYTES {
            let Some((_, oldest)) = self.events.pop_front() else {
                return;
            };
            self.bytes -= oldest.bytes;
        }
    }
}

impl RealTime {
    /// Connects a supplier to the channel.
    ///
    /// # Errors
    /// The exception that remote suppliers get.
    pub(crate) fn connect(
        channel: &RtChannel,
        headers: EventHeaders,
    ) -> Result<Self, SystemException> {
        let published = headers
            .all()
            .map(|(r#type, source)| Publication::of(r#type, source));
        let published: Vec<_> = published.collect();
        Ok(Self {
            channel: channel.clone(),
            publisher: channel.connect_scheduled_supplier(&published)?,
            headers,
            converted: Mutex::default(),
            own_queues: Mutex::default(),
        })
    }

    /// Publishes a structured event in the channel.
    ///
    /// # Errors
    /// It cannot be encoded.
    pub(crate) fn publish(&self, event: &StructuredEvent) -> Result<(), SystemException> {
        let event: RtEvent = self.headers.to_event(event)?;
        self.publisher.push(&[event]);
        Ok(())
    }

    /// What a consumer's queue in the channel has of its properties, within the limits of the channel.
    pub(crate) fn limits(&self, rules: &Rules) -> QueueLimits {
        rules.limits(&self.channel.config().queue)
    }

    /// Ends deliveries to consumers with queues of their own.
    pub(crate) fn end(&self) {
        let subscription = self.own_queues.lock().take();
        drop(subscription);
    }
}
