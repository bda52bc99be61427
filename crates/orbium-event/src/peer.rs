// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interfaces of a channel's peers: consumers and suppliers, local or remote.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::delivery::health::DeliveryError;
use crate::event::SharedEvent;

/// A consumer or supplier as the channel calls it. Every method returns in bounded time, and is
/// called without a lock of the channel.
pub trait Peer: Send + Sync + 'static {
    /// Checks whether the peer exists.
    ///
    /// # Errors
    /// [`DeliveryError`]: it does not, or cannot be reached.
    fn ping(&self) -> Result<(), DeliveryError> {
        Ok(())
    }

    /// Notifies the peer that the channel has disconnected it.
    fn disconnect(&self) {}
}

/// A consumer of events. Closures with a set of events as argument are consumers.
pub trait Sink: Peer {
    /// Delivers a set of events.
    ///
    /// # Errors
    /// [`DeliveryError`]: it could not be delivered, and is lost.
    fn push(&self, events: &[SharedEvent]) -> Result<(), DeliveryError>;

    /// Delivers a set of events after `dropped` events for the consumer were dropped since the last
    /// delivery: its queue was full, it had failed, or they had expired. Calls [`push`](Self::push)
    /// by default.
    ///
    /// # Errors
    /// As `push`.
    fn push_after(&self, dropped: u64, events: &[SharedEvent]) -> Result<(), DeliveryError> {
        let _ = dropped;
        self.push(events)
    }
}

impl<F: Fn(&[SharedEvent]) + Send + Sync + 'static> Peer for F {}

impl<F: Fn(&[SharedEvent]) + Send + Sync + 'static> Sink for F {
    fn push(&self, events: &[SharedEvent]) -> Result<(), DeliveryError> {
        self(events);
        Ok(())
    }
}

/// Pushes to a consumer that may be a closure of the program, which may panic.
pub(crate) fn push(
    sink: &dyn Sink,
    dropped: u64,
    events: &[SharedEvent],
) -> Result<(), DeliveryError> {
    let pushed = catch_unwind(AssertUnwindSafe(|| match dropped {
        0 => sink.push(events),
        dropped => sink.push_after(dropped, events),
    }));
    pushed.unwrap_or(Err(DeliveryError::Gone))
}

/// Pings a peer that may be of the program, which may panic.
pub(crate) fn ping<P: Peer + ?Sized>(peer: &P) -> Result<(), DeliveryError> {
    let pinged = catch_unwind(AssertUnwindSafe(|| peer.ping()));
    pinged.unwrap_or(Err(DeliveryError::Gone))
}

/// Called once when a connection ends, for whatever reason.
pub(crate) type OnEnd = Box<dyn FnOnce() + Send>;

/// A peer that connects.
pub(crate) struct Connection<P: ?Sized> {
    pub(crate) peer: Arc<P>,
    pub(crate) is_gateway: bool,
    pub(crate) on_end: OnEnd,
}

/// A consumer that pulls.
pub(crate) struct Pulled(pub(crate) Arc<dyn Peer>);

impl Peer for Pulled {
    fn ping(&self) -> Result<(), DeliveryError> {
        self.0.ping()
    }

    fn disconnect(&self) {
        self.0.disconnect();
    }
}

impl Sink for Pulled {
    /// No thread serves its queue.
    fn push(&self, _: &[SharedEvent]) -> Result<(), DeliveryError> {
        Ok(())
    }
}

/// A peer that is never called back.
pub(crate) struct Anonymous;

impl Peer for Anonymous {}
