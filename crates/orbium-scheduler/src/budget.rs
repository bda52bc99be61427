// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processor time budgets of requests.

mod watchdog;
use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub use orbium::budget::BudgetCounts;
use orbium::budget::OperationBudget;
use orbium::interceptor::{
    DuplicateName, Interceptors, Interrupt, ReceiveContexts, ReceiveRequest, SendException,
    SendOther, SendReply, ServerInterceptor,
};
use orbium::{SystemException, lane::Scheduling};
use orbium_sched::Table;

use crate::budget::watchdog::Watchdog;
use crate::calibration::ThreadClock;
use crate::clock::Clock;
use crate::dispatching::thread::ScheduledThread;
use crate::error::SchedulerError;
use crate::operations::Operations;

/// Monitors the processor time of requests: the budget of each operation of a table is its
/// worst-case execution time. A request that exceeds it continues and is counted; its servant can
/// query the [remainder](Self::remaining), and return early. Nested requests that the same thread
/// serves are charged to their own operations.
///
/// ```
/// use orbium::Orb;
/// use orbium::interceptor::Interceptors;
/// use orbium_sched::Table;
/// use orbium_scheduler::CpuBudgets;
///
/// static SCHEDULE: Table = Table::EMPTY;
/// let budgets = CpuBudgets::new(&SCHEDULE);
/// let mut interceptors = Interceptors::new();
/// budgets.install(&mut interceptors)?;
/// let orb = Orb::builder().interceptors(interceptors).build()?;
/// // In a servant:
/// if CpuBudgets::remaining().is_some_and(|it| it.is_zero()) {
///     // Return what there is.
/// }
/// assert_eq!(budgets.counts(0), None);
/// # drop(orb);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CpuBudgets(Arc<Shared>);

struct Shared {
    /// The names for metrics.
    names: Vec<String>,
    /// `None` for operations without a budget.
    budgets: Vec<Option<Duration>>,
    /// By their indices in the table.
    operations: Operations<usize>,
    counters: Vec<Counters>,
    clock: Arc<dyn Clock>,
    watchdog: OnceLock<Watchdog>,
    on_overrun: OnceLock<OnOverrun>,
}

type OnOverrun = Box<dyn Fn(Overrun) + Send + Sync>;

#[derive(Default)]
struct Counters {
    requests: AtomicU64,
    overruns: AtomicU64,
    /// In nanoseconds.
    longest: AtomicU64,
}

impl Counters {
    fn counts(&self) -> BudgetCounts {
        BudgetCounts {
            requests: self.requests.load(Ordering::Acquire),
            overruns: self.overruns.load(Ordering::Relaxed),
            longest: Duration::from_nanos(self.longest.load(Ordering::Relaxed)),
        }
    }
}

/// A request that exceeded its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// The index of its operation.
    pub operation: usize,
    /// The budget.
    pub budget: Duration,
    /// The consumed processor time.
    pub taken: Duration,
}

/// A request in progress.
struct Served {
    clock: Arc<dyn Clock>,
    /// `None` for an operation that is not in the table.
    operation: Option<usize>,
    budget: Option<Duration>,
    begun: Duration,
    /// The time of nested requests of this thread.
    of_others: Duration,
}

thread_local! {
    /// The requests of this thread: upcalls nest.
    static SERVED: RefCell<Vec<Served>> = const { RefCell::new(Vec::new()) };
}

impl Served {
    /// The time since the beginning, and the same without other requests.
    fn taken(&self) -> (Duration, Duration) {
        let all = self.clock.now().saturating_sub(self.begun);
        (all, all.saturating_sub(self.of_others))
    }
}

impl CpuBudgets {
    /// Budgets of the operations of a table. Those without execution time have none.
    #[must_use]
    pub fn new(table: &'static Table) -> Self {
        Self::with_clock(table, ThreadClock::default())
    }

    /// As [`Self::new`], with another clock than that of the thread's processor time.
    #[must_use]
    pub fn with_clock(table: &'static Table, clock: impl Clock) -> Self {
        let entries = table.entries.iter();
        Self::of(
            entries.map(|it| (it.name, it.worst_case.as_duration())),
            clock,
        )
    }

    /// Budgets of operations without a table, by the names that a schedule would have:
    /// `Module::Interface::operation`. Their indices are their positions. Zero is no budget.
    ///
    /// ```
    /// use std::time::Duration;
    /// use orbium_scheduler::CpuBudgets;
    ///
    /// let budgets = CpuBudgets::of_operations(&[("Rudder::steer", Duration::from_millis(2))]);
    /// assert_eq!(budgets.counts(0).map(|it| it.overruns), Some(0));
    /// ```
    #[must_use]
    pub fn of_operations(operations: &[(&'static str, Duration)]) -> Self {
        Self::of(operations.iter().copied(), ThreadClock::default())
    }

    fn of(operations: impl Iterator<Item = (&'static str, Duration)>, clock: impl Clock) -> Self {
        let (names, budgets): (Vec<_>, Vec<_>) = operations.unzip();
        let budgets = budgets.into_iter();
        let budgets: Vec<_> = budgets
            .map(|it| Some(it).filter(|it| !it.is_zero()))
            .collect();
        let label = |name: &&str| match name.rsplit_once("::") {
            Some((interface, operation)) => format!("{interface}/{operation}"),
            None => (*name).to_owned(),
        };
        Self(Arc::new(Shared {
            names: names.iter().map(label).collect(),
            operations: Operations::of(names.into_iter().zip(0..)),
            counters: budgets.iter().map(|_| Counters::default()).collect(),
            budgets,
            clock: Arc::new(clock),
            watchdog: OnceLock::new(),
            on_overrun: OnceLock::new(),
        }))
    }

    /// Sets a call-back for each request that exceeded its budget, called by the thread that served
    /// it before its reply is sent. Only the first call has an effect.
    pub fn on_overrun(&self, report: impl Fn(Overrun) + Send + Sync + 'static) {
        // A second one has no effect, as documented.
        let _ = self.0.on_overrun.set(Box::new(report));
    }

    /// Adds the monitoring interceptor of an ORB. Several ORBs can share budgets.
    ///
    /// # Errors
    /// [`DuplicateName`]: these interceptors already include it.
    pub fn install(&self, interceptors: &mut Interceptors) -> Result<(), DuplicateName> {
        interceptors.add_server(Watch(Arc::clone(&self.0)))
    }

    /// Starts a thread that demotes threads which serve requests beyond their budgets: they have
    /// the scheduling `lower` for the rest of the request, and their own again after it. The thread
    /// runs with `watchdog`, above those that it monitors; it reads the processor time of threads,
    /// whatever the clock of the budgets. Only the first call has an effect.
    ///
    /// # Errors
    /// As [`ScheduledThread::start`].
    pub fn demote(
        &self,
        lower: Scheduling,
        watchdog: ScheduledThread,
    ) -> Result<(), SchedulerError> {
        if self.0.watchdog.get().is_none() {
            // If another call was first, this one's thread ends.
            let _ = self.0.watchdog.set(Watchdog::start(lower, watchdog)?);
        }
        Ok(())
    }

    /// The number of demotions.
    #[must_use]
    pub fn demotions(&self) -> u64 {
        self.0.watchdog.get().map_or(0, Watchdog::demotions)
    }

    /// The remainder of the budget of the request that the calling thread serves; zero once it
    /// is exceeded, none without a request or a budget.
    #[must_use]
    pub fn remaining() -> Option<Duration> {
        SERVED.with_borrow(|served| {
            let served = served.last()?;
            let (_, own) = served.taken();
            served.budget.map(|budget| budget.saturating_sub(own))
        })
    }

    /// The consumption of the requests for the operation of that index; none beyond the
    /// table.
    #[must_use]
    pub fn counts(&self, operation: usize) -> Option<BudgetCounts> {
        self.0.counters.get(operation).map(Counters::counts)
    }
}

impl fmt::Debug for CpuBudgets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CpuBudgets")
            .field("operations", &self.0.counters.len())
            .finish_non_exhaustive()
    }
}

/// The interceptor.
struct Watch(Arc<Shared>);

impl Watch {
    fn begin(&self) {
        let clock = Arc::clone(&self.0.clock);
        let served = Served {
            begun: clock.now(),
            clock,
            operation: None,
            budget: None,
            of_others: Duration::ZERO,
        };
        SERVED.with_borrow_mut(|all| all.push(served));
        if let Some(watchdog) = self.0.watchdog.get() {
            watchdog.begin();
        }
    }

    fn end(&self) {
        if let Some(watchdog) = self.0.watchdog.get() {
            watchdog.end();
        }
        let ended = SERVED.with_borrow_mut(|all| {
            let ended = all.pop()?;
            let (whole, own) = ended.taken();
            if let Some(outer) = all.last_mut() {
                outer.of_others = outer.of_others.saturating_add(whole);
            }
            Some((ended.operation?, ended.budget, own))
        });
        let Some((operation, budget, own)) = ended else {
            return;
        };
        let counters = &self.0.counters[operation];
        let nanoseconds = u64::try_from(own.as_nanos()).unwrap_or(u64::MAX);
        counters.longest.fetch_max(nanoseconds, Ordering::Relaxed);
        let exceeded = budget.filter(|budget| own > *budget);
        counters
            .overruns
            .fetch_add(exceeded.is_some().into(), Ordering::Relaxed);
        // After the others: a thread that sees the request sees its consumption.
        counters.requests.fetch_add(1, Ordering::Release);
        if let (Some(budget), Some(report)) = (exceeded, self.0.on_overrun.get()) {
            report(Overrun {
                operation,
                budget,
                taken: own,
            });
        }
    }
}

impl ServerInterceptor for Watch {
    fn name(&self) -> &str {
        "orbium processor budgets"
    }

    fn budgets(&self) -> Vec<OperationBudget> {
        let Shared {
            names,
            budgets,
            counters,
            ..
        } = &*self.0;
        let all = names.iter().zip(budgets).zip(counters);
        let watched = all.filter_map(|((name, budget), counters)| {
            let counts = counters.counts();
            Some(OperationBudget::new(name.clone(), (*budget)?, counts))
        });
        watched.collect()
    }

    fn receive_request_service_contexts(
        &self,
        _: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        self.begin();
        Ok(())
    }

    fn receive_request(&self, request: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        let operation = self.0.operations.served(request);
        let budget = operation.and_then(|index| *self.0.budgets.get(index)?);
        if let (Some(watchdog), Some(budget)) = (self.0.watchdog.get(), budget) {
            watchdog.limit(budget);
        }
        SERVED.with_borrow_mut(|all| {
            if let Some(served) = all.last_mut() {
                served.operation = operation;
                served.budget = budget;
            }
        });
        Ok(())
    }

    fn send_reply(&self, _: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        self.end();
        Ok(())
    }

    fn send_exception(&self, _: &mut SendException<'_, '_>) -> Result<(), Interrupt> {
        self.end();
        Ok(())
    }

    fn send_other(&self, _: &mut SendOther<'_, '_>) -> Result<(), Interrupt> {
        self.end();
        Ok(())
    }
}
