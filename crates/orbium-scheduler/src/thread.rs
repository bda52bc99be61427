// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that run once the host has given them their scheduling.

use std::sync::mpsc::sync_channel;
use std::thread::{Builder, JoinHandle};

use orbium::{Priority, Scheduling, give_scheduling, priority};
use orbium_sched::Queue;

use crate::error::SchedulerError;
use crate::lanes::{corba_priority, scheduling};

/// A thread that is to be started, and what it gets before it runs.
///
/// ```
/// use orbium_sched::{Dispatching, Queue};
/// use orbium_scheduler::ScheduledThread;
///
/// let queue = Queue { priority: 10, dispatching: Dispatching::Static };
/// let thread = ScheduledThread {
///     soft: true,
///     ..ScheduledThread::of_queue("queue-0", &queue)?
/// };
/// let ended = thread.start(|| println!("{:?}", orbium::priority::current()))?.join();
/// # assert!(ended.is_ok());
/// # Ok::<(), orbium_scheduler::SchedulerError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ScheduledThread {
    /// Its name, in errors too.
    pub name: String,
    /// Scheduling class and native priority; none for those of the thread that starts it.
    pub scheduling: Option<Scheduling>,
    /// The CORBA priority that its calls carry.
    pub priority: Option<Priority>,
    /// It goes on if the host refuses the scheduling. Default: it does not.
    pub soft: bool,
}

impl ScheduledThread {
    /// The thread of a queue of a schedule: at the queue's native priority, which is the CORBA
    /// priority of its calls too.
    ///
    /// # Errors
    /// [`SchedulerError::Priority`].
    pub fn of_queue(name: &str, queue: &Queue) -> Result<Self, SchedulerError> {
        Ok(Self {
            name: name.to_owned(),
            scheduling: Some(scheduling(queue.dispatching, queue.priority)),
            priority: Some(corba_priority(queue.priority)?),
            soft: false,
        })
    }

    /// Starts the thread, and waits until it has its scheduling.
    ///
    /// # Errors
    /// [`SchedulerError::Thread`]; [`SchedulerError::Host`] if the host refuses the scheduling. No
    /// thread remains then.
    pub fn start(
        self,
        body: impl FnOnce() + Send + 'static,
    ) -> Result<JoinHandle<()>, SchedulerError> {
        let Self {
            name,
            scheduling,
            priority,
            soft,
        } = self;
        let (ready, started) = sync_channel(1);
        let thread = Builder::new().name(name.clone()).spawn(move || {
            let given = scheduling.map_or(Ok(()), give_scheduling);
            let given = if soft { Ok(()) } else { given };
            let runs = given.is_ok();
            // The thread that starts this one waits for it.
            let _ = ready.send(given);
            if runs {
                priority::while_at(priority, body);
            }
        });
        let thread = thread.map_err(|cause| SchedulerError::Thread {
            name: name.clone(),
            cause,
        })?;
        let error = match started.recv() {
            Ok(Ok(())) => return Ok(thread),
            Ok(Err(cause)) => SchedulerError::Host { name, cause },
            Err(_) => SchedulerError::Panicked(name),
        };
        // What it has come to is known.
        let _ = thread.join();
        Err(error)
    }
}
