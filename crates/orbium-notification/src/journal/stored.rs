// SPDX-License-Identifier: MIT OR Apache-2.0
//! The events of a journal on their way to consumers.

use std::sync::{Arc, Weak};
use std::time::Instant;

use orbium::{ExceptionKind, SystemException};

use crate::channel::Channel;
use crate::consumer::Consumer;
use crate::event::{Body, Event};
use crate::idl::cos_notification::StructuredEvent;
use crate::journal::Delivered;

impl Channel {
    /// Delivers the events of the journal to consumers without names. Without effect if the channel has
    /// no journal.
    ///
    /// # Errors
    /// There is no connection to the journal.
    pub(crate) fn follow_journal(self: &Arc<Self>) -> Result<(), SystemException> {
        let Some(journal) = &self.journal else {
            return Ok(());
        };
        let channel = Arc::downgrade(self);
        let deliver = move |event| match channel.upgrade() {
            Some(channel) => channel.distribute_stored(event),
            None => Delivered::Gone,
        };
        let following = journal.follow(None, Box::new(deliver))?;
        // It is set here alone.
        let _ = self.following.set(following);
        Ok(())
    }

    fn distribute_stored(&self, event: StructuredEvent) -> Delivered {
        let now = Instant::now();
        let event = self.stored(event, now);
        match self.distribute(event) {
            Ok(()) => Delivered::Accepted,
            // The queues are full, and reject new events.
            Err(_) => Delivered::Deferred,
        }
    }

    fn stored(&self, event: StructuredEvent, now: Instant) -> Event {
        let body = Body::Structured(event);
        Event::new(body, &self.level, &self.population, now)
    }

    /// Delivers the events of the journal to a consumer, in place of the one that has the name.
    ///
    /// # Errors
    /// There is no connection to the journal.
    pub(crate) fn follow(
        self: &Arc<Self>,
        consumer: &Arc<Consumer>,
        name: &str,
    ) -> Result<(), SystemException> {
        let no_journal = SystemException::from(ExceptionKind::NoImplement);
        let journal = self.journal.as_ref().ok_or(no_journal)?;
        for other in self.consumers().iter() {
            if other.id != consumer.id && other.name() == Some(name) && other.is_connected() {
                self.end_consumer(other);
            }
        }
        let (channel, served) = (Arc::downgrade(self), Arc::downgrade(consumer));
        let deliver = move |event| deliver_to(&channel, &served, event);
        consumer.follows(journal.follow(Some(name), Box::new(deliver))?);
        Ok(())
    }

    fn deliver(&self, consumer: &Consumer, event: StructuredEvent) -> Delivered {
        let now = Instant::now();
        let event = self.stored(event, now);
        let is_expired = event.expires.is_some_and(|it| it <= now);
        if is_expired || !consumer.wants(&event) {
            return Delivered::Accepted;
        }
        let delivered = consumer.push_stored(&event);
        if delivered == Delivered::Gone {
            tracing::warn!(target: "orbium::notification", consumer = consumer.id, "consumer disconnected: it does not exist");
            self.end_consumer(consumer);
        }
        delivered
    }
}

fn deliver_to(
    channel: &Weak<Channel>,
    consumer: &Weak<Consumer>,
    event: StructuredEvent,
) -> Delivered {
    match (channel.upgrade(), consumer.upgrade()) {
        (Some(channel), Some(consumer)) => channel.deliver(&consumer, event),
        _ => Delivered::Gone,
    }
}
