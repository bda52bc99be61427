// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dispatch of requests by a schedule: each operation in the lane of its queue.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use orbium::giop::riop::Riop;
use orbium::{
    Completion, ExceptionKind, Interface, SystemException,
    hook::{Dispatch, DispatchHook, RequestInfo},
    lane::{Lane, RequestTiming},
    reference::OBJECT_REPOSITORY_ID,
};
use orbium_sched::{Entry, Table};

use crate::clock::{Clock, MonotonicClock};
use crate::dispatching::job::{Overload, overloads};
use crate::error::SchedulerError;
use crate::operations::Operations;

/// A dispatch hook by a schedule: the operation of a request is served by the lane of its queue,
/// whatever its client requests, so that clients of other ORBs and those that send no priority are
/// served as scheduled. Requests for operations that are not in the table are unaffected.
///
/// The deadline of a request is the period of its operation after its arrival, or that of its RIOP
/// context if that is earlier. A [lane by deadline or laxity](orbium::lane::Order) orders waiting
/// requests by that and by the execution time of the table, one by subpriority by that of the
/// table, and the [overload policy](Overload) of the operation applies to it:
///
/// | policy | a request that has not begun by its deadline | one that is being served then |
/// |---|---|---|
/// | `RunLate` | is served | goes on |
/// | `Skip` | is answered with TIMEOUT, completed NO | goes on |
/// | `Cancel` | is answered with TIMEOUT, completed NO | finds its deadline in `Call::deadline` and returns an exception |
///
/// Clones are the same hook. The interface of an object is that of its servant, or of the default
/// servant. A servant that a servant manager has not yet incarnated has none:
/// [`ScheduleDispatchBuilder::objects`] sets the interface of the objects of its adapter.
///
/// ```
/// use std::sync::Arc;
/// use orbium::{Orb, hook::Hook, poa::Policies};
/// use orbium_sched::Table;
/// use orbium_scheduler::{Overload, ScheduleDispatch, ScheduledLanes};
///
/// # static SCHEDULE: Table = Table::EMPTY;
/// let orb = Orb::builder().build()?;
/// let lanes = ScheduledLanes::new(&SCHEDULE).start(&orb)?;
/// let by_schedule = ScheduleDispatch::builder(&SCHEDULE, &lanes)
///     // .overload(schedule::LOG_WRITE, Overload::Skip)
///     .build()?;
/// let policies = Policies {
///     lanes,
///     dispatch: Some(Hook(Arc::new(by_schedule.clone()))),
///     ..Policies::default()
/// };
/// let adapter = orb.root_poa().create_poa("sensors", None, policies)?;
/// assert_eq!(by_schedule.counts(0), None);
/// # let _ = (adapter, Overload::Skip);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ScheduleDispatch(Arc<Shared>);

struct Shared {
    table: &'static Table,
    lanes: Vec<Lane>,
    /// By their indices in the table.
    operations: Operations<usize>,
    /// The interfaces of objects without servants, by the paths of their adapters.
    objects: Vec<(String, KnownInterface)>,
    states: Vec<State>,
    clock: Box<dyn Clock>,
    /// The origin of the clock.
    origin: Instant,
}

#[derive(Default)]
struct State {
    overload: Overload,
    arrived: AtomicU64,
    served: AtomicU64,
    late: AtomicU64,
    skipped: AtomicU64,
    cancelled: AtomicU64,
}

/// Counts of the requests for an operation, by their outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// Requests that have arrived.
    pub arrived: u64,
    /// Requests that a servant has served, including those with an exception.
    pub served: u64,
    /// Of these, requests that ended after their deadline and were not cancelled.
    pub late: u64,
    /// Requests that were not begun because their deadline had passed.
    pub skipped: u64,
    /// Requests that ended with a system exception after their deadline, under
    /// [`Overload::Cancel`].
    pub cancelled: u64,
}

/// An interface and its bases, by their repository ids.
#[derive(Clone, Copy, Debug)]
struct KnownInterface {
    id: &'static str,
    bases: &'static [&'static str],
}

/// Builder of a [`ScheduleDispatch`].
pub struct ScheduleDispatchBuilder {
    table: &'static Table,
    lanes: Vec<Lane>,
    overload: Vec<(usize, Overload)>,
    objects: Vec<(String, KnownInterface)>,
    clock: Box<dyn Clock>,
}

impl ScheduleDispatchBuilder {
    /// Sets the treatment of requests for an operation that cannot meet their deadlines. Default:
    /// they run late.
    #[must_use]
    pub fn overload(mut self, operation: usize, overload: Overload) -> Self {
        self.overload.push((operation, overload));
        self
    }

    /// Sets the interface `I` of the objects of the adapter of that path, such as
    /// `RootPOA/sensors`, until a servant manager has incarnated their servants. An adapter can
    /// have several; the first of them with an operation of the requested name counts.
    ///
    /// ```
    /// # use orbium_sched::Table;
    /// # use orbium_scheduler::{ScheduleDispatch, ScheduleDispatchBuilder};
    /// fn with_tracks<Track: orbium::Interface>(builder: ScheduleDispatchBuilder) -> ScheduleDispatchBuilder {
    ///     builder.objects::<Track>("RootPOA/tracks")
    /// }
    /// ```
    #[must_use]
    pub fn objects<I: Interface>(mut self, adapter: impl Into<String>) -> Self {
        let (id, bases) = (I::REPOSITORY_ID, I::BASES);
        self.objects
            .push((adapter.into(), KnownInterface { id, bases }));
        self
    }

    /// The clock of deadlines. Default: [`MonotonicClock`].
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// The hook.
    ///
    /// # Errors
    /// [`SchedulerError::Lanes`] unless there is one lane for each queue; `UnknownTask` for an
    /// overload policy of an unknown operation.
    pub fn build(self) -> Result<ScheduleDispatch, SchedulerError> {
        let (lanes, queues) = (self.lanes.len(), self.table.queues.len());
        if lanes != queues {
            return Err(SchedulerError::Lanes { lanes, queues });
        }
        let names = self.table.entries.iter().map(|it| it.name);
        let overloads = overloads(self.table, self.overload)?.into_iter();
        let states = overloads.map(|overload| State {
            overload,
            ..State::default()
        });
        Ok(ScheduleDispatch(Arc::new(Shared {
            table: self.table,
            lanes: self.lanes,
            operations: Operations::of(names.zip(0..)),
            objects: self.objects,
            states: states.collect(),
            origin: Instant::now(),
            clock: self.clock,
        })))
    }
}

impl ScheduleDispatch {
    /// A hook for that schedule; these lanes are its queues, the most urgent first, as returned by
    /// [`ScheduledLanes::start`](crate::ScheduledLanes::start).
    #[must_use]
    pub fn builder(table: &'static Table, lanes: &[Lane]) -> ScheduleDispatchBuilder {
        ScheduleDispatchBuilder {
            table,
            lanes: lanes.to_vec(),
            overload: Vec::new(),
            objects: Vec::new(),
            clock: Box::new(MonotonicClock::default()),
        }
    }

    /// The counts of the requests for an operation; none for an index beyond the table.
    #[must_use]
    pub fn counts(&self, operation: usize) -> Option<RequestCounts> {
        let state = self.0.states.get(operation)?;
        let count = |it: &AtomicU64| it.load(Ordering::Acquire);
        Some(RequestCounts {
            arrived: count(&state.arrived),
            served: count(&state.served),
            late: count(&state.late),
            skipped: count(&state.skipped),
            cancelled: count(&state.cancelled),
        })
    }
}

impl Shared {
    /// The operation of a request.
    fn operation(&self, request: &RequestInfo<'_>) -> Option<(&State, &'static Entry)> {
        let name = std::str::from_utf8(request.operation()).ok()?;
        let target = request.target();
        let interface = target.repository_id();
        let index = match &*interface {
            OBJECT_REPOSITORY_ID if self.objects.is_empty() => None,
            OBJECT_REPOSITORY_ID => self.of_adapter(&target.adapter().0, name),
            id => self.operations.of_target(name, id, |id| target.is_a(id)),
        }?;
        Some((self.states.get(index)?, self.table.entries.get(index)?))
    }

    /// The operation of that name of an object without a servant.
    #[cold]
    fn of_adapter(&self, path: &str, name: &str) -> Option<usize> {
        let mut known = self.objects.iter().filter(|(of, _)| of == path);
        known.find_map(|(_, it)| {
            let is_a = |id: &str| it.bases.contains(&id);
            self.operations.of_target(name, it.id, is_a)
        })
    }

    /// The timing of a request that has arrived now.
    fn timing(&self, request: &RequestInfo<'_>, state: &State, entry: &Entry) -> RequestTiming {
        let now = self.clock.now();
        let said = Riop::of(&request.service_contexts());
        let said = said.and_then(|it| now.checked_add(it.deadline()?));
        let deadline = [entry.deadline(now), said].into_iter().flatten().min();
        RequestTiming {
            deadline: deadline.and_then(|it| self.origin.checked_add(it)),
            execution: entry.worst_case.as_duration(),
            subpriority: entry.assignment.subpriority,
            is_for_servant: state.overload == Overload::Cancel,
        }
    }

    /// Whether the deadline of a request has passed.
    fn is_late(&self, request: &RequestInfo<'_>) -> bool {
        let deadline = request.timing().and_then(|it| it.deadline);
        let since = |it: Instant| it.saturating_duration_since(self.origin);
        deadline.is_some_and(|it| self.clock.now() > since(it))
    }
}

impl DispatchHook for ScheduleDispatch {
    fn arrived(&self, request: &RequestInfo<'_>) -> Dispatch {
        let Some((state, entry)) = self.0.operation(request) else {
            return Dispatch::Here;
        };
        let queue = self.0.table.queue_of(entry);
        let Some(lane) = queue.and_then(|(number, _)| self.0.lanes.get(number)) else {
            return Dispatch::Here;
        };
        state.arrived.fetch_add(1, Ordering::Release);
        Dispatch::Timed(lane.clone(), self.0.timing(request, state, entry))
    }

    fn begins(&self, request: &RequestInfo<'_>) -> Result<(), SystemException> {
        if !self.0.is_late(request) {
            return Ok(());
        }
        match self.0.operation(request) {
            Some((state, _)) if state.overload != Overload::RunLate => {
                state.skipped.fetch_add(1, Ordering::Release);
                // The request was not begun by its deadline.
                Err(SystemException::omg(
                    ExceptionKind::Timeout,
                    2,
                    Completion::No,
                ))
            }
            _ => Ok(()),
        }
    }

    fn leaves(
        &self,
        request: &RequestInfo<'_>,
        failed: Option<SystemException>,
    ) -> Option<SystemException> {
        let Some((state, _)) = self.0.operation(request) else {
            return failed;
        };
        if self.0.is_late(request) {
            let outcome = if state.overload == Overload::Cancel && failed.is_some() {
                &state.cancelled
            } else {
                &state.late
            };
            outcome.fetch_add(1, Ordering::Release);
        }
        // After the others: a thread that sees the request sees its outcome.
        state.served.fetch_add(1, Ordering::Release);
        failed
    }
}

impl fmt::Debug for ScheduleDispatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScheduleDispatch")
            .field("operations", &self.0.states.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ScheduleDispatchBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScheduleDispatchBuilder")
            .field("overload", &self.overload)
            .finish_non_exhaustive()
    }
}
