// SPDX-License-Identifier: MIT OR Apache-2.0
//! Delivery of a journal's events to consumers.

use std::sync::{Arc, Weak};
use std::time::Instant;

use orbium::{ExceptionKind, SystemException};

use crate::channel::Channel;
use crate::consumer::Consumer;
use crate::consumer::offered_events::Waiting;
use crate::event::{Body, Event, Population};
use crate::idl::cos_notification::StructuredEvent;
use crate::journal::{Deliver, Delivered, Offered};

impl Channel {
    /// Delivers the events of the journal to unnamed consumers. Without effect if the channel has
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
        let following = journal.follow(None, Deliver::Push(Box::new(deliver)))?;
        // It is set nowhere else.
        let _ = self.following.set(following);
        Ok(())
    }

    fn distribute_stored(&self, event: StructuredEvent) -> Delivered {
        let now = Instant::now();
        let event = Event::stored(Body::Structured(event), &self.population, now);
        match self.distribute(event) {
            Ok(()) => Delivered::Accepted,
            // The queues are full, and reject new events.
            Err(_) => Delivered::Deferred,
        }
    }

    /// The name of the position in the journal that the channel assigns to a persistent connection,
    /// so that no event is lost while the channel is restarted.
    fn position_of(&self, consumer: &Consumer) -> Option<String> {
        self.journal.as_ref()?;
        let made = self.objects.connections()?.made();
        let has_one = consumer.name().is_none() && consumer.is_persistent();
        has_one.then(|| format!("connection-{made:x}-{}-{}", self.id, consumer.id))
    }

    /// Removes the position that the channel has assigned to a connection.
    pub(crate) fn forget_position(&self, consumer: &Consumer) {
        if let (Some(journal), Some(position)) = (&self.journal, consumer.position.get()) {
            journal.forget_connection(position);
        }
    }

    /// Delivers the events of the journal to a consumer, if it has a position there; false if it
    /// has none.
    ///
    /// # Errors
    /// There is no connection to the journal.
    pub(crate) fn follow(
        self: &Arc<Self>,
        consumer: &Arc<Consumer>,
    ) -> Result<bool, SystemException> {
        let deliver = || self.delivery_to(consumer);
        let no_journal = SystemException::from(ExceptionKind::NoImplement);
        let following = match (consumer.name(), self.position_of(consumer), &self.journal) {
            (Some(name), _, journal) => {
                let journal = journal.as_ref().ok_or(no_journal)?;
                self.end_others_of(name, consumer);
                journal.follow(Some(name), deliver())?
            }
            (None, Some(position), Some(journal)) => {
                let following = journal.follow_connection(&position, deliver())?;
                // It is the same each time that it connects.
                let _ = consumer.position.set(position);
                following
            }
            _ => return Ok(false),
        };
        consumer.follows(following);
        if consumer.has_ended() {
            // Perhaps before it had a position.
            self.forget_position(consumer);
        }
        Ok(true)
    }

    /// The kind of delivery from the journal to a consumer.
    fn delivery_to(self: &Arc<Self>, consumer: &Arc<Consumer>) -> Deliver {
        let (channel, served) = (Arc::downgrade(self), Arc::downgrade(consumer));
        if consumer.kind.is_push() {
            return Deliver::Push(Box::new(move |event| deliver_to(&channel, &served, event)));
        }
        consumer.is_offered_events();
        Deliver::Offer(Box::new(move |offered| {
            if let (Some(channel), Some(consumer)) = (channel.upgrade(), served.upgrade()) {
                channel.offer(&consumer, offered);
            }
        }))
    }

    /// Queues an event for a pull consumer, if its filters pass it.
    fn offer(&self, consumer: &Consumer, offered: Offered) {
        // It is in the journal, and does not count in the channel's memory.
        let body = Body::Structured(offered.event);
        let event = Event::stored(body, &Population::default(), Instant::now());
        match consumer.offered_events().filter(|_| consumer.wants(&event)) {
            Some(events) => events.offer(Waiting {
                event,
                place: offered.place,
                is_repeated: offered.is_repeated,
                report: offered.report,
            }),
            None => (offered.report)(Delivered::Accepted),
        }
    }

    /// Ends the connection of the previous consumer with the name, which another one replaces.
    fn end_others_of(&self, name: &str, consumer: &Consumer) {
        for other in self.consumers().iter() {
            if other.id != consumer.id && other.name() == Some(name) && other.is_connected() {
                self.end_consumer(other);
            }
        }
    }

    fn deliver(&self, consumer: &Consumer, event: StructuredEvent) -> Delivered {
        let now = Instant::now();
        let event = Event::stored(Body::Structured(event), &self.population, now);
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
