// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stream as the journal of a notification channel.

use std::sync::Arc;

use orbium::{Completion, SystemException};
use orbium_notification::idl::cos_notification::StructuredEvent;
use orbium_notification::{Deliver, Delivered, Following, Journal, Offered, property};

use crate::config::{JetStreamConfig, is_name};
use crate::counts::StreamStatistics;
use crate::delivery::delivery_outcome::Outcome;
use crate::error::JetStreamError;
use crate::stream::Stream;
use crate::stream::follow::{Deliver as DeliverTo, follow};
use crate::stream::message::{EVENT_ID, ID_HEADER, Message, event_of, subjects};
use crate::stream::offering::{Offering, Report};
use crate::stream::server_consumer::{Subscription, forget};
use crate::stream::set::Received;

/// The field of a structured event's variable header with the position of the event in the stream.
const SEQUENCE: &str = "StreamSequence";
/// The field with the number of the delivery, from 1.
const DELIVERY: &str = "DeliveryNumber";

/// A stream of NATS JetStream as the journal of a notification channel.
///
/// `push_structured_event`, and every other push into the channel, returns when the stream has
/// acknowledged the event. Consumers get three further fields in the variable header: `EventId` (a
/// string), `StreamSequence` and `DeliveryNumber` (`unsigned long long`), by which they detect
/// duplicates. A supplier that sets `EventId` itself may push an event twice: within
/// [`duplicate_window`](JetStreamConfig::duplicate_window) it is stored once.
///
/// ```no_run
/// use std::sync::Arc;
/// use orbium::Orb;
/// use orbium_event_jetstream::{JetStreamConfig, StreamJournal};
/// use orbium_notification::{NotificationConfig, NotificationService};
///
/// let orb = Orb::builder().endpoint("iiop://localhost:5030")?.build()?;
/// let journal = StreamJournal::open(JetStreamConfig::new("nats://127.0.0.1:4222", "ALARMS"))?;
/// let config = NotificationConfig::default();
/// let service = NotificationService::serve_stored(&orb, "Alarms", config, Arc::new(journal))?;
/// # drop(service);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StreamJournal {
    stream: Arc<Stream>,
}

impl StreamJournal {
    /// Connects to the stream, and creates it if it does not exist.
    ///
    /// # Errors
    /// [`JetStreamError`]: the server cannot be reached within
    /// [`connect_timeout`](JetStreamConfig::connect_timeout), or refuses the stream.
    pub fn open(config: JetStreamConfig) -> Result<Self, JetStreamError> {
        Ok(Self {
            stream: Arc::new(Stream::open(config)?),
        })
    }

    /// The counts of the journal.
    #[must_use]
    pub fn statistics(&self) -> StreamStatistics {
        self.stream.statistics()
    }
}

impl std::fmt::Debug for StreamJournal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamJournal")
            .field("stream", &self.stream.config.stream)
            .field("statistics", &self.statistics())
            .finish()
    }
}

impl Journal for StreamJournal {
    fn store(&self, event: &StructuredEvent) -> Result<(), SystemException> {
        let stream = &self.stream;
        let message = Message::of_structured(&stream.config.stream, event, &stream.entry());
        let message = message.map_err(|error| SystemException::from_cdr(error, Completion::No))?;
        match stream.publish(vec![message]) {
            Ok(()) => Ok(()),
            Err(error) => {
                stream.counts.refused(1);
                tracing::warn!(target: "orbium::notification", %error, "an event was not stored");
                Err(error.into())
            }
        }
    }

    fn is_name(&self, name: &str) -> bool {
        is_name(name)
    }

    fn follow(&self, name: Option<&str>, deliver: Deliver) -> Result<Following, SystemException> {
        self.follow_from(name, false, deliver)
    }

    fn follow_connection(
        &self,
        name: &str,
        deliver: Deliver,
    ) -> Result<Following, SystemException> {
        self.follow_from(Some(name), true, deliver)
    }

    fn forget_connection(&self, name: &str) {
        if let Err(error) = forget(&self.stream, name) {
            tracing::warn!(target: "orbium::notification", name, %error, "the position of a connection that has ended stays");
        }
    }
}

impl StreamJournal {
    /// Delivers events; for a new name from now on, or all stored ones.
    fn follow_from(
        &self,
        name: Option<&str>,
        is_connection: bool,
        deliver: Deliver,
    ) -> Result<Following, SystemException> {
        let subscription = Subscription {
            name,
            subjects: subjects(&self.stream.config.stream),
            open: 0,
            replay: None,
            replayed: None,
            is_connection,
        };
        let gone = Box::new(|| {});
        let deliver = match deliver {
            Deliver::Push(push) => self.pushes(push),
            Deliver::Offer(offer) => self.offers(offer),
        };
        let following = follow(&self.stream, subscription, deliver, gone)?;
        Ok(Box::new(following))
    }

    /// Consumers of structured events get them one by one, up to one that fails.
    fn pushes(&self, push: Box<dyn Fn(StructuredEvent) -> Delivered + Send + Sync>) -> DeliverTo {
        let stream = Arc::clone(&self.stream);
        let deliver = move |set: &[Received]| {
            let mut outcomes = Vec::with_capacity(set.len());
            for received in set {
                let outcome = match event(received) {
                    Ok(event) => outcome(push(event)),
                    Err(why) => unreadable(&stream, received, why),
                };
                outcomes.push(outcome);
                if outcomes.last() != Some(&Outcome::Delivered) {
                    break;
                }
            }
            outcomes
        };
        DeliverTo::Sets(Arc::new(deliver))
    }

    fn offers(&self, offer: Box<dyn Fn(Offered) + Send + Sync>) -> DeliverTo {
        let stream = Arc::clone(&self.stream);
        let deliver = move |received: &Received, report: Report| match event(received) {
            Ok(event) => offer(Offered {
                event,
                place: received.sequence,
                is_repeated: received.is_repeated(),
                report: Box::new(|delivered| report(outcome(delivered))),
            }),
            Err(why) => report(unreadable(&stream, received, why)),
        };
        let offering = Offering::new(&self.stream.config, Arc::new(deliver));
        DeliverTo::Offered(Box::new(offering))
    }
}

fn unreadable(stream: &Stream, received: &Received, why: String) -> Outcome {
    stream.counts.unreadable();
    tracing::warn!(target: "orbium::notification", sequence = received.sequence, why, "a message of the stream is no event");
    Outcome::Refused(why)
}

fn outcome(delivered: Delivered) -> Outcome {
    match delivered {
        Delivered::Accepted => Outcome::Delivered,
        Delivered::Deferred => Outcome::Deferred,
        Delivered::Refused(exception) => Outcome::Refused(exception.to_string()),
        Delivered::Failed(exception) => Outcome::Failed(exception.to_string()),
        Delivered::Singly => Outcome::Singly,
        Delivered::Gone => Outcome::Gone,
    }
}

/// The event of a message, with the fields by which consumers detect duplicates.
fn event(received: &Received) -> Result<StructuredEvent, String> {
    let message = &received.message;
    let headers = message.headers.as_ref();
    let event = event_of(headers, &message.payload);
    let mut event: StructuredEvent = event.map_err(|error| error.to_string())?;
    let fields = &mut event.header.variable_header;
    if !fields.iter().any(|it| it.name == EVENT_ID) {
        let id = headers.and_then(|it| it.get(ID_HEADER));
        fields.push(property(EVENT_ID, id.map_or("", |it| it.as_str())));
    }
    fields.retain(|it| it.name != SEQUENCE && it.name != DELIVERY);
    fields.push(property(SEQUENCE, received.sequence));
    fields.push(property(DELIVERY, received.delivery));
    Ok(event)
}
