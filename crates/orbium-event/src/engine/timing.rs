// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timers of a channel's consumers, by the thread that waits for them.

use std::sync::Arc;
use std::time::Instant;

use super::Engine;
use crate::config::ConnectError;
use crate::delivery::consumer::Due;
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

    /// Delivers the event of a timer that may be due, or the batch that has waited for it.
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
            self.timers.add(key, due);
        }
    }
}
