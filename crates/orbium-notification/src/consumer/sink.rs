// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers behind references.

use orbium::{Interface, SystemException};
use orbium_event::{DeliveryError, delivery_failure, ping_object};

use crate::core_channel::seen::Seen;
use crate::idl::cos_event_comm::{self as cos, DisconnectedError as CosError};
use crate::idl::cos_notify_comm::{self as notify, DisconnectedError as NotifyError};
use crate::journal::Delivered;

/// What a consumer has raised instead of taking events.
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

/// A consumer that is pushed to. Every method returns in bounded time, and is called without a lock.
pub(crate) trait Sink: Send + Sync + 'static {
    /// Delivers events.
    fn push(&self, events: &[Seen<'_>]) -> Result<(), PushError>;

    /// Checks whether the consumer is there.
    fn ping(&self) -> Result<(), DeliveryError>;

    /// Notifies the consumer that it is disconnected.
    fn disconnect(&self);
}

macro_rules! sink {
    ($consumer:ty, $error:ident, $disconnect:ident, |$it:ident, $events:ident| $push:expr) => {
        impl Sink for $consumer {
            fn push(&self, $events: &[Seen<'_>]) -> Result<(), PushError> {
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
                // It may be gone.
                let _: Result<(), SystemException> = self.$disconnect();
            }
        }
    };
}

sink!(
    cos::PushConsumer,
    CosError,
    disconnect_push_consumer,
    |consumer, events| {
        events.iter().try_for_each(|event| {
            let any = event.any().map_err(SystemException::from)?;
            consumer.push(&any)
        })
    }
);
sink!(
    notify::StructuredPushConsumer,
    NotifyError,
    disconnect_structured_push_consumer,
    |consumer, events| events
        .iter()
        .try_for_each(|event| consumer.push_structured_event(&event.structured()))
);
sink!(
    notify::SequencePushConsumer,
    NotifyError,
    disconnect_sequence_push_consumer,
    |consumer, events| {
        let batch: Vec<_> = events
            .iter()
            .map(|it| it.structured().into_owned())
            .collect();
        consumer.push_structured_events(&batch)
    }
);
