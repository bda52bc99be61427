// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads of a channel, which start on demand.

use std::sync::Arc;
use std::time::Instant;

use orbium_scheduler::{ScheduledThread, SchedulerError};

use super::Channel;
use crate::config::ConnectError;
use crate::engine::Engine;
use crate::subscription::timers::Task;
use crate::thread::start;

impl Channel {
    /// The thread that notifies observers, and starts those that ping peers.
    pub(super) fn start_control(&self) -> Result<(), ConnectError> {
        if self.engine.is_destroyed() {
            return Err(ConnectError::Destroyed);
        }
        let control = &self.engine.control;
        let period = self.config().ping_period;
        control.thread.run(|| {
            let mut all_due = period.and_then(|it| Instant::now().checked_add(it));
            let (engine, of_thread) = (Arc::downgrade(&self.engine), Arc::clone(control));
            start("orbium-control", move || {
                while let Some(task) = of_thread.next() {
                    let Some(engine) = engine.upgrade() else {
                        return;
                    };
                    match task {
                        Task::Observers => engine.update_observers(),
                        Task::Ping => Engine::ping(&engine, period, &mut all_due),
                        Task::StartPinger => Engine::start_pinger(&engine),
                    }
                }
            })?;
            if let Some(period) = period {
                control.ping_after(period);
            }
            Ok(())
        })
    }

    /// The thread of a queue of the schedule.
    pub(super) fn start_dispatch_queue(&self, number: usize) -> Result<(), ConnectError> {
        let Some((of_table, queue)) = self.engine.dispatch.queue(number) else {
            return Ok(());
        };
        let start = || -> Result<(), SchedulerError> {
            let (engine, of_thread) = (Arc::downgrade(&self.engine), Arc::clone(queue));
            let thread = ScheduledThread {
                soft: self.config().soft,
                ..ScheduledThread::of_queue("orbium-dispatch", of_table)?
            };
            let started =
                thread.start(move || Engine::serve_dispatch_queue(&engine, &of_thread))?;
            queue.served_by(started.thread.thread(), started.refused.is_some());
            Ok(())
        };
        queue.thread.run(start).map_err(|error| {
            tracing::warn!(target: "orbium::event", %error, "no thread for a queue of the schedule");
            match error {
                SchedulerError::Thread { .. } => ConnectError::NoThread,
                _ => ConnectError::Priority(of_table.priority),
            }
        })
    }
}
