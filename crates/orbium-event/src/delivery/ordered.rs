// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pushes in order over one connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use orbium::{ExceptionKind, Interface, SystemException};

use crate::delivery::dropped::after;
use crate::rtec::rtec_event_comm::{Event, PushConsumer};

/// A consumer's reference with a private connection: oneways over several connections would be
/// served in any order.
#[derive(Debug)]
pub(crate) struct OrderedPush {
    consumer: PushConsumer,
    connected: ArcSwap<Connected>,
    timeout: Option<Duration>,
}

/// A reference with one connection.
#[derive(Debug)]
struct Connected {
    reference: PushConsumer,
    is_open: AtomicBool,
}

impl OrderedPush {
    /// Without a time-out the ORB's own bounds a push.
    pub(crate) fn new(consumer: &PushConsumer, timeout: Option<Duration>) -> Self {
        Self {
            consumer: consumer.clone(),
            connected: ArcSwap::from_pointee(Connected::new(consumer, timeout)),
            timeout,
        }
    }

    /// Opens the connection, unless it is open.
    pub(crate) fn open(&self) -> Result<(), SystemException> {
        self.connected.load().open()
    }

    /// Pushes over the connection, or a new one if it has ended.
    pub(crate) fn push(&self, events: &[Event]) -> Result<(), SystemException> {
        self.push_after(0, events)
    }

    /// As [`push`](Self::push), with the number of events that were dropped before.
    pub(crate) fn push_after(&self, dropped: u64, events: &[Event]) -> Result<(), SystemException> {
        match self.connected.load().push(dropped, events) {
            Err(exception) if exception.kind == ExceptionKind::Rebind => {
                let renewed = Arc::new(Connected::new(&self.consumer, self.timeout));
                self.connected.store(Arc::clone(&renewed));
                renewed.push(dropped, events)
            }
            outcome => outcome,
        }
    }

    /// Makes a call over the connection, which is answered after all earlier pushes.
    pub(crate) fn flush(&self) -> Result<(), SystemException> {
        let connected = self.connected.load();
        match connected.reference.as_object().non_existent() {
            // No push was sent over a connection that has ended in an orderly way.
            Err(exception) if exception.kind == ExceptionKind::Rebind => Ok(()),
            outcome => outcome.map(drop),
        }
    }
}

impl Connected {
    fn new(consumer: &PushConsumer, timeout: Option<Duration>) -> Self {
        let object = consumer.as_object().with_one_connection(None);
        let reference = PushConsumer::from_object(object);
        Self {
            reference: match timeout {
                Some(timeout) => reference.with_timeout(timeout),
                None => reference,
            },
            is_open: AtomicBool::new(false),
        }
    }

    fn push(&self, dropped: u64, events: &[Event]) -> Result<(), SystemException> {
        self.open()?;
        match dropped {
            0 => self.reference.push(events),
            // Over the same connection.
            dropped => after(dropped, &self.reference).push(events),
        }
    }

    /// The first call has a reply: it shows that the object exists, and completes the negotiation
    /// of code sets, which every oneway would repeat.
    fn open(&self) -> Result<(), SystemException> {
        if self.is_open.load(Ordering::Acquire) {
            return Ok(());
        }
        if self.reference.as_object().non_existent()? {
            return Err(ExceptionKind::ObjectNotExist.into());
        }
        self.is_open.store(true, Ordering::Release);
        Ok(())
    }
}
