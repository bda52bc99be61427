// SPDX-License-Identifier: MIT OR Apache-2.0
//! A lane's queue and its worker threads: all requests of a worker pool; with other strategies the
//! requests that arrived over another lane's connection.
//!
//! When all threads block in nested calls, another one is started, up to a limit. At the limit
//! requests are refused, so that their clients get an exception rather than wait indefinitely.

mod calling;
mod item;
mod putting;
mod queue;
mod resizing;
mod worker;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use orbium_sync::ThreadCache;
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};

use crate::lane::sizes::{Sizes, Surplus};
use item::Item;
use orbium_lane::thread::Setup;
use orbium_lane::{LaneConfig, Order, QueueBounds};
use orbium_request::Host;
use orbium_sync::{StartBarrier, StartGuard};
use queue::Queue;

/// A larger buffer is freed after the request.
const MAX_RETAINED_BUFFER: usize = 1 << 20;

/// Initial size of a buffer: most requests and replies are smaller.
const SMALL: usize = 8 * 1024;

/// The next task of a thread.
#[expect(
    clippy::large_enum_variant,
    reason = "a request is moved once, from the queue to the thread: a box would be an allocation"
)]
enum Work {
    /// An item of this lane.
    Own(Item),
    /// An item of another lane, which has borrowed a thread.
    For(Arc<Pool>),
}

struct State {
    waiting: Queue,
    /// Buffers for requests, one per worker.
    room: Vec<Vec<u8>>,
    /// Connections with a oneway in progress: later requests wait for it. At most one per thread.
    oneways: Vec<u64>,
    /// Lanes that have borrowed a thread.
    loans: VecDeque<Arc<Pool>>,
    /// The number of idle threads.
    idle: usize,
    /// The number of threads that are not waiting in nested calls.
    active: usize,
    /// The number of all threads.
    alive: usize,
    /// Whether no thread is left, and none can be started.
    stalled: bool,
    closed: bool,
    /// Whether no thread stays.
    retired: bool,
    sizes: Sizes,
    surplus: Surplus,
}

impl State {
    /// Whether no thread stays, but queued requests cannot begin yet.
    #[cold]
    fn is_held_up(&self) -> bool {
        self.retired && self.waiting.all() > 0
    }
}

/// The queue and its threads.
pub(crate) struct Pool {
    host: Host,
    threads: ThreadCache,
    refused: AtomicU64,
    /// The number of threads that have replied, or were just started, and will be idle soon. A
    /// client that already has its reply can count on them.
    answering: AtomicUsize,
    lane: u32,
    setup: Arc<Setup>,
    pub(crate) order: Order,
    /// Maximum number of threads, including those that replace others in nested calls.
    most: usize,
    /// Whether it is a queue with workers of its own.
    is_pool: bool,
    /// Whether the queue is limited to fewer bytes than a message may have.
    bounds_octets: AtomicBool,
    /// The queue bounds shared with other lanes.
    queue_bounds: Option<QueueBounds>,
    /// Whether another thread is started when all wait in nested calls.
    replaces_waiting: bool,
    borrows_from: Vec<Arc<Pool>>,
    /// Whether it has no threads of its own.
    served_by_callers: bool,
    state: Mutex<State>,
    changed: Condvar,
}

impl Pool {
    pub(crate) fn new(
        host: &Host,
        lane: u32,
        config: &LaneConfig,
        borrows_from: Vec<Arc<Self>>,
        (setup, threads): (&Arc<Setup>, &ThreadCache),
    ) -> Arc<Self> {
        let limits = host.context.limits();
        let sizes = Sizes::of_queue(&config.sizes(), limits);
        let bounds_octets = sizes.bound_octets(config.queue_bounds.as_ref(), limits);
        Arc::new(Self {
            host: host.clone(),
            threads: threads.clone(),
            refused: AtomicU64::new(0),
            answering: AtomicUsize::new(0),
            lane,
            setup: Arc::clone(setup),
            order: config.order,
            most: limits.serving_threads,
            is_pool: config.is_pool(),
            bounds_octets: AtomicBool::new(bounds_octets),
            queue_bounds: config.queue_bounds.clone(),
            // Threads of the program are not counted.
            replaces_waiting: config.replaces_waiting && !config.served_by_callers,
            borrows_from,
            served_by_callers: config.served_by_callers,
            state: Mutex::new(State {
                waiting: Queue::new(sizes.octets),
                room: Vec::new(),
                oneways: Vec::new(),
                loans: VecDeque::new(),
                idle: 0,
                active: 0,
                alive: 0,
                stalled: false,
                closed: false,
                retired: false,
                sizes,
                surplus: Surplus::default(),
            }),
            changed: Condvar::new(),
        })
    }

    /// Starts the static threads; all have started when this returns.
    pub(crate) fn start(self: &Arc<Self>) -> io::Result<()> {
        let barrier = StartBarrier::default();
        let started = {
            let mut state = self.lock();
            let fixed = state.sizes.fixed;
            state.room = (0..=fixed).map(|_| Vec::with_capacity(SMALL)).collect();
            (0..fixed).try_for_each(|_| self.add_thread(&mut state, Some(barrier.guard())))
        };
        barrier.wait();
        started
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The number of requests refused so far because the queue was full.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Counts requests refused because the queue was full.
    pub(crate) fn count_refused(&self, requests: usize) {
        self.refused.fetch_add(requests as u64, Ordering::Relaxed);
    }

    /// The number of queued requests.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().waiting.all()
    }

    /// Whether no request is queued, or served and not answered yet.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.waiting.all() == 0 && self.soon_idle(&state) == state.alive
    }

    /// The capacity of the queue.
    pub(crate) fn capacity(&self) -> usize {
        self.lock().sizes.capacity
    }

    /// Whether the queue is limited to fewer bytes than a message may have.
    pub(crate) fn bounds_octets(&self) -> bool {
        // It guards no data.
        self.bounds_octets.load(Ordering::Relaxed)
    }

    /// Makes threads check the queue again: a connection can send again, or has ended.
    pub(crate) fn look_again(&self) {
        // Not between a thread's check and its wait.
        drop(self.lock());
        self.changed.notify_all();
    }

    /// Drops the queued requests of a lost connection.
    pub(crate) fn forget(&self, connection: u64) {
        let which = |item: &Item| item.is_request(|it| it.connection().id == connection);
        // Dropped after the lock is released: that may end the connection.
        let _removed = self.removed(&mut self.lock(), &which);
    }

    /// Removes the matching items, which frees capacity for others.
    fn removed(&self, state: &mut State, which: &dyn Fn(&Item) -> bool) -> Vec<Item> {
        let mut removed = state.waiting.remove(which);
        // Also of the bounds shared by several lanes.
        removed.iter_mut().for_each(Item::give_place_back);
        if state
            .waiting
            .refill(state.sizes.capacity, self.queue_bounds.as_ref())
            && state.idle > 0
        {
            self.changed.notify_all();
        }
        removed
    }

    /// Closes the queue. Queued requests are dropped with their connections; those of connections
    /// that stay open are refused: connections of other lanes, and ones with a request in progress;
    /// and so are collocated calls.
    pub(crate) fn close(&self) {
        let left = {
            let mut state = self.lock();
            state.closed = true;
            state.loans.clear();
            state.waiting.remove(&|_| true)
        };
        self.refuse(&left);
    }

    /// Ends the threads when they are idle; others are started for requests handed off later.
    pub(crate) fn retire(&self) {
        if self.served_by_callers {
            // The program's threads wait for its end.
            return self.close();
        }
        let mut state = self.lock();
        let before = state.sizes.fixed;
        state.retired = true;
        state.sizes.fixed = 0;
        state.sizes.grows_to = state.sizes.grows_to.max(1);
        state.sizes.idle_time = Duration::ZERO;
        let alive = state.alive;
        state.surplus.change(before, 0, alive);
        drop(state);
        self.changed.notify_all();
    }

    /// Drops or refuses queued requests, as [`close`](Self::close) does; requests handed off later
    /// are served.
    pub(crate) fn refuse_waiting(&self) {
        let all = |_: &Item| true;
        let left = self.removed(&mut self.lock(), &all);
        self.refuse(&left);
    }

    /// Refuses items that were not begun, or drops them with their connections.
    fn refuse(&self, left: &[Item]) {
        self.changed.notify_all();
        let mut waiting = HashMap::<u64, usize>::new();
        for item in left {
            *waiting.entry(item.sharer()).or_default() += 1;
        }
        let stays_open = |item: &&Item| {
            item.connection().is_none_or(|connection| {
                let waiting = waiting[&connection.id];
                connection.lane() != self.lane || connection.serves_more_than(waiting)
            })
        };
        left.iter().filter(stays_open).for_each(Item::refuse);
    }

    /// Starts a thread, which drops `guard` once it has begun.
    fn add_thread(
        self: &Arc<Self>,
        state: &mut State,
        guard: Option<StartGuard>,
    ) -> io::Result<()> {
        let pool = Arc::clone(self);
        self.threads.run(move || {
            let storage = Vec::with_capacity(SMALL);
            drop(guard);
            pool.work(storage);
        })?;
        // Under the lock, which the thread needs before it is idle.
        self.answering.fetch_add(1, Ordering::AcqRel);
        state.active += 1;
        state.alive += 1;
        Ok(())
    }

    /// The next task, in exchange for the buffer of the previous one; `None` if this thread is
    /// surplus.
    fn next(&self, mut octets: Vec<u8>, answered: bool) -> Option<Work> {
        let mut state = self.lock();
        if answered {
            self.answering.fetch_sub(1, Ordering::AcqRel);
        }
        let has_room = state.room.len() <= state.sizes.fixed;
        if (1..=MAX_RETAINED_BUFFER).contains(&octets.capacity()) && has_room {
            octets.clear();
            state.room.push(octets);
        } else {
            // Not after a wait of this thread.
            drop(octets);
        }
        let mut waited_enough = false;
        while !state.closed && state.active <= state.sizes.grows_to {
            // A borrower is more urgent, and was promised a thread.
            if let Some(borrower) = state.loans.pop_front() {
                return Some(Work::For(borrower));
            }
            if let Some(item) = self.take(&mut state) {
                return Some(Work::Own(item));
            }
            let spare = state.active > state.sizes.fixed && !state.is_held_up();
            if spare && (waited_enough || state.surplus.is_there()) {
                break;
            }
            state.idle += 1;
            (state, waited_enough) = self.wait(state, spare);
            state.idle -= 1;
        }
        state.active -= 1;
        state.alive -= 1;
        state.surplus.end_one();
        // A wake-up for this thread is passed on.
        self.changed.notify_one();
        None
    }

    /// Waits for a task, a surplus thread only for some time; returns whether that is over.
    fn wait<'a>(&self, state: MutexGuard<'a, State>, spare: bool) -> (MutexGuard<'a, State>, bool) {
        if !spare {
            return (self.changed.wait(state), false);
        }
        let idle_time = state.sizes.idle_time;
        let (state, result) = self.changed.wait_timeout(state, idle_time);
        (state, result.timed_out())
    }

    /// Takes the first item that may begin.
    fn take(&self, state: &mut State) -> Option<Item> {
        let State {
            waiting,
            oneways,
            sizes,
            ..
        } = state;
        let may_begin = |item: &Item| {
            let Some(connection) = item.connection() else {
                return true;
            };
            // Another lane's connection does not notify this lane when replies can be sent again.
            let held_up = connection.lane() == self.lane && connection.is_held_up();
            !held_up && !oneways.contains(&connection.id)
        };
        let mut item = waiting.take(may_begin)?;
        item.begin(&self.host.context, (self.lane, self.setup.name()));
        if waiting.refill(sizes.capacity, self.queue_bounds.as_ref()) && state.idle > 0 {
            self.changed.notify_one();
        }
        if let Some(connection) = item.oneway() {
            oneways.push(connection);
        }
        Some(item)
    }

    /// Lets requests after a oneway begin.
    fn oneway_ends(&self, state: &mut State, connection: u64) {
        state.oneways.retain(|id| *id != connection);
        if state.idle > 0 {
            self.changed.notify_all();
        }
    }

    /// Records that a thread is about to wait in a nested call.
    #[cold]
    fn wait_begins(self: &Arc<Self>) {
        if !self.replaces_waiting {
            return;
        }
        let refused = {
            let mut state = self.lock();
            state.active -= 1;
            let all_wait = state.active == 0 && !state.closed;
            if !all_wait || state.alive < self.most && self.add_thread(&mut state, None).is_ok() {
                return;
            }
            state.stalled = true;
            state.waiting.remove(&|_| true)
        };
        crate::log::warn!(target: "orbium::lane", "all threads wait in calls of their own: requests are refused");
        self.count_refused(refused.len());
        refused.iter().for_each(Item::refuse);
    }

    /// Records that a thread resumes after a nested call.
    fn wait_ends(&self) {
        if self.replaces_waiting {
            let mut state = self.lock();
            state.active += 1;
            state.stalled = false;
        }
    }
}
