// SPDX-License-Identifier: MIT OR Apache-2.0
//! A connected consumer: its filter, its queue, its health.

mod blocked;
mod blocking;
mod checking;
mod dropped;
mod holding;
mod offering;
mod pulling;
mod reasons;
mod serving;
mod taking;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::task::Waker;
use std::thread::Thread;
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use orbium::lock::{Condvar, Mutex, MutexGuard};

use crate::config::{ChannelConfig, Dispatching};
use crate::delivery::consumer::blocked::Blocked;
use crate::delivery::consumer::reasons::{PACED, PULLED};
use crate::delivery::consumer::serving::{Joined, Serving, Waiter};
use crate::delivery::dispatch::Place;
use crate::delivery::health::{FailurePolicy, Health};
use crate::delivery::queue::limits::Rank;
use crate::delivery::queue::{Behind, EventSet, Put, Queue};
use crate::delivery::release_guard::ReleaseGuard;
use crate::event::SharedEvent;
use crate::peer::Sink;
use crate::pool::MAX_RETAINED;
use crate::selection::{Batches, ConsumerOptions, Selection};
use crate::statistics::{ConsumerStatistics, Counter};
use crate::subscription::filter::Filter;
use crate::subscription::leaf::AtomicLeaf;
use crate::subscription::pattern::Pattern;
use crate::subscription::schedule::{Firing, TimerSchedule};
use crate::supply::operations::Consumption;

/// A consumer and its subscription. Events are offered under its lock; the thread that serves it
/// takes from the queue without the lock.
pub(crate) struct Consumer {
    pub(crate) id: u64,
    state: Mutex<State>,
    queue: Queue,
    /// The type and source of its subscription, which are compared without the lock.
    leaf: AtomicLeaf,
    /// Its selection of events, before they are offered.
    selection: Option<Arc<dyn Selection>>,
    /// Maximum number of events in a batch: stored under the lock.
    batch: AtomicUsize,
    /// Whether incomplete batches wait: likewise.
    is_paced: AtomicBool,
    /// Reasons for which waiting events are not pushed, in bits: stored under the lock.
    held: AtomicU8,
    /// Notified for threads that pull.
    arrived: Condvar,
    /// Whether events wait while its health is not `Well`.
    waits_for_suspect: bool,
    serving: Serving,
    sink: ArcSwap<Arc<dyn Sink>>,
    /// The waker of the task that serves it, once it has waited: stored under the lock.
    waker: ArcSwapOption<Waker>,
    /// Whether its health is not `Well`: stored under the lock, read without it.
    is_suspect: AtomicBool,
    /// Whether the connection has ended: likewise.
    is_closed: AtomicBool,
    counts: Counts,
    failure: FailurePolicy,
    dispatching: Dispatching,
    /// Its place in the schedule, if there is one.
    pub(crate) place: Option<Place>,
    pub(crate) guard: Option<ReleaseGuard>,
    /// Its operation in a schedule, or 0, and whether another process runs the operation.
    operation: (i32, bool),
}

#[derive(Default)]
struct Counts {
    delivered: Counter,
    discarded: Counter,
    suspended: Counter,
    lost: Counter,
    /// The dropped events that a push has reported to it.
    reported: Counter,
}

struct State {
    pattern: Pattern,
    is_gateway: bool,
    filter: Filter,
    schedule: TimerSchedule,
    /// Counts the subscriptions, to invalidate the timers of earlier ones.
    epoch: u64,
    is_suspended: bool,
    health: Health,
    /// The thread that serves it, with per-consumer dispatching.
    thread: Option<Thread>,
    behind: Behind,
    /// The time for which an incomplete batch waits, and the time of the timer that ends it.
    pacing: Duration,
    timed: Option<Instant>,
    /// The number of threads that pull.
    pulling: usize,
    /// The events that the filter passes; retained for its memory.
    passed: Vec<SharedEvent>,
}

/// The service of a consumer: pushed or pulled.
#[derive(Clone, Copy)]
pub(crate) enum Service {
    /// Events are pushed; with a schedule by the queue of that place.
    Pushed(Option<Place>),
    Pulled,
}

/// A set of events with the consumer to which it is pushed.
pub(crate) type Delivery = (Arc<dyn Sink>, EventSet);

/// The action that remains for events that have passed the filter, without the lock.
pub(crate) enum Action {
    Nothing,
    /// Wake the thread or task that serves the queue.
    Notify(Waiter),
    /// Push this, and then the sets that [`Consumer::next_or_end`] returns.
    Push(Arc<dyn Sink>, EventSet),
    /// Check at that time for a batch that has waited for its interval; this replaces the later
    /// time, if there is one.
    Pace(Instant, Option<Instant>),
    /// Submit the consumer to the queue of its place, for events that arrived at that time.
    Submit(Place, Instant),
    /// Disconnect the consumer: the queue is full, and that is its policy.
    Disconnect,
}

/// The next time of a timer, or its event.
pub(crate) enum Due {
    Never,
    At(Instant),
    Fired(Firing),
}

impl Consumer {
    pub(crate) fn new(
        id: u64,
        config: &ChannelConfig,
        (pattern, options): (Pattern, ConsumerOptions),
        service: Service,
        (sink, is_gateway): (Arc<dyn Sink>, bool),
    ) -> Self {
        let limits = options.queue.unwrap_or(config.queue);
        let (leaf, filter) = (AtomicLeaf::of(&pattern), Filter::new(&pattern));
        let filter = filter.with_clearing(config.clearing);
        let filter = filter.with_bytes(limits.bytes);
        let Batches { events, pacing } = options.batches;
        let (place, held) = match service {
            Service::Pulled => (None, PULLED),
            Service::Pushed(place) if pacing.is_zero() => (place, 0),
            Service::Pushed(place) => (place, PACED),
        };
        let guard = ReleaseGuard::of(config, &pattern, place.and_then(|it| it.period()));
        let mut behind = Behind::new(limits);
        let queue = Queue::new(limits);
        queue.hold(&mut behind, held != 0);
        let state = State {
            is_gateway,
            schedule: TimerSchedule::new(filter.timers(), Instant::now()),
            filter,
            pattern,
            epoch: 0,
            is_suspended: false,
            health: Health::Well,
            thread: None,
            behind,
            pacing,
            timed: None,
            pulling: 0,
            passed: Vec::new(),
        };
        Self {
            id,
            state: Mutex::new(state),
            queue,
            leaf,
            selection: options.selection,
            batch: AtomicUsize::new(events),
            is_paced: AtomicBool::new(!pacing.is_zero()),
            held: AtomicU8::new(held),
            arrived: Condvar::new(),
            waits_for_suspect: options.waits_for_suspect,
            serving: Serving::default(),
            sink: ArcSwap::from_pointee(sink),
            waker: ArcSwapOption::empty(),
            is_suspect: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            counts: Counts::default(),
            failure: options.failure.unwrap_or(config.failure),
            dispatching: config.dispatching,
            place,
            guard,
            operation: (options.rt_info, options.is_remote),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Replaces sink and subscription. Waiting events remain; those that conjunctions have
    /// collected are discarded.
    pub(crate) fn reconnect(
        &self,
        sink: Arc<dyn Sink>,
        pattern: Pattern,
        is_gateway: bool,
        now: Instant,
    ) {
        let mut state = self.lock();
        state.filter = state.filter.replaced(&pattern);
        state.schedule = TimerSchedule::new(state.filter.timers(), now);
        state.epoch += 1;
        self.leaf.set(&pattern);
        (state.pattern, state.is_gateway) = (pattern, is_gateway);
        self.sink.store(Arc::new(sink));
        state.health = Health::Well;
        self.is_suspect.store(false, Ordering::Release);
    }

    /// The number of the subscription, and its timers with their due times.
    pub(crate) fn timers(&self) -> (u64, Vec<(usize, Instant)>) {
        let state = self.lock();
        (state.epoch, state.schedule.iter().collect())
    }

    /// The event of a timer, if it is due and belongs to the present subscription.
    pub(crate) fn fire(&self, timer: usize, epoch: u64, now: Instant) -> Due {
        let mut state = self.lock();
        match state.schedule.due(timer) {
            _ if self.is_closed() || state.epoch != epoch => Due::Never,
            None => Due::Never,
            Some(due) if due > now => Due::At(due),
            Some(_) => match state.schedule.fire(timer, now) {
                Some(firing) => Due::Fired(firing),
                None => Due::Never,
            },
        }
    }

    /// Offers the event of a timer, and returns its next due time.
    pub(crate) fn offer_timer(
        &self,
        timer: usize,
        epoch: u64,
        event: SharedEvent,
        at: Instant,
    ) -> (Action, Option<Instant>) {
        let mut state = self.lock();
        if self.is_closed() || state.epoch != epoch {
            return (Action::Nothing, None);
        }
        let of_timer = (Some(timer), Rank::default());
        let action = self
            .offer_to(&mut state, &[event], of_timer, at)
            .unwrap_or_else(|blocked| self.discard_blocked(&blocked));
        (action, state.schedule.due(timer))
    }

    /// The action for events that pass the filter, or a set that is to wait for space.
    fn offer_to(
        &self,
        state: &mut State,
        events: &[SharedEvent],
        (timer, rank): (Option<usize>, Rank),
        now: Instant,
    ) -> Result<Action, Blocked> {
        let State { filter, passed, .. } = state;
        if self.is_closed() {
            return Ok(Action::Nothing);
        }
        let passes = filter.offer(events, timer, passed);
        let set = EventSet::take(passed);
        passed.shrink_to(MAX_RETAINED);
        match filter.take_discarded() {
            0 => {}
            discarded => self.counts.discarded.add(discarded),
        }
        if passes {
            state.schedule.restart_deadlines(now);
        }
        let Some(set) = set else {
            return Ok(Action::Nothing);
        };
        if !self.takes(state, &set) {
            return Ok(Action::Nothing);
        }
        self.push_or_enqueue(state, (set, rank), now)
    }

    /// The action for a set that is to be pushed: by this thread, unless another one serves the
    /// consumer.
    fn push_or_enqueue(
        &self,
        state: &mut State,
        (set, rank): (EventSet, Rank),
        now: Instant,
    ) -> Result<Action, Blocked> {
        let is_reactive = self.dispatching == Dispatching::Reactive && !self.is_held();
        if is_reactive && self.serving.join() == Joined::First {
            return Ok(Action::Push(self.sink(), set));
        }
        self.enqueue(state, (set, rank), now)
    }

    fn enqueue(
        &self,
        state: &mut State,
        (set, rank): (EventSet, Rank),
        now: Instant,
    ) -> Result<Action, Blocked> {
        let events = set.len();
        Ok(match self.queue.put(&mut state.behind, set, rank, now) {
            Put::Queued { discarded } => {
                self.counts.discarded.add(discarded);
                self.queued(state, now)
            }
            Put::Discarded { others } => {
                self.counts.discarded.add(events + others);
                Action::Nothing
            }
            Put::Overflow => {
                self.counts.discarded.add(events);
                Action::Disconnect
            }
            Put::Full(set, time) => {
                let limits = state.behind.limits();
                return Err(Blocked {
                    set,
                    rank,
                    limits,
                    time,
                });
            }
        })
    }

    /// The action after a set was put into the queue.
    fn queued(&self, state: &mut State, now: Instant) -> Action {
        match (self.dispatching, self.place) {
            _ if self.is_held() => self.put_while_held(state),
            (Dispatching::Reactive, _) => Action::Nothing,
            (_, Some(place)) => match self.serving.join() {
                Joined::First => Action::Submit(place, now),
                Joined::Later => Action::Nothing,
            },
            // With others in the queue its thread or task is still serving, and checks for more.
            (_, None) if self.queue.len() > 1 => Action::Nothing,
            (_, None) => self.notify(state),
        }
    }

    /// The action that notifies the thread or task that serves the queue.
    fn notify(&self, state: &State) -> Action {
        let task = self.waker.load_full().map(Waiter::Task);
        let waiter = task.or_else(|| state.thread.clone().map(Waiter::Thread));
        waiter.map_or(Action::Nothing, Action::Notify)
    }

    /// Discards the waiting events: the queue of its place is full.
    pub(crate) fn discard(&self) {
        let mut state = self.lock();
        self.serving.remain(0);
        let discarded = self.clear(&mut state.behind);
        self.counts.discarded.add(discarded);
    }

    pub(crate) fn sink(&self) -> Arc<dyn Sink> {
        Arc::clone(&self.sink.load())
    }

    pub(crate) fn is_suspect(&self) -> bool {
        self.is_suspect.load(Ordering::Acquire)
    }

    /// Drops events from now on, and the waiting ones.
    pub(crate) fn suspend(&self) {
        let mut state = self.lock();
        state.is_suspended = true;
        let dropped = self.clear(&mut state.behind);
        self.counts.suspended.add(dropped);
    }

    pub(crate) fn resume(&self) {
        self.lock().is_suspended = false;
    }

    /// Ends the connection; false if it has ended already.
    pub(crate) fn close(&self) -> bool {
        let mut state = self.lock();
        let was_open = !self.is_closed.swap(true, Ordering::AcqRel);
        self.clear(&mut state.behind);
        let thread = state.thread.take().map(Waiter::Thread);
        drop(state);
        self.arrived.notify_all();
        let task = self.waker.load_full().map(Waiter::Task);
        task.into_iter().chain(thread).for_each(Waiter::wake);
        was_open
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Its subscription, unless it is a gateway.
    pub(crate) fn subscription(&self) -> Option<Pattern> {
        let state = self.lock();
        (!state.is_gateway).then(|| state.pattern.clone())
    }

    /// The handle of its operation in a schedule, or 0.
    pub(crate) fn rt_info(&self) -> i32 {
        self.operation.0
    }

    /// Its entry for a schedule, if it has named its operation.
    pub(crate) fn consumption(&self) -> Option<Consumption> {
        let (rt_info, is_remote) = self.operation;
        (rt_info != 0).then(|| Consumption {
            pattern: self.lock().pattern.clone(),
            rt_info,
            is_remote,
        })
    }

    pub(crate) fn statistics(&self) -> ConsumerStatistics {
        let state = self.lock();
        ConsumerStatistics {
            id: self.id,
            delivered: self.counts.delivered.count(),
            discarded: self.counts.discarded.count(),
            suspended: self.counts.suspended.count(),
            lost: self.counts.lost.count(),
            expired: self.queue.expired(),
            queued: self.queue.len(),
            is_suspended: state.is_suspended || self.is_paused(),
            is_suspect: !state.health.is_well(),
        }
    }
}
