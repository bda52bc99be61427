// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sets in which a consumer gets its events: those that have arrived, within bounds.

use std::time::Duration;

use async_nats::jetstream::AckKind;
use async_nats::jetstream::message::Message;
use futures_util::FutureExt as _;

use crate::config::JetStreamConfig;
use crate::stream::requests::Requests;

/// An event of the stream.
pub(crate) struct Received {
    pub(crate) message: Message,
    /// Its position in the stream.
    pub(crate) sequence: u64,
    /// The number of this delivery, from 1.
    pub(crate) delivery: u64,
    /// The number of pending events for the consumer behind this one.
    pub(crate) pending: u64,
    /// Whether it was stored before the consumer connected and requested such events.
    pub(crate) is_replayed: bool,
}

impl Received {
    /// `None` without the subject by which it would be acknowledged.
    fn new(message: Message, replayed: u64) -> Option<Self> {
        let info = message.info().ok()?;
        let (sequence, pending) = (info.stream_sequence, info.pending);
        let delivery = u64::try_from(info.delivered).unwrap_or(1);
        Some(Self {
            message,
            sequence,
            delivery,
            pending,
            is_replayed: sequence <= replayed,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.message.payload.len()
    }

    /// Whether an earlier delivery has failed, perhaps in a set with others: it is delivered alone.
    pub(crate) fn is_repeated(&self) -> bool {
        self.delivery > 1
    }

    /// Extends the server's time-out until it delivers the event again.
    pub(crate) async fn extend_ack_wait(&self) {
        // The next extension may arrive.
        let _ = self.message.ack_with(AckKind::Progress).await;
    }

    /// Returns it to the server, so that the next consumer of the name gets it immediately.
    pub(crate) async fn give_back(&self) {
        // Otherwise it comes again after the acknowledgment wait.
        let _ = self.message.ack_with(AckKind::Nak(None)).await;
    }
}

/// The requested events of a consumer.
pub(crate) struct Incoming {
    requests: Requests,
    /// Received behind the last set.
    held: Option<Received>,
    max_bytes: usize,
    /// The last of the earlier events.
    replayed: u64,
}

impl Incoming {
    pub(crate) fn new(requests: Requests, config: &JetStreamConfig, replayed: u64) -> Self {
        Self {
            requests,
            held: None,
            max_bytes: config.set_bytes,
            replayed,
        }
    }

    /// Waits for an event. It and those behind it that have arrived are a set, up to `most`. A
    /// redelivered event is a set of its own. No event is lost if the future is dropped.
    ///
    /// # Errors
    /// The server has ended the request, or does not send any more.
    pub(crate) async fn next_set(&mut self, most: usize) -> Result<Vec<Received>, String> {
        let first = match self.held.take() {
            Some(held) => held,
            None => self.next().await?,
        };
        let mut bytes = first.len();
        let mut set = vec![first];
        while set.len() < most && !set[0].is_repeated() {
            match self.arrived() {
                Some(next) if !next.is_repeated() && bytes + next.len() <= self.max_bytes => {
                    bytes += next.len();
                    set.push(next);
                }
                next => {
                    self.held = next;
                    break;
                }
            }
        }
        Ok(set)
    }

    async fn next(&mut self) -> Result<Received, String> {
        loop {
            let message = self.requests.next().await?;
            if let Some(received) = self.received(message) {
                return Ok(received);
            }
        }
    }

    fn received(&self, message: Message) -> Option<Received> {
        let received = Received::new(message, self.replayed);
        if received.is_none() {
            tracing::debug!(target: "orbium::event", "a message without a place in the stream");
        }
        received
    }

    /// An event that has arrived, if any.
    fn arrived(&mut self) -> Option<Received> {
        // The end of the requests is found by the next that waits.
        self.next().now_or_never()?.ok()
    }

    /// Waits for an event that is part of no set, and that the server has sent; `None` when it sends no more. To be given back
    /// after that: before it the server would send the event once more. Nothing is lost if the future is dropped.
    pub(crate) async fn next_of_rest(&mut self) -> Option<Received> {
        if let Some(held) = self.held.take() {
            return Some(held);
        }
        loop {
            let message = self.requests.next_of_rest().await?;
            if let Some(received) = self.received(message) {
                return Some(received);
            }
        }
    }

    /// Requests no more events.
    pub(crate) fn close(&mut self) {
        self.requests.close();
    }
}

/// The maximum size of the next set: it doubles after each set that was delivered within a fraction
/// of the time-out of a push, and is one after a failed push.
pub(crate) struct SetSize {
    events: usize,
    most: usize,
    /// The time within which a set is to be delivered.
    time: Duration,
}

impl SetSize {
    pub(crate) fn new(config: &JetStreamConfig) -> Self {
        Self {
            events: 1,
            most: config.set_events.min(config.window).max(1),
            time: config.push_timeout / 4,
        }
    }

    pub(crate) fn events(&self) -> usize {
        self.events
    }

    /// Records a delivery of so many events in that time.
    pub(crate) fn delivered(&mut self, events: usize, time: Duration) {
        let each = time.as_nanos() / events.max(1) as u128;
        let in_time = self.time.as_nanos() / each.max(1);
        let in_time = usize::try_from(in_time).unwrap_or(usize::MAX);
        self.events = (2 * self.events).min(in_time).clamp(1, self.most);
    }

    /// Records the failure of a push as a whole.
    pub(crate) fn failed(&mut self) {
        self.events = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(push_timeout: Duration) -> SetSize {
        SetSize::new(&JetStreamConfig {
            push_timeout,
            set_events: 6,
            ..JetStreamConfig::new("nats://127.0.0.1:4222", "NAV")
        })
    }

    #[test]
    fn sets_grow_up_to_a_bound_and_begin_anew_after_a_failure() {
        let mut size = size(Duration::from_secs(4));
        let mut sizes = Vec::new();
        for _ in 0..4 {
            sizes.push(size.events());
            size.delivered(size.events(), Duration::ZERO);
        }
        assert_eq!(sizes, [1, 2, 4, 6]);
        size.failed();
        assert_eq!(size.events(), 1);
    }

    #[test]
    fn a_set_takes_a_part_of_the_time_of_a_push() {
        let mut size = size(Duration::from_secs(4));
        for _ in 0..4 {
            size.delivered(1, Duration::from_millis(300));
        }
        assert_eq!(size.events(), 3);
        size.delivered(1, Duration::from_secs(3));
        assert_eq!(size.events(), 1);
    }

    #[test]
    fn a_window_of_one_has_events_by_themselves() {
        let config = JetStreamConfig {
            window: 1,
            ..JetStreamConfig::new("nats://127.0.0.1:4222", "NAV")
        };
        let mut size = SetSize::new(&config);
        size.delivered(1, Duration::ZERO);
        assert_eq!(size.events(), 1);
    }
}
