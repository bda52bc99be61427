// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that run once the host has applied their scheduling.

use std::sync::mpsc::sync_channel;
use std::thread::{Builder, JoinHandle};

use orbium::lane::{
    Priority, RealTimeError, Reservation, Scheduling, priority, set_thread_scheduling,
};
use orbium_sched::Queue;

use crate::dispatching::lanes::{corba_priority, scheduling};
use crate::error::SchedulerError;

/// A thread to be started, with its scheduling.
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
/// let started = thread.start(|| println!("{:?}", orbium::lane::priority::current()))?;
/// let ended = started.thread.join();
/// # assert!(ended.is_ok());
/// # Ok::<(), orbium_scheduler::SchedulerError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ScheduledThread {
    /// Its name, in errors too.
    pub name: String,
    /// Scheduling class and native priority; none for those of the thread that starts it.
    pub scheduling: Option<Scheduling>,
    /// Processor time that the host reserves for it, in place of the scheduling class and priority.
    pub reservation: Option<Reservation>,
    /// The CORBA priority that its calls carry.
    pub priority: Option<Priority>,
    /// Whether it continues if the host refuses the reservation or the scheduling; without
    /// reservation it has the scheduling. [`Started::refused`] and a warning in the log report
    /// that. Default: no.
    pub soft: bool,
}

/// A started thread.
#[derive(Debug)]
pub struct Started {
    /// The thread.
    pub thread: JoinHandle<()>,
    /// The refusal of the host, with which a soft thread continues.
    pub refused: Option<RealTimeError>,
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
            reservation: None,
            soft: false,
        })
    }

    /// Starts the thread, and waits until it has its scheduling.
    ///
    /// # Errors
    /// [`SchedulerError::Thread`]; [`SchedulerError::Host`] if the host refuses the scheduling. No
    /// thread remains then.
    pub fn start(self, body: impl FnOnce() + Send + 'static) -> Result<Started, SchedulerError> {
        let (name, priority) = (self.name.clone(), self.priority);
        let (ready, started) = sync_channel(1);
        let thread = Builder::new().name(name.clone()).spawn(move || {
            let given = self.prepare();
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
            Ok(Ok(refused)) => {
                if let Some(error) = &refused {
                    tracing::warn!(
                        target: "orbium::scheduler", thread = name, %error,
                        "the thread runs without its native priority or reservation"
                    );
                }
                return Ok(Started { thread, refused });
            }
            Ok(Err(cause)) => SchedulerError::Host { name, cause },
            Err(_) => SchedulerError::Panicked(name),
        };
        // Its outcome is known.
        let _ = thread.join();
        Err(error)
    }

    /// Applies the scheduling to the calling thread; returns the refusal of the host if the thread
    /// continues with it.
    fn prepare(&self) -> Result<Option<RealTimeError>, RealTimeError> {
        let reserved = self.reservation.map(Reservation::apply_to_this_thread);
        let not_reserved = match reserved {
            Some(Ok(())) => return Ok(None),
            Some(Err(error)) if !self.soft => return Err(error),
            Some(Err(error)) => Some(error),
            None => None,
        };
        match self.scheduling.map_or(Ok(()), set_thread_scheduling) {
            Err(error) if !self.soft => Err(error),
            given => Ok(not_reserved.or(given.err())),
        }
    }
}
