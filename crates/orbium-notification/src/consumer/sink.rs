// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers behind references.

use std::borrow::Cow;
use std::iter::{once, repeat};
use std::sync::Arc;
use std::time::Duration;

use orbium::giop::service_context::ORBIUM_EVENTS_DROPPED;
use orbium::{Interface, ObjectRef, SystemException};
use orbium_event::{DeliveryError, delivery_failure, ping_object};

use crate::core_channel::seen::Seen;
use crate::event::{Event, property};
use crate::idl::cos_event_comm::{self as cos, DisconnectedError as CosError};
use crate::idl::cos_notification::StructuredEvent;
use crate::idl::cos_notify_channel_admin::ProxyType;
use crate::idl::cos_notify_comm::{self as notify, DisconnectedError as NotifyError};
use crate::journal::Delivered;

/// The exception of a consumer's push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PushError {
    Disconnected,
    System(SystemException),
}

impl From<PushError> for DeliveryError {
    fn from(error: PushError) -> Self {
        match error {
            PushError::Disconnected => Self::Gone,
            PushError::System(exception) => delivery_failure(&exception),
        }
    }
}

impl From<PushError> for Delivered {
    fn from(error: PushError) -> Self {
        let PushError::System(exception) = error else {
            return Self::Gone;
        };
        match delivery_failure(&exception) {
            DeliveryError::Gone => Self::Gone,
            DeliveryError::Unreachable => Self::Deferred,
            DeliveryError::Refused => Self::Refused(exception),
            DeliveryError::Failed => Self::Failed(exception),
        }
    }
}

/// A push consumer. Every method returns in bounded time, and is called without a lock.
pub(crate) trait Sink: Send + Sync + 'static {
    /// Delivers events, with the number of events dropped since the last push.
    fn push(&self, dropped: u64, events: &[Seen<'_>]) -> Result<(), PushError>;

    /// Checks whether the consumer exists.
    fn ping(&self) -> Result<(), DeliveryError>;

    /// Notifies the consumer that it was disconnected.
    fn disconnect(&self);
}

/// The push consumer behind a reference for events of a form; `None` for forms that are pulled.
pub(crate) fn sink_of(
    form: ProxyType,
    consumer: &ObjectRef,
    timeout: Duration,
) -> Option<Arc<dyn Sink>> {
    macro_rules! sink_of {
        ($interface:ty) => {
            Some(Arc::new(
                <$interface>::from_object(consumer.clone()).with_timeout(timeout),
            ))
        };
    }
    match form {
        ProxyType::PushAny => sink_of!(cos::PushConsumer),
        ProxyType::PushStructured => sink_of!(notify::StructuredPushConsumer),
        ProxyType::PushSequence => sink_of!(notify::SequencePushConsumer),
        _ => None,
    }
}

/// The field of a structured event's variable header with the number of events that were dropped before it.
const EVENTS_DROPPED: &str = "EventsDropped";

/// Each event with the number of events dropped before it: all of them before the first one.
pub(crate) fn numbered<T>(
    events: impl IntoIterator<Item = T>,
    dropped: u64,
) -> impl Iterator<Item = (T, u64)> {
    events.into_iter().zip(once(dropped).chain(repeat(0)))
}

/// The reference for a push after so many events were dropped.
fn after<C: Interface + Clone>(consumer: &C, dropped: u64) -> Cow<'_, C> {
    match dropped {
        0 => Cow::Borrowed(consumer),
        dropped => {
            let context = dropped.to_be_bytes();
            Cow::Owned(consumer.with_service_context(ORBIUM_EVENTS_DROPPED, context))
        }
    }
}

/// A structured event after so many were dropped.
pub(crate) fn structured(event: &Event, dropped: u64) -> Cow<'_, StructuredEvent> {
    let mut event = event.structured();
    if dropped > 0 {
        let fields = &mut event.to_mut().header.variable_header;
        // It may have passed through another channel.
        fields.retain(|it| it.name != EVENTS_DROPPED);
        fields.push(property(EVENTS_DROPPED, dropped));
    }
    event
}

macro_rules! sink {
    ($consumer:ty, $error:ident, $disconnect:ident, |$it:ident, $dropped:ident, $events:ident| $push:expr) => {
        impl Sink for $consumer {
            fn push(&self, $dropped: u64, $events: &[Seen<'_>]) -> Result<(), PushError> {
                let $it = self;
                let pushed: Result<(), $error> = $push;
                pushed.map_err(|error| match error {
                    $error::Disconnected(_) => PushError::Disconnected,
                    $error::System(exception) => PushError::System(exception),
                })
            }

            fn ping(&self) -> Result<(), DeliveryError> {
                ping_object(self.as_object())
            }

            fn disconnect(&self) {
                // It may not exist any more.
                let _: Result<(), SystemException> = self.$disconnect();
            }
        }
    };
}

sink!(
    cos::PushConsumer,
    CosError,
    disconnect_push_consumer,
    |consumer, dropped, events| {
        numbered(events, dropped).try_for_each(|(event, dropped)| {
            let any = event.any().map_err(SystemException::from)?;
            after(consumer, dropped).push(&any)
        })
    }
);
sink!(
    notify::StructuredPushConsumer,
    NotifyError,
    disconnect_structured_push_consumer,
    |consumer, dropped, events| {
        numbered(events, dropped).try_for_each(|(event, dropped)| {
            let event = structured(event, dropped);
            after(consumer, dropped).push_structured_event(&event)
        })
    }
);
sink!(
    notify::SequencePushConsumer,
    NotifyError,
    disconnect_sequence_push_consumer,
    |consumer, dropped, events| {
        let batch = numbered(events, dropped);
        let batch: Vec<_> = batch
            .map(|(event, dropped)| structured(event, dropped).into_owned())
            .collect();
        after(consumer, dropped).push_structured_events(&batch)
    }
);
