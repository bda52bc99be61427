// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections of consumers to the event channel behind a channel.

use std::sync::Arc;

use orbium::SystemException;
use orbium_event::{ConsumerOptions, FailurePolicy, Pattern};

use crate::channel::Channel;
use crate::consumer::Consumer;
use crate::consumer::sink::Sink;
use crate::core_channel::core_consumer::CoreConsumer;

impl Channel {
    /// Connects a consumer to the event channel; one without a sink is a pull consumer.
    ///
    /// # Errors
    /// The exception for remote consumers.
    pub(crate) fn connect_to_core(
        self: &Arc<Self>,
        consumer: &Arc<Consumer>,
        sink: Option<Arc<dyn Sink>>,
    ) -> Result<(), SystemException> {
        let rules = self.rules(&consumer.level);
        let is_pushed_to = sink.is_some();
        let core = Arc::new(CoreConsumer::new(self, consumer, sink));
        let options = ConsumerOptions {
            is_remote: true,
            selection: Some(Arc::clone(&core) as _),
            queue: Some(self.core.limits(&rules)),
            batches: consumer.batches(&rules),
            // A real-time channel has a separate rule for events of suspect consumers.
            waits_for_suspect: self.core.front.is_none() || consumer.is_persistent(),
            failure: consumer.is_persistent().then_some(FailurePolicy::NEVER),
            ..ConsumerOptions::default()
        };
        let (channel, ended) = (Arc::downgrade(self), Arc::downgrade(consumer));
        let on_end = move || {
            if let (Some(channel), Some(consumer)) = (channel.upgrade(), ended.upgrade()) {
                channel.end_consumer(&consumer);
            }
        };
        let channel = &self.core.channel;
        let subscription = if is_pushed_to {
            channel.subscribe_with(&Pattern::Null, options, core, on_end)?
        } else {
            channel.subscribe_pulled(&Pattern::Null, options, core, on_end)?
        };
        consumer.joins_core(subscription);
        Ok(())
    }
}
