// SPDX-License-Identifier: MIT OR Apache-2.0
//! Periodic tasks.

mod releases;
pub(crate) mod statistics;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use orbium::lane::{Priority, RealTimeError, Reservation, Scheduling};
use orbium::lock::Mutex;
use orbium_sched::{SchedError, Table};

use crate::clock::{Clock, MonotonicClock};
use crate::dispatching::job::{Job, Overload};
use crate::dispatching::lanes::{corba_priority, scheduling};
use crate::dispatching::thread::{ScheduledThread, Started};
use crate::error::SchedulerError;
use crate::periodic::releases::{Poll, Release, Releases};
use crate::periodic::statistics::{End, Measured, Recorder, Statistics};

/// A thread that runs an operation once in each period, at absolute times: no delay of one run
/// shifts the next. Its deadline is its period.
///
/// ```
/// use std::time::Duration;
/// use orbium_scheduler::PeriodicTask;
///
/// let (done, count) = std::sync::mpsc::channel();
/// let task = PeriodicTask::every("beacon", Duration::from_millis(2))
///     .start(move |_job| { let _ = done.send(()); })?;
/// count.recv()?;
/// count.recv()?;
/// let statistics = task.stop()?;
/// assert!(statistics.runs >= 1);
/// println!("jitter: {:?}", statistics.jitter.max());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PeriodicTask {
    name: String,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    refused: Option<RealTimeError>,
}

#[derive(Debug, Default)]
struct Shared {
    is_stopped: AtomicBool,
    statistics: Mutex<Statistics>,
}

/// Builder of a [`PeriodicTask`].
pub struct PeriodicTaskBuilder {
    name: String,
    period: Duration,
    offset: Duration,
    overload: Overload,
    scheduling: Option<Scheduling>,
    reservation: Option<Reservation>,
    priority: Option<Priority>,
    soft: bool,
    clock: Box<dyn Clock>,
}

impl PeriodicTask {
    /// A task with that name and period, at the priority of the thread that starts it.
    #[must_use]
    pub fn every(name: &str, period: Duration) -> PeriodicTaskBuilder {
        PeriodicTaskBuilder {
            name: name.to_owned(),
            period,
            offset: Duration::ZERO,
            overload: Overload::default(),
            scheduling: None,
            reservation: None,
            priority: None,
            soft: false,
            clock: Box::new(MonotonicClock::default()),
        }
    }

    /// A task for the operation of that index: with its name, its period, the native priority of
    /// its queue, and the CORBA priority that its calls carry.
    ///
    /// # Errors
    /// `UnknownTask` for an index beyond the table; [`SchedulerError::Priority`].
    pub fn scheduled(
        table: &Table,
        operation: usize,
    ) -> Result<PeriodicTaskBuilder, SchedulerError> {
        let entry = table.entry(operation)?;
        let unknown = || SchedError::UnknownTask(operation.to_string());
        let (_, queue) = table.queue_of(entry).ok_or_else(unknown)?;
        let mut builder = Self::every(entry.name, entry.period.as_duration());
        builder.scheduling = Some(scheduling(queue.dispatching, queue.priority));
        builder.priority = Some(corba_priority(queue.priority)?);
        Ok(builder)
    }

    /// The present statistics.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.shared.statistics.lock().clone()
    }

    /// The refusal of the host, with which a [soft](PeriodicTaskBuilder::soft) task continues.
    #[must_use]
    pub fn refused(&self) -> Option<&RealTimeError> {
        self.refused.as_ref()
    }

    /// Whether its thread is running.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|it| !it.is_finished())
    }

    /// Waits for the end of the present run, which is the last one, unless the run itself calls
    /// this; returns the statistics.
    ///
    /// # Errors
    /// [`SchedulerError::Panicked`] if a run panicked.
    pub fn stop(mut self) -> Result<Statistics, SchedulerError> {
        if self.end() {
            Ok(self.statistics())
        } else {
            Err(SchedulerError::Panicked(self.name.clone()))
        }
    }

    /// Ends the thread; returns whether it ended without a panic.
    fn end(&mut self) -> bool {
        self.shared.is_stopped.store(true, Ordering::Release);
        let Some(thread) = self.thread.take() else {
            return true;
        };
        thread.thread().unpark();
        // A run that ends its own task cannot wait for itself.
        thread.thread().id() == thread::current().id() || thread.join().is_ok()
    }
}

/// Ends the task as [`PeriodicTask::stop`] does.
impl Drop for PeriodicTask {
    fn drop(&mut self) {
        self.end();
    }
}

impl PeriodicTaskBuilder {
    /// The time from the start to the first release. Default: none.
    #[must_use]
    pub fn offset(mut self, offset: Duration) -> Self {
        self.offset = offset;
        self
    }

    /// Sets the treatment of missed releases. Default: the task runs late, once for each.
    #[must_use]
    pub fn overload(mut self, overload: Overload) -> Self {
        self.overload = overload;
        self
    }

    /// Scheduling class and native priority of its thread. Default: those of the thread that starts
    /// it, or of the schedule.
    #[must_use]
    pub fn scheduling(mut self, scheduling: Scheduling) -> Self {
        self.scheduling = Some(scheduling);
        self
    }

    /// Reserves that runtime in each period, by the deadline of the period (SCHED_DEADLINE), in
    /// place of the native priority: the host refuses the task if it cannot guarantee that, and a
    /// run that takes longer continues in the next period. Unused runtime is available to others.
    ///
    /// ```
    /// use std::time::Duration;
    /// use orbium_scheduler::PeriodicTask;
    ///
    /// let ms = Duration::from_millis;
    /// let task = PeriodicTask::every("beacon", ms(10)).reserve(ms(1)).soft(true).start(|_job| {})?;
    /// if let Some(error) = task.refused() {
    ///     println!("nothing is reserved: {error}");
    /// }
    /// # Ok::<(), orbium_scheduler::SchedulerError>(())
    /// ```
    #[must_use]
    pub fn reserve(mut self, runtime: Duration) -> Self {
        self.reservation = Some(Reservation::new(runtime, self.period));
        self
    }

    /// Lets a task with a reservation also use the unused time of other reservations:
    /// [`Reservation::reclaiming`].
    #[must_use]
    pub fn reclaim(mut self) -> Self {
        self.reservation = self.reservation.map(Reservation::reclaiming);
        self
    }

    /// Sets whether the task continues without reservation and native priority if the host refuses
    /// them; [`PeriodicTask::refused`] has the reason. Default: an error.
    #[must_use]
    pub fn soft(mut self, soft: bool) -> Self {
        self.soft = soft;
        self
    }

    /// The clock. Default: [`MonotonicClock`].
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Starts the task, which runs `work` for each release.
    ///
    /// # Errors
    /// [`SchedulerError::NoPeriod`]; [`SchedulerError::Thread`], and [`SchedulerError::Host`] if the
    /// host refuses the reservation or the native priority.
    pub fn start(
        self,
        work: impl FnMut(&Job<'_>) + Send + 'static,
    ) -> Result<PeriodicTask, SchedulerError> {
        if self.period.is_zero() {
            return Err(SchedulerError::NoPeriod(self.name));
        }
        let shared = Arc::new(Shared::default());
        let (name, of_thread) = (self.name.clone(), Arc::clone(&shared));
        let wanted = ScheduledThread {
            name: name.clone(),
            scheduling: self.scheduling,
            reservation: self.reservation,
            priority: self.priority,
            soft: self.soft,
        };
        let Started { thread, refused } = wanted.start(move || self.serve(&of_thread, work))?;
        Ok(PeriodicTask {
            name,
            shared,
            thread: Some(thread),
            refused,
        })
    }

    /// The loop of the thread.
    fn serve(self, shared: &Shared, mut work: impl FnMut(&Job<'_>)) {
        let clock = &*self.clock;
        let now = clock.now();
        let first = now.saturating_add(self.offset);
        let mut releases = Releases::new(self.period, self.overload, (now, first));
        let mut recorder = Recorder::new(&shared.statistics);
        while !shared.is_stopped.load(Ordering::Acquire) {
            match releases.poll(clock.now()) {
                Poll::Wait(length) => clock.park(length),
                Poll::ClockWentBack => recorder.record(Measured::ClockWentBack),
                Poll::Run(release) => {
                    recorder.record(self.run(&release, &mut work));
                }
            }
        }
    }

    fn run(&self, release: &Release, work: &mut impl FnMut(&Job<'_>)) -> Measured {
        let clock = &*self.clock;
        let deadline = release.due.saturating_add(self.period);
        let identity = (release.number, release.due);
        let job = Job::new(identity, Some(deadline), self.overload, clock);
        let begun = clock.now();
        work(&job);
        let ended = clock.now();
        Measured::Run {
            skipped: release.skipped,
            jumped: release.jumped,
            jitter: begun.saturating_sub(release.due),
            response: ended.saturating_sub(release.due),
            end: match (job.was_cancelled(), ended > deadline) {
                (true, _) => End::Cancelled,
                (false, true) => End::Late,
                (false, false) => End::InTime,
            },
        }
    }
}

impl fmt::Debug for PeriodicTaskBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeriodicTaskBuilder")
            .field("name", &self.name)
            .field("period", &self.period)
            .field("offset", &self.offset)
            .field("overload", &self.overload)
            .field("scheduling", &self.scheduling)
            .field("reservation", &self.reservation)
            .field("soft", &self.soft)
            .finish_non_exhaustive()
    }
}
