// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event channel behind a notification channel: it has the queues of all consumers, and the
//! threads that push to them. It is either private to the notification channel, or a real-time
//! event channel with further consumers and suppliers: events of suppliers of either kind then
//! reach consumers of both.

mod connecting;
mod converting;
mod core_consumer;
mod event_headers;
pub(crate) mod seen;

use std::collections::VecDeque;
use std::sync::Arc;

use orbium::SystemException;
use orbium::lock::Mutex;
use orbium_event::rtec::rtec_event_comm::Event as RtEvent;
use orbium_event::{
    Channel as RtChannel, ChannelConfig, Publication, Publisher, QueueLimits, SharedEvent,
};

use crate::config::NotificationConfig;
use crate::consumer::rules::Rules;
use crate::event::Event;

pub use event_headers::EventHeaders;

/// Maximum number of converted events that are retained for further consumers; and their bytes.
const MAX_CONVERTED: usize = 64;
const MAX_CONVERTED_BYTES: usize = 1 << 20;

/// The event channel behind a channel.
pub(crate) struct CoreChannel {
    channel: RtChannel,
    publisher: Publisher,
    /// Set if it has other consumers and suppliers: the conversion of events.
    front: Option<Front>,
}

/// Conversion of events from and to a real-time event channel.
struct Front {
    headers: EventHeaders,
    converted: Mutex<Converted>,
}

/// The most recently converted events of the real-time channel.
#[derive(Default)]
struct Converted {
    events: VecDeque<(SharedEvent, Arc<Event>)>,
    bytes: usize,
}

impl Converted {
    fn find(&self, event: &SharedEvent) -> Option<Arc<Event>> {
        let mut events = self.events.iter().rev();
        let found = events.find(|(it, _)| it.is(event));
        found.map(|(_, converted)| Arc::clone(converted))
    }

    fn add(&mut self, event: &SharedEvent, converted: &Arc<Event>) {
        self.bytes += converted.bytes;
        let entry = (event.clone(), Arc::clone(converted));
        self.events.push_back(entry);
        while self.events.len() > MAX_CONVERTED || self.bytes > MAX_CONVERTED_BYTES {
            let Some((_, oldest)) = self.events.pop_front() else {
                return;
            };
            self.bytes -= oldest.bytes;
        }
    }
}

impl CoreChannel {
    /// One of a notification channel's own, which counts its proxies itself: with so many consumers of a file of connections, which may
    /// have been made under other limits.
    ///
    /// # Errors
    /// The system cannot start a thread.
    pub(crate) fn own(
        config: &NotificationConfig,
        restored: usize,
    ) -> Result<Self, SystemException> {
        let channel = RtChannel::new(ChannelConfig {
            queue: QueueLimits {
                sets: config.queue_events,
                bytes: config.queue_bytes,
                ..QueueLimits::default()
            },
            failure: config.failure,
            ping_period: None,
            consumers: config.proxies.max(restored),
            observers: 0,
            ..ChannelConfig::default()
        });
        Ok(Self {
            publisher: channel.connect_supplier(&[])?,
            channel,
            front: None,
        })
    }

    /// A real-time event channel, of which the notification channel is a supplier.
    ///
    /// # Errors
    /// The exception for remote suppliers.
    pub(crate) fn in_front_of(
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
            front: Some(Front {
                headers,
                converted: Mutex::default(),
            }),
        })
    }

    /// Queues an event for every consumer with filters that pass it.
    ///
    /// # Errors
    /// It cannot be encoded for consumers of the real-time channel.
    pub(crate) fn publish(&self, event: Event) -> Result<(), SystemException> {
        let envelope = match &self.front {
            Some(front) => front.headers.to_event(&event.structured())?,
            None => RtEvent::default(),
        };
        let bytes = event.bytes;
        let shared = SharedEvent::with_content(envelope, event, bytes);
        self.publisher.push_shared(shared);
        Ok(())
    }

    /// The limits of a consumer's queue by its properties, within the limits of the event channel.
    pub(crate) fn limits(&self, rules: &Rules) -> QueueLimits {
        rules.limits(&self.channel.config().queue)
    }

    /// Ends the event channel, unless it has other consumers and suppliers.
    pub(crate) fn end(&self) {
        if self.front.is_none() {
            self.channel.destroy();
        }
    }
}
