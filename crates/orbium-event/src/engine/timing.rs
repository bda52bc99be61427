// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timers of a channel's consumers, by the thread that waits for them.

use std::sync::Arc;
use std::time::Instant;

use super::Engine;
use crate::config::ConnectError;
use crate::delivery::consumer::{Consumer, Due};
use crate::subscription::schedule::timer_event;
use crate::subscription::timers::TimerKey;
use crate::thread::start;

impl Engine {
    /// Starts the thread that waits for timers, unless it runs.
    pub(crate) fn start_timers(this: &Arc<Self>) -> Result<(), ConnectError> {
        let timers = &this.timers;
        timers.thread.run(|| {
            let (engine, of_thread) = (Arc::downgrade(this), Arc::clone(timers));
            start("orbium-timers", move || {
                while let Some(key) = of_thread.next() {
                    let Some(engine) = engine.upgrade() else {
                        return;
                    };
                    engine.fire(key);
                }
            })
        })
    }

    /// Delivers the event of a timer that may be due, or a batch at the end of its interval.
    pub(crate) fn fire(&self, key: TimerKey) {
        let consumers = self.consumers.load();
        let Some(consumer) = consumers.iter().find(|it| it.id == key.consumer) else {
            return;
        };
        let now = Instant::now();
        if key.is_of_batches() {
            return self.act(consumer, consumer.interval_elapsed(now));
        }
        let next = match consumer.fire(key.timer, key.epoch, now) {
            Due::Never => None,
            Due::At(due) => Some(due),
            Due::Fired(firing) => {
                let event = timer_event(&firing, now).into();
                let (action, next) =
                    consumer.offer_timer(key.timer, key.epoch, event, firing.phase);
                self.act(consumer, action);
                next
            }
        };
        if let Some(due) = next {
            self.add_timer(consumer, key, due);
        }
    }

    /// Adds a timer of a consumer, unless its connection has ended.
    pub(super) fn add_timer(&self, consumer: &Consumer, key: TimerKey, due: Instant) {
        self.timers.add(key, due);
        // Its end removes timers that were added before.
        if consumer.is_closed() {
            self.timers.remove_all(consumer.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use crate::subscription::timers::TimerKey;
    use crate::{Channel, ChannelConfig, Pattern, SharedEvent};

    /// Regression: they had remained until they were due, including those of replaced
    /// subscriptions.
    #[test]
    fn timers_end_with_their_subscription() {
        let channel = Channel::new(ChannelConfig::default());
        let year = Duration::from_secs(365 * 86_400);
        let pattern = Pattern::Disjunction(vec![Pattern::Interval(year), Pattern::Timeout(year)]);
        let sink = |_: &[SharedEvent]| {};
        for _ in 0..3 {
            let subscription = channel.subscribe(&pattern, sink).unwrap();
            assert_eq!(channel.engine.timers.len(), 2);
            subscription.reconnect(pattern.clone(), std::sync::Arc::new(sink), false);
            assert_eq!(channel.engine.timers.len(), 2);
            assert!(subscription.disconnect());
            assert_eq!(channel.engine.timers.len(), 0);
        }
    }

    /// A timer that fires as its consumer disconnects adds its next entry afterwards.
    #[test]
    fn a_timer_that_is_added_after_the_end_of_its_consumer_is_removed() {
        let channel = Channel::new(ChannelConfig::default());
        let year = Duration::from_secs(365 * 86_400);
        let pattern = Pattern::Interval(year);
        let subscription = channel.subscribe(&pattern, |_: &[SharedEvent]| {}).unwrap();
        let consumer = Arc::clone(&channel.engine.consumers.load()[0]);
        assert!(subscription.disconnect());
        let key = TimerKey {
            consumer: consumer.id,
            epoch: 0,
            timer: 0,
        };
        let due = Instant::now() + year;
        channel.engine.add_timer(&consumer, key, due);
        assert_eq!(channel.engine.timers.len(), 0);
    }
}
