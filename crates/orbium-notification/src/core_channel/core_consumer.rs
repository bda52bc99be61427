// SPDX-License-Identifier: MIT OR Apache-2.0
//! A notification consumer as a consumer of an event channel.

use std::sync::{Arc, Weak};
use std::time::Instant;

use orbium_event::{DeliveryError, Peer, Rank, Selection, SharedEvent, Sink as RtSink};

use crate::channel::Channel;
use crate::consumer::Consumer;
use crate::consumer::sink::Sink;

/// The adapter of a consumer for the event channel: its filters and rules are applied when an event
/// is offered, its reference is called when one is pushed.
pub(super) struct CoreConsumer {
    channel: Weak<Channel>,
    consumer: Weak<Consumer>,
    /// `None` for a pull consumer.
    sink: Option<Arc<dyn Sink>>,
}

impl CoreConsumer {
    pub(super) fn new(
        channel: &Arc<Channel>,
        consumer: &Arc<Consumer>,
        sink: Option<Arc<dyn Sink>>,
    ) -> Self {
        Self {
            channel: Arc::downgrade(channel),
            consumer: Arc::downgrade(consumer),
            sink,
        }
    }
}

impl Selection for CoreConsumer {
    fn select(&self, event: &SharedEvent, now: Instant) -> Option<Rank> {
        let (channel, consumer) = (self.channel.upgrade()?, self.consumer.upgrade()?);
        let event = channel.seen(event, now)?;
        consumer.wants(&event).then(|| consumer.rank(&event, now))
    }

    fn is_slow(&self) -> bool {
        let consumer = self.consumer.upgrade();
        consumer.is_some_and(|it| it.calls_filters())
    }
}

impl Peer for CoreConsumer {
    fn ping(&self) -> Result<(), DeliveryError> {
        self.sink.as_ref().map_or(Ok(()), |sink| sink.ping())
    }

    fn disconnect(&self) {
        if let Some(sink) = &self.sink {
            sink.disconnect();
        }
    }
}

impl RtSink for CoreConsumer {
    fn push(&self, events: &[SharedEvent]) -> Result<(), DeliveryError> {
        self.push_after(0, events)
    }

    fn push_after(&self, dropped: u64, events: &[SharedEvent]) -> Result<(), DeliveryError> {
        let channel = self.channel.upgrade().ok_or(DeliveryError::Gone)?;
        let sink = self.sink.as_ref().ok_or(DeliveryError::Gone)?;
        let now = Instant::now();
        let events = events.iter().filter_map(|it| channel.seen(it, now));
        let events: Vec<_> = events.collect();
        Ok(sink.push(dropped, &events)?)
    }
}
