// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pings of peers by several threads, which start on demand: a silent peer occupies one of them
//! until its time-out, and delays no other peer.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::Engine;
use super::pings::PingedPeer;
use crate::delivery::health::{DeliveryError, Health};
use crate::thread::start;

/// Time after which another thread pings as well, if peers wait for their pings.
const PINGER_DELAY: Duration = Duration::from_millis(10);

impl Engine {
    /// Starts a thread that pings, and another one later, while peers wait for their pings.
    pub(crate) fn start_pinger(this: &Arc<Self>) {
        if !this.pings.begin_thread() {
            return;
        }
        this.control.start_pinger_after(PINGER_DELAY);
        let engine = Arc::downgrade(this);
        if start("orbium-ping", move || Self::serve_pings(&engine)).is_err() {
            // The system has no thread left.
            Self::serve_pings(&Arc::downgrade(this));
        }
    }

    /// Pings peers until none waits. The channel may end during a ping.
    fn serve_pings(this: &Weak<Self>) {
        let next = || this.upgrade().and_then(|engine| engine.pings.next());
        while let Some(peer) = next() {
            let outcome = peer.ping();
            let Some(engine) = this.upgrade() else {
                return;
            };
            engine.pinged(&peer, outcome);
            engine.pings.end(&peer);
        }
    }

    /// Acts on the outcome of a ping.
    fn pinged(&self, peer: &PingedPeer, outcome: Result<(), DeliveryError>) {
        match peer {
            PingedPeer::Consumer(consumer) => {
                self.handle_health(consumer, consumer.checked(outcome));
            }
            PingedPeer::Supplier(supplier) => {
                let health = supplier.checked(outcome, &self.config.failure);
                if health == Health::Gone && self.remove_supplier(supplier) {
                    tracing::warn!(target: "orbium::event", supplier = supplier.id, "supplier disconnected: it cannot be reached");
                }
            }
        }
    }
}
