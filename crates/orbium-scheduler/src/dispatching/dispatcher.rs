// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread for each queue of a schedule, which runs submitted work in the order of the queue.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use orbium::lane::RealTimeError;
use orbium::lock::{Mutex, MutexGuard};
use orbium_sched::{Queue, Table};

use crate::clock::{Clock, MonotonicClock};
use crate::dispatching::job::{Job, Overload, overloads};
use crate::dispatching::ready_queue::Waiting;
use crate::dispatching::thread::{ScheduledThread, Started};
use crate::dispatching::work_queue::{Refused, WorkQueue};
use crate::error::SchedulerError;

/// A thread at its native priority for each queue of a schedule. A queue runs waiting work in the
/// order of its dispatching: by subpriority, earliest deadline or least laxity. A run is not
/// preempted by another one of its queue.
///
/// ```
/// use orbium_sched::{Dispatching, Entry, Queue, Strategy, Table};
/// use orbium_scheduler::{Dispatcher, Overload};
///
/// static SCHEDULE: Table = Table {
///     strategy: Strategy::Edf,
///     entries: &[Entry::new("Log::write", (0, 0, 99), 500_000, 10_000)],
///     queues: &[Queue { priority: 99, dispatching: Dispatching::Deadline }],
///     ..Table::EMPTY
/// };
/// const LOG_WRITE: usize = 0;
///
/// let dispatcher = Dispatcher::builder(&SCHEDULE)
///     .soft(true)
///     .overload(LOG_WRITE, Overload::Skip)
///     .start()?;
/// let (done, ended) = std::sync::mpsc::channel();
/// dispatcher.submit(LOG_WRITE, move |_job| { let _ = done.send(()); })?;
/// let ran = ended.recv().is_ok();
/// dispatcher.stop();
/// # assert!(ran || dispatcher.counts(LOG_WRITE).is_some_and(|it| it.skipped == 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Dispatcher {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    refused: Vec<(usize, RealTimeError)>,
}

struct Shared {
    table: &'static Table,
    clock: Box<dyn Clock>,
    queues: Vec<WorkQueue<Work>>,
    operations: Vec<OperationState>,
}

type Work = Box<dyn FnOnce(&Job<'_>) + Send>;

#[derive(Default)]
struct OperationState {
    overload: Overload,
    number: AtomicU64,
    runs: AtomicU64,
    late: AtomicU64,
    skipped: AtomicU64,
    cancelled: AtomicU64,
    refused: AtomicU64,
    panicked: AtomicU64,
}

/// Counts of the runs of an operation, by their outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Runs that ended.
    pub runs: u64,
    /// Runs that ended after their deadline and were not cancelled.
    pub late: u64,
    /// Runs that were skipped because their deadline had passed.
    pub skipped: u64,
    /// Runs that returned because they were cancelled.
    pub cancelled: u64,
    /// Runs that were refused because their queue was full.
    pub refused: u64,
    /// Runs that panicked.
    pub panicked: u64,
}

/// Error of submitting a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SubmitError {
    /// The schedule has no operation of that index.
    UnknownOperation(usize),
    /// The queue is full.
    Full,
    /// The dispatcher has been stopped.
    Stopped,
}

impl fmt::Display for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownOperation(index) => write!(f, "the schedule has no operation {index}"),
            Self::Full => f.write_str("the queue of the operation is full"),
            Self::Stopped => f.write_str("the dispatcher has been stopped"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for SubmitError {}

/// Builder of a [`Dispatcher`].
pub struct DispatcherBuilder {
    table: &'static Table,
    bound: usize,
    overload: Vec<(usize, Overload)>,
    soft: bool,
    clock: Box<dyn Clock>,
}

impl DispatcherBuilder {
    /// The maximum number of runs that wait in each queue; beyond, [`SubmitError::Full`]. Default:
    /// 256.
    #[must_use]
    pub fn bound(mut self, runs: usize) -> Self {
        self.bound = runs;
        self
    }

    /// Sets the treatment of runs of an operation that cannot meet their deadlines. Default:
    /// they run late.
    #[must_use]
    pub fn overload(mut self, operation: usize, overload: Overload) -> Self {
        self.overload.push((operation, overload));
        self
    }

    /// Sets whether threads continue without native priorities if the host refuses them, which
    /// [`Dispatcher::refused`] and a warning in the log report. Default: an error.
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

    /// Starts the threads.
    ///
    /// # Errors
    /// `UnknownTask` for an overload policy of an unknown operation; [`SchedulerError::Priority`],
    /// [`SchedulerError::Thread`], [`SchedulerError::Host`], with no thread remaining.
    pub fn start(self) -> Result<Dispatcher, SchedulerError> {
        let (soft, shared) = (self.soft, Arc::new(self.shared()?));
        let mut dispatcher = Dispatcher {
            shared: Arc::clone(&shared),
            threads: Mutex::default(),
            refused: Vec::new(),
        };
        for number in 0..shared.queues.len() {
            let Started { thread, refused } = start_thread(&shared, number, soft)?;
            dispatcher.threads().push(thread);
            dispatcher
                .refused
                .extend(refused.map(|error| (number, error)));
        }
        Ok(dispatcher)
    }

    fn shared(self) -> Result<Shared, SchedulerError> {
        let overloads = overloads(self.table, self.overload)?.into_iter();
        let operations = overloads.map(|overload| OperationState {
            overload,
            ..OperationState::default()
        });
        let queue = |it: &Queue| WorkQueue::new(it.dispatching, self.bound);
        Ok(Shared {
            table: self.table,
            clock: self.clock,
            queues: self.table.queues.iter().map(queue).collect(),
            operations: operations.collect(),
        })
    }
}

/// Starts the thread of a queue, which serves once it has its native priority.
fn start_thread(
    shared: &Arc<Shared>,
    number: usize,
    soft: bool,
) -> Result<Started, SchedulerError> {
    let (queue, of_thread) = (shared.table.queues[number], Arc::clone(shared));
    let wanted = ScheduledThread::of_queue(&format!("queue-{number}"), &queue)?;
    ScheduledThread { soft, ..wanted }.start(move || of_thread.serve(number))
}

impl Dispatcher {
    /// A dispatcher by that schedule.
    #[must_use]
    pub fn builder(table: &'static Table) -> DispatcherBuilder {
        DispatcherBuilder {
            table,
            bound: 256,
            overload: Vec::new(),
            soft: false,
            clock: Box::new(MonotonicClock::default()),
        }
    }

    /// Submits `work` to the queue of an operation. It is released now, and its deadline is the
    /// operation's period from now.
    ///
    /// # Errors
    /// [`SubmitError`]; `work` is dropped.
    pub fn submit(
        &self,
        operation: usize,
        work: impl FnOnce(&Job<'_>) + Send + 'static,
    ) -> Result<(), SubmitError> {
        self.submit_released(operation, self.shared.clock.now(), work)
    }

    /// As [`Self::submit`], for work that was released at that time of the dispatcher's clock.
    ///
    /// # Errors
    /// [`SubmitError`]; `work` is dropped.
    pub fn submit_released(
        &self,
        operation: usize,
        released: Duration,
        work: impl FnOnce(&Job<'_>) + Send + 'static,
    ) -> Result<(), SubmitError> {
        let unknown = SubmitError::UnknownOperation(operation);
        let entry = self.shared.table.entries.get(operation).ok_or(unknown)?;
        let (number, _) = self.shared.table.queue_of(entry).ok_or(unknown)?;
        let times = (released, entry.deadline(released));
        let submitted =
            self.shared.queues[number].submit((operation, entry), times, Box::new(work));
        submitted.map_err(|refused| match refused {
            Refused::Closed(_) => SubmitError::Stopped,
            Refused::Full(_) => {
                let refused = &self.shared.operations[operation].refused;
                refused.fetch_add(1, Ordering::Relaxed);
                SubmitError::Full
            }
        })
    }

    /// The numbers of the queues that run without their native priority, with the reasons of the
    /// host; with [`DispatcherBuilder::soft`].
    #[must_use]
    pub fn refused(&self) -> &[(usize, RealTimeError)] {
        &self.refused
    }

    /// The counts of the runs of an operation, by outcome; none for an index beyond the
    /// table.
    #[must_use]
    pub fn counts(&self, operation: usize) -> Option<Counts> {
        self.shared
            .operations
            .get(operation)
            .map(OperationState::counts)
    }

    /// Runs that wait in a queue; none for a number beyond the table.
    #[must_use]
    pub fn waiting(&self, queue: usize) -> Option<usize> {
        self.shared.queues.get(queue).map(WorkQueue::len)
    }

    /// Waits for the end of running work, except a run that calls this, and drops waiting work. A
    /// second call has no effect.
    pub fn stop(&self) {
        for queue in &self.shared.queues {
            queue.close();
        }
        let own = std::thread::current().id();
        let threads = std::mem::take(&mut *self.threads());
        for thread in threads.into_iter().filter(|it| it.thread().id() != own) {
            // Runs that panic do not end it.
            let _ = thread.join();
        }
        for queue in &self.shared.queues {
            while let Some(waiting) = queue.pop() {
                drop(waiting);
            }
        }
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock()
    }
}

/// Stops it.
impl Drop for Dispatcher {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher")
            .field("queues", &self.shared.queues.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for DispatcherBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DispatcherBuilder")
            .field("bound", &self.bound)
            .field("overload", &self.overload)
            .field("soft", &self.soft)
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// The loop of a queue's thread until the dispatcher is stopped.
    fn serve(&self, number: usize) {
        let queue = &self.queues[number];
        while let Some(waiting) = queue.next() {
            self.run(waiting);
        }
    }

    fn run(&self, waiting: Waiting<Work>) {
        let operation = &self.operations[waiting.operation];
        let number = operation.number.fetch_add(1, Ordering::Relaxed);
        let (released, deadline) = (waiting.released, waiting.deadline);
        let job = Job::new(
            (number, released),
            deadline,
            operation.overload,
            &*self.clock,
        );
        if operation.overload != Overload::RunLate && job.is_late() {
            operation.skipped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let work = waiting.work;
        let ended = catch_unwind(AssertUnwindSafe(|| work(&job)));
        match (ended, job.was_cancelled()) {
            (Err(_), _) => operation.panicked.fetch_add(1, Ordering::Relaxed),
            (Ok(()), true) => operation.cancelled.fetch_add(1, Ordering::Relaxed),
            (Ok(()), false) => operation
                .late
                .fetch_add(job.is_late().into(), Ordering::Relaxed),
        };
        // After the others: a thread that sees the run sees its outcome.
        operation.runs.fetch_add(1, Ordering::Release);
    }
}

impl OperationState {
    fn counts(&self) -> Counts {
        let runs = self.runs.load(Ordering::Acquire);
        let count = |it: &AtomicU64| it.load(Ordering::Relaxed);
        Counts {
            runs,
            late: count(&self.late),
            skipped: count(&self.skipped),
            cancelled: count(&self.cancelled),
            refused: count(&self.refused),
            panicked: count(&self.panicked),
        }
    }
}
