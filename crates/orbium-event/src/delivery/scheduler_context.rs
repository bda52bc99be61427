// SPDX-License-Identifier: MIT OR Apache-2.0
//! Channels on scheduler contexts.

use std::sync::Arc;

use orbium_executor::{ContextHandle, TaskQos};

use crate::channel::Channel;
use crate::config::{ChannelConfig, Dispatching};
use crate::delivery::tasks::ConsumerTasks;
use crate::engine::Engine;

impl Channel {
    /// A channel on a scheduler context, with [`Dispatching::Contexts`]: the threads of the context
    /// push, in the order of its policy, which may change at any time. `qos` returns the QoS of a
    /// consumer by its RT_Info (0 without one); [`qos_by_schedule`](crate::qos_by_schedule) derives
    /// it from a table. Each set of events is a job, released when it is offered to a consumer
    /// without other sets. Consumers of a destroyed context are disconnected.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    /// use orbium_event::{Channel, ChannelConfig, Pattern, SharedEvent, new_event};
    /// use orbium_executor::{Policy, SchedulerContext, TaskQos};
    ///
    /// let context = SchedulerContext::builder("events").policy(Policy::Edf).threads(2).build()?;
    /// let qos = |rt_info: i32| match rt_info {
    ///     0 => TaskQos::default(),
    ///     urgent => TaskQos::default().priority(urgent).deadline(Duration::from_millis(5)),
    /// };
    /// let channel = Channel::on_context(ChannelConfig::default(), &context, qos);
    /// let (send, received) = mpsc::channel();
    /// let subscription = channel.subscribe_scheduled(&Pattern::of(16, 0), 1, move |events: &[SharedEvent]| {
    ///     let _ = send.send(events[0].header.source);
    /// })?;
    /// channel.connect_supplier(&[(16, 7)])?.push(&[new_event(16, 7)]);
    /// assert_eq!(received.recv()?, 7);
    /// # drop(subscription);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on_context(
        mut config: ChannelConfig,
        context: &ContextHandle,
        qos: impl Fn(i32) -> TaskQos + Send + Sync + 'static,
    ) -> Self {
        config.dispatching = Dispatching::Contexts;
        let tasks = ConsumerTasks {
            context: context.clone(),
            qos: Box::new(qos),
        };
        Self {
            engine: Arc::new(Engine::new(config, Some(tasks))),
        }
    }
}
