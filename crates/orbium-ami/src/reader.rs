// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reader of one priority: receives replies and runs the timers of calls.

mod sources;
mod thread;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use orbium_channel::Channel;
use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_invocation::exceptions::already_shut_down;
use orbium_invocation::{Priority, RealTime, priority, scheduling};
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sync::{JobQueue, ThreadCache, ThreadOptions};
use orbium_sys::{Interest, Poller, Waker};

use super::line::Line;
use super::line::end::End;
use super::pending_call::PendingCall;
use orbium_client::ClientContext;
use orbium_client::request_path::RequestPath;
use orbium_connection::ClientConfig;
use orbium_connection::connecting::{connector, no_thread};
use orbium_connection::counts::{Counted, Counts};
use orbium_connection::pool::Pool;
use orbium_connection::pool_key::PoolKey;
use orbium_invocation::call_exceptions::exhausted;

type Job = Box<dyn FnOnce() + Send>;

/// Time for which idle threads and connections are retained if the configuration does not set it.
const LINGER: Duration = Duration::from_secs(30);

/// Maximum number of threads that send requests again.
const SENDING_THREADS: usize = 2;

/// The token of the waker.
const WAKER: u64 = u64::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Running {
    No,
    Begins,
    Yes,
}

struct State {
    /// Lines that accept requests.
    lines: HashMap<PoolKey, Arc<Line>>,
    /// The last used of them: most callers use it again.
    recent: Option<Arc<Line>>,
    /// Lines registered with the poller, by number.
    watched: HashMap<u64, Arc<Line>>,
    /// Timers by time and number of the call.
    timers: BTreeMap<(Instant, u64), Arc<dyn PendingCall>>,
    /// Lines to check regardless of the readiness of their sources.
    looks: Vec<Arc<Line>>,
    /// Lines with requests left to the reader.
    deferred: Vec<Arc<Line>>,
    /// Whether its thread waits, or is about to, so that it must be woken.
    is_waiting: bool,
    last_line: u64,
    running: Running,
    /// The reason why its thread could not start.
    refused: Option<SystemException>,
    thread: Option<orbium_sys::Thread>,
    ended: bool,
    /// There are jobs, but no thread is available for them.
    lacks_threads: bool,
    /// Time since when it has been idle.
    idle_since: Instant,
}

impl State {
    /// Of a reader before its thread runs.
    fn new() -> Self {
        Self {
            lines: HashMap::new(),
            recent: None,
            watched: HashMap::new(),
            timers: BTreeMap::new(),
            looks: Vec::new(),
            deferred: Vec::new(),
            is_waiting: true,
            last_line: 0,
            running: Running::No,
            refused: None,
            thread: None,
            ended: false,
            lacks_threads: false,
            idle_since: Instant::now(),
        }
    }

    /// The line to a server, unless it has just ended.
    fn line(&mut self, pool: &Arc<Pool>) -> Option<Arc<Line>> {
        let is_usable = |line: &&Arc<Line>| !line.is_over();
        let recent = self.recent.as_ref().filter(|line| line.is_of(pool));
        if let Some(line) = recent.filter(is_usable) {
            return Some(Arc::clone(line));
        }
        self.recent = self.lines.get(pool.key()).filter(is_usable).cloned();
        self.recent.clone()
    }
}

/// A receiving thread, its sources, and worker threads for tasks that block: all of one priority.
pub(crate) struct Reader {
    priority: Option<Priority>,
    config: Arc<ClientConfig>,
    counts: Arc<Counts>,
    real_time: Option<Arc<dyn RealTime>>,
    poller: Poller,
    waker: Arc<Waker>,
    state: Mutex<State>,
    begun: Condvar,
    threads: ThreadCache,
    /// Threads that wait for replies of other processes. Shutdown does not wait for them, nor for
    /// any other caller.
    callers: ThreadCache,
    handlers: Arc<JobQueue>,
    chores: Arc<JobQueue>,
    /// Points of interceptors.
    points: Arc<JobQueue>,
    /// The number of calls that threads make and wait for.
    performed: Arc<AtomicUsize>,
}

impl Reader {
    /// A reader for callers of that priority.
    ///
    /// # Errors
    /// The system refuses descriptors.
    pub(crate) fn new(client: &ClientContext, priority: Option<Priority>) -> io::Result<Arc<Self>> {
        let (poller, waker) = (Poller::new()?, Arc::new(Waker::new()?));
        poller.add(waker.source(), WAKER, Interest::Read)?;
        let config = client.config();
        let real_time = client.real_time().cloned();
        let of_threads = real_time.clone();
        let options = ThreadOptions {
            begin: Some(Arc::new(move || {
                if let Err(exception) = begin(of_threads.as_ref(), priority) {
                    orbium_trace::log::warn!(target: "orbium::lane", %exception, "a thread without its priority");
                }
            })),
            ..ThreadOptions::default()
        };
        let start = orbium_sys::spawn_detached;
        Ok(Arc::new(Self {
            priority,
            config: Arc::clone(config),
            counts: Arc::clone(client.counts()),
            real_time,
            poller,
            waker,
            state: Mutex::new(State::new()),
            begun: Condvar::new(),
            threads: ThreadCache::with_starter("orbium-handler", LINGER, options.clone(), start),
            callers: ThreadCache::with_starter("orbium-caller", LINGER, options, start),
            handlers: JobQueue::new(config.limits.reply_threads),
            chores: JobQueue::new(SENDING_THREADS),
            points: JobQueue::new(config.limits.reply_threads),
            performed: Arc::default(),
        }))
    }

    pub(super) fn priority(&self) -> Option<Priority> {
        self.priority
    }

    pub(super) fn counted(&self, channel: &Channel) -> Counted {
        Counted::new(&self.counts, channel)
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The line to a candidate, which is opened if necessary.
    pub(super) fn line(
        self: &Arc<Self>,
        way: &RequestPath<'_>,
        pool: &Arc<Pool>,
    ) -> Result<Arc<Line>, SystemException> {
        let key = pool.key();
        if let Some(line) = self.lock().line(pool) {
            return Ok(line);
        }
        let connector = connector(&self.config, key)?;
        let line = {
            let mut state = self.running()?;
            if let Some(line) = state.line(pool) {
                return Ok(line);
            }
            state.last_line += 1;
            let line = Line::new(&self.config, pool, state.last_line, way)?;
            state.lines.insert(key.clone(), Arc::clone(&line));
            line
        };
        if key.partition.is_private() {
            pool.wake_on_close(&self.waker);
        }
        let (reader, opened) = (Arc::clone(self), Arc::clone(&line));
        let open = move || opened.open(&reader, &*connector);
        if let Err(error) = self.threads.run(open) {
            // Another caller may already have a request there.
            line.end(self, End::Unreachable(exhausted()));
            return Err(no_thread(&error));
        }
        Ok(line)
    }

    /// Arms a timer of a call.
    pub(super) fn arm(
        self: &Arc<Self>,
        at: Instant,
        number: u64,
        call: Arc<dyn PendingCall>,
    ) -> Result<(), SystemException> {
        let mut state = self.running()?;
        let first = state.timers.first_key_value();
        let is_first = first.is_none_or(|((first, _), _)| at < *first);
        state.timers.insert((at, number), call);
        drop(state);
        if is_first {
            self.waker.wake();
        }
        Ok(())
    }

    pub(super) fn disarm(&self, at: Instant, number: u64) {
        let call = self.lock().timers.remove(&(at, number));
        // Without the lock: the ORB may end with it.
        drop(call);
    }

    /// Runs a job that is urgent and may block.
    pub(super) fn chore(&self, job: Job) {
        let is_begun = self.chores.add(&self.threads, job);
        self.schedule_work(is_begun);
    }

    /// Runs interception points. Not on the threads of handlers, which may wait for calls.
    pub(super) fn intercept(&self, job: Job) {
        let is_begun = self.points.add(&self.threads, job);
        self.schedule_work(is_begun);
    }

    /// Has a handler run.
    pub(super) fn handle(&self, job: Job) {
        let is_begun = self.handlers.add(&self.threads, job);
        self.schedule_work(is_begun);
    }

    /// Schedules a retry if no thread could be started.
    fn schedule_work(&self, is_begun: bool) {
        if !is_begun {
            self.lock().lacks_threads = true;
            self.waker.wake();
        }
    }

    /// Has a thread make a call and wait for it, within the process or not.
    ///
    /// # Errors
    /// TRANSIENT if the maximum number of threads do; NO_RESOURCES if the system refuses a thread.
    pub(super) fn perform(&self, is_local: bool, job: Job) -> Result<(), SystemException> {
        struct Performed(Arc<AtomicUsize>);
        impl Drop for Performed {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        let before = self.performed.fetch_add(1, Ordering::Relaxed);
        let performed = Performed(Arc::clone(&self.performed));
        if before >= self.config.limits.serving_threads {
            let (kind, code) = (ExceptionKind::Transient, minor::SERVER_BUSY);
            return Err(SystemException::orbium(kind, code, Completion::No));
        }
        let job = move || {
            let _performed = performed;
            job();
        };
        let threads = if is_local {
            &self.threads
        } else {
            &self.callers
        };
        threads.run(job).map_err(|error| no_thread(&error))
    }

    /// Ends every call and its threads; waits for running handlers if `waits`.
    pub(super) fn close(self: &Arc<Self>, waits: bool) {
        let (lines, thread) = {
            let mut state = self.lock();
            state.ended = true;
            let lines: Vec<_> = state
                .lines
                .values()
                .chain(state.watched.values())
                .cloned()
                .collect();
            (lines, state.thread.take())
        };
        self.waker.wake();
        if let Some(thread) = thread
            && !thread.is_current()
        {
            thread.join();
        }
        let ended = already_shut_down();
        for line in lines {
            line.end(self, End::WithOrb(ended));
        }
        loop {
            let timer = self.lock().timers.pop_first();
            let Some((_, call)) = timer else { break };
            call.end(ended);
        }
        // Calls end after their interceptors, also without threads.
        self.points.end();
        let now = Some(Instant::now());
        self.callers.close(now);
        if !waits {
            self.threads.close(now);
            return;
        }
        self.threads.close(None);
        // No thread was available for these.
        self.chores.end();
        self.handlers.end();
    }
}

/// Initializes a thread.
fn begin(
    real_time: Option<&Arc<dyn RealTime>>,
    of_caller: Option<Priority>,
) -> Result<(), SystemException> {
    match (real_time, of_caller) {
        (Some(real_time), Some(priority)) => real_time.begin_thread(priority),
        (real_time, priority) => {
            if real_time.is_some() {
                scheduling::note_scheduling();
            }
            priority::set_current(priority);
            Ok(())
        }
    }
}
