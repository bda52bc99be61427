// SPDX-License-Identifier: MIT OR Apache-2.0
//! Health of a consumer after the outcomes of pushes and pings.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::Consumer;
use super::reasons::SUSPECT;
use crate::delivery::health::{DeliveryError, Health};

impl Consumer {
    /// Records the outcome of a push, and returns the health after it.
    pub(crate) fn pushed(&self, events: u64, outcome: Result<(), DeliveryError>) -> Health {
        match outcome {
            Ok(()) => self.counts.delivered.add(events),
            Err(_) => self.counts.lost.add(events),
        }
        self.checked(outcome)
    }

    /// Records the outcome of a ping, and returns the health after it.
    pub(crate) fn checked(&self, outcome: Result<(), DeliveryError>) -> Health {
        if outcome.is_ok() && !self.is_suspect() {
            return Health::Well;
        }
        let mut state = self.lock();
        let before = state.health;
        let health = before.after(outcome, &self.failure, Instant::now());
        state.health = health;
        self.is_suspect.store(!health.is_well(), Ordering::Release);
        if self.waits_for_suspect && matches!(health, Health::Suspect { .. }) {
            self.hold(&mut state.behind, SUSPECT);
        } else if !health.is_well() {
            let lost = self.clear(&mut state.behind);
            self.counts.lost.add(lost);
        }
        drop(state);
        if before.is_well() != health.is_well() {
            self.report(health, outcome);
        }
        health
    }

    /// Logs that the consumer has failed or recovered.
    fn report(&self, health: Health, outcome: Result<(), DeliveryError>) {
        let (consumer, lost) = (self.id, self.counts.lost.count());
        if health.is_well() {
            tracing::info!(target: "orbium::event", consumer, lost, "consumer has recovered");
        } else {
            tracing::info!(target: "orbium::event", consumer, lost, ?outcome, "consumer has failed");
        }
    }
}
