// SPDX-License-Identifier: MIT OR Apache-2.0
//! A supplier of this process, or of a proxy.

use std::sync::{Arc, Weak};

use orbium::SystemException;
use orbium::cdr::CdrReader;

use crate::engine::Engine;
use crate::event::SharedEvent;
use crate::peer::Peer;
use crate::rtec::rtec_event_comm::Event;
use crate::supply::publication::Publication;
use crate::supply::supplier::Supplier;

/// A supplier's connection to a channel. Dropping it disconnects the supplier.
#[must_use = "dropping it disconnects the supplier"]
pub struct Publisher {
    engine: Weak<Engine>,
    supplier: Arc<Supplier>,
}

impl Publisher {
    pub(crate) fn new(engine: &Arc<Engine>, supplier: Arc<Supplier>) -> Self {
        Self {
            engine: Arc::downgrade(engine),
            supplier,
        }
    }

    /// Pushes a set of events into the channel. Without effect once the channel is destroyed.
    pub fn push(&self, events: &[Event]) {
        if let Some(engine) = self.engine.upgrade() {
            engine.publish(&self.supplier, events);
        }
    }

    /// As [`push`](Self::push), for an event with a content of the program: it is shared and not
    /// copied.
    pub fn push_shared(&self, event: SharedEvent) {
        if let Some(engine) = self.engine.upgrade() {
            engine.publish_shared(&self.supplier, event);
        }
    }

    /// As [`push`](Self::push), for events that are still to be read.
    pub(crate) fn receive(&self, events: &mut CdrReader<'_>) -> Result<(), SystemException> {
        match self.engine.upgrade() {
            Some(engine) => engine.receive(&self.supplier, events),
            None => Ok(()),
        }
    }

    pub(crate) fn reconnect(
        &self,
        peer: Arc<dyn Peer>,
        published: Vec<Publication>,
        gateway: bool,
    ) {
        self.supplier.reconnect(peer, published, gateway);
        if let Some(engine) = self.engine.upgrade() {
            engine.note_gateway(gateway);
            engine.changed();
        }
    }

    /// Disconnects the supplier; false if it was disconnected already.
    pub fn disconnect(&self) -> bool {
        let engine = self.engine.upgrade();
        engine.is_some_and(|it| it.remove_supplier(&self.supplier))
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.disconnect();
    }
}

impl std::fmt::Debug for Publisher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Publisher")
            .field("id", &self.supplier.id)
            .finish_non_exhaustive()
    }
}
