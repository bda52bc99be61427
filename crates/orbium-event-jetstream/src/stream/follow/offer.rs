// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pull consumers: events are offered as they arrive, and acknowledged when the consumer has
//! reported on them.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::interval;

use super::{End, Follower, RETRY_PAUSES, extend_ack_waits};
use crate::delivery::delivery_outcome::Outcome;
use crate::stream::offering::Offering;
use crate::stream::set::{Incoming, Received};

impl Follower {
    /// Offers arriving events, and acts on the reports of the consumer, until the end or an error
    /// of the server.
    pub(super) async fn offer_all(
        &self,
        incoming: &mut Incoming,
        (offering, pause): (&mut Offering, &mut Duration),
    ) -> Result<End, String> {
        let mut signs = interval(self.sign_period());
        loop {
            let vacancy = offering.vacancy();
            let set = tokio::select! {
                biased;
                () = self.dropped() => return Ok(End::Dropped),
                Some((sequence, outcome)) = offering.reports.recv() => {
                    if let Some(received) = offering.open.remove(&sequence) {
                        self.settling.settle(&received, outcome).await;
                    }
                    continue;
                }
                _ = signs.tick() => {
                    extend_ack_waits(offering.messages()).await;
                    continue;
                }
                set = incoming.next_set(vacancy), if vacancy > 0 => set?,
            };
            *pause = RETRY_PAUSES[0];
            self.count(&set);
            for received in &set {
                self.replayed.deliver(received.sequence);
            }
            self.offer(offering, set).await;
        }
    }

    /// Offers events on a thread that may block.
    async fn offer(&self, offering: &mut Offering, set: Vec<Received>) {
        let new = offering.open_all(set);
        let reports: Vec<_> = new
            .iter()
            .map(|it| offering.reports_on(it.sequence))
            .collect();
        let sequences: Vec<_> = new.iter().map(|it| it.sequence).collect();
        let offer = Arc::clone(&offering.offer);
        let offered = spawn_blocking(move || {
            for (received, report) in new.iter().zip(reports) {
                offer(received, report);
            }
        });
        if let Err(error) = offered.await {
            tracing::error!(target: "orbium::event", %error, "events were not offered to their consumer");
            for sequence in sequences {
                if let Some(received) = offering.open.remove(&sequence) {
                    self.settling.settle(&received, Outcome::Singly).await;
                }
            }
        }
    }
}
