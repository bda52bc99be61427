// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pushes that do not overtake each other.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use orbium::{ExceptionKind, Interface, SystemException};

use crate::rtec::rtec_event_comm::{Event, PushConsumer};

/// A consumer's reference with a connection of its own: oneways over several connections would be
/// served in any order.
#[derive(Debug)]
pub(crate) struct OrderedPush {
    consumer: PushConsumer,
    connected: Mutex<PushConsumer>,
    timeout: Option<Duration>,
}

impl OrderedPush {
    /// Without a timeout that of the ORB bounds a push.
    pub(crate) fn new(consumer: &PushConsumer, timeout: Option<Duration>) -> Self {
        Self {
            consumer: consumer.clone(),
            connected: Mutex::new(with_own_connection(consumer, timeout)),
            timeout,
        }
    }

    /// Pushes over the connection, or a new one if it has ended.
    pub(crate) fn push(&self, events: &[Event]) -> Result<(), SystemException> {
        let connected = self.connected.lock();
        let reference = connected.unwrap_or_else(PoisonError::into_inner).clone();
        match reference.push(events) {
            Err(exception) if exception.kind == ExceptionKind::Rebind => {
                let renewed = with_own_connection(&self.consumer, self.timeout);
                let mut connected = self
                    .connected
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                *connected = renewed.clone();
                drop(connected);
                renewed.push(events)
            }
            outcome => outcome,
        }
    }

    /// Makes a call over the connection that is answered after what was pushed.
    pub(crate) fn flush(&self) -> Result<(), SystemException> {
        let connected = self.connected.lock();
        let reference = connected.unwrap_or_else(PoisonError::into_inner).clone();
        match reference.as_object().non_existent() {
            // Nothing was pushed over a connection that has ended in good order.
            Err(exception) if exception.kind == ExceptionKind::Rebind => Ok(()),
            outcome => outcome.map(drop),
        }
    }
}

fn with_own_connection(consumer: &PushConsumer, timeout: Option<Duration>) -> PushConsumer {
    let object = consumer.as_object().with_one_connection(None);
    let reference = PushConsumer::from_object(object);
    match timeout {
        Some(timeout) => reference.with_timeout(timeout),
        None => reference,
    }
}
