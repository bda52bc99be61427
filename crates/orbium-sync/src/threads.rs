// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that wait a while for more work before they end.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::lock::{Condvar, Mutex, MutexGuard};

type Job = Box<dyn FnOnce() + Send>;

/// Runs a job on a new thread of that name.
///
/// # Errors
/// The system refuses another thread; the job is dropped.
pub fn spawn(name: &str, job: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    spawn_boxed(name, None, Box::new(job))
}

#[inline]
fn spawn_boxed(name: &str, stack: Option<usize>, job: Job) -> io::Result<JoinHandle<()>> {
    let mut builder = thread::Builder::new().name(name.to_owned());
    if let Some(bytes) = stack {
        builder = builder.stack_size(bytes);
    }
    builder.spawn(job)
}

#[inline]
fn start(name: &str, stack: Option<usize>, job: Job) -> io::Result<()> {
    spawn_boxed(name, stack, job).map(drop)
}

/// Starts a detached thread for a job: its name, and its stack size in bytes. If no thread
/// can be started, the job is dropped.
pub type Starter = fn(&str, Option<usize>, Box<dyn FnOnce() + Send>) -> io::Result<()>;

/// Options common to the threads of a cache.
#[derive(Clone, Default)]
pub struct ThreadOptions {
    /// Stack size in bytes; `None` is the default of the standard library.
    pub stack_size: Option<usize>,
    /// Called on each new thread before its first job.
    pub begin: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl std::fmt::Debug for ThreadOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ThreadOptions")
            .field("stack_size", &self.stack_size)
            .finish_non_exhaustive()
    }
}

#[derive(Default)]
struct State {
    /// Idle workers with their condition variables; the last one is used first.
    idle: Vec<(u64, Arc<Condvar>)>,
    /// Jobs of idle workers that have not yet woken.
    handed: Vec<(u64, Job)>,
    next_worker: u64,
    alive: usize,
    /// Time for which an idle worker waits for another job.
    linger: Duration,
    closed: bool,
}

struct Shared {
    state: Mutex<State>,
    one_ended: Condvar,
}

/// A thread of a cache: the count is decremented at its end, even if a job panics.
struct Counted(ThreadCache);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.ended();
    }
}

/// Runs jobs, each on a thread of its own: an idle one, or a new one.
#[derive(Clone)]
pub struct ThreadCache {
    shared: Arc<Shared>,
    name: Arc<str>,
    options: ThreadOptions,
    start: Starter,
}

impl std::fmt::Debug for ThreadCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ThreadCache")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl ThreadCache {
    /// A cache of threads with that name; each ends `linger` after its last job.
    #[must_use]
    #[inline]
    pub fn new(name: &str, linger: Duration) -> Self {
        Self::with_options(name, linger, ThreadOptions::default())
    }

    /// As [`ThreadCache::new`], with options for the threads.
    #[must_use]
    #[inline]
    pub fn with_options(name: &str, linger: Duration, options: ThreadOptions) -> Self {
        Self::with_starter(name, linger, options, start)
    }

    /// As [`ThreadCache::with_options`], with a custom function that starts threads.
    #[must_use]
    pub fn with_starter(
        name: &str,
        linger: Duration,
        options: ThreadOptions,
        start: Starter,
    ) -> Self {
        let state = State {
            linger,
            ..State::default()
        };
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                one_ended: Condvar::default(),
            }),
            name: name.into(),
            options,
            start,
        }
    }

    /// Runs a job on a thread of its own. While a closed cache waits for its last threads, these
    /// may still submit further jobs.
    ///
    /// # Errors
    /// The system refuses another thread, or the cache was closed; the job is dropped.
    pub fn run(&self, job: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.run_boxed(Box::new(job))
    }

    fn run_boxed(&self, job: Job) -> io::Result<()> {
        let worker = {
            let mut state = self.lock();
            if state.closed && state.alive == 0 {
                return Err(io::Error::other("the thread cache was closed"));
            }
            if let Some((worker, wake)) = state.idle.pop() {
                state.handed.push((worker, job));
                wake.notify_one();
                return Ok(());
            }
            state.alive += 1;
            state.next_worker += 1;
            state.next_worker
        };
        // Without a thread the work is dropped, and the count decremented likewise.
        let counted = Counted(self.clone());
        let work = Box::new(move || counted.0.work(worker, job));
        (self.start)(&self.name, self.options.stack_size, work)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock()
    }

    /// The number of threads.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().alive
    }

    /// Whether there are no threads.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sets the time after which an idle thread ends, including those that are idle now.
    pub fn set_linger(&self, linger: Duration) {
        let mut state = self.lock();
        state.linger = linger;
        for (_, wake) in &state.idle {
            wake.notify_one();
        }
    }

    /// Waits until there are no threads, or until the deadline; returns their number. New ones may
    /// be started.
    #[must_use]
    pub fn await_empty(&self, deadline: Instant) -> usize {
        self.await_end_of_all(self.lock(), Some(deadline))
    }

    fn await_end_of_all(
        &self,
        mut state: MutexGuard<'_, State>,
        deadline: Option<Instant>,
    ) -> usize {
        while state.alive > 0 {
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                break;
            }
            state = self.shared.one_ended.wait_at_most(state, left);
        }
        state.alive
    }

    fn ended(&self) {
        self.lock().alive -= 1;
        self.shared.one_ended.notify_all();
    }

    fn work(&self, worker: u64, first: Job) {
        if let Some(begin) = &self.options.begin {
            begin();
        }
        first();
        let wake = Arc::new(Condvar::new());
        while let Some(job) = self.next_job(worker, &wake) {
            job();
        }
    }

    /// Waits for another job; `None` at the time limit, and when the cache is closed.
    fn next_job(&self, worker: u64, wake: &Arc<Condvar>) -> Option<Job> {
        let began = Instant::now();
        let mut state = self.lock();
        if state.closed {
            return None;
        }
        state.idle.push((worker, Arc::clone(wake)));
        loop {
            if let Some(place) = state.handed.iter().position(|(id, _)| *id == worker) {
                return Some(state.handed.swap_remove(place).1);
            }
            // Closing the cache empties the list.
            let place = state.idle.iter().position(|(id, _)| *id == worker)?;
            let left = state.linger.saturating_sub(began.elapsed());
            if left.is_zero() {
                state.idle.swap_remove(place);
                return None;
            }
            state = wake.wait_timeout(state, left).0;
        }
    }

    /// Closes the cache: accepts no more jobs, except from its own threads, and waits until all of
    /// them have ended, or until the deadline; returns the number of those that have not.
    pub fn close(&self, deadline: Option<Instant>) -> usize {
        let mut state = self.lock();
        state.closed = true;
        for (_, wake) in state.idle.drain(..) {
            wake.notify_one();
        }
        self.await_end_of_all(state, deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    #[test]
    fn the_last_threads_of_a_closed_cache_can_hand_on() {
        let cache = ThreadCache::new("test", Duration::from_secs(60));
        let (begun, has_begun) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let own = cache.clone();
        let done = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&done);
        let first = move || {
            begun.send(()).unwrap();
            may_go_on.recv().unwrap();
            let then = move || {
                count.fetch_add(1, Ordering::SeqCst);
            };
            own.run(then).unwrap();
        };
        cache.run(first).unwrap();
        has_begun.recv().unwrap();
        assert_eq!(cache.close(Some(Instant::now())), 1);
        go_on.send(()).unwrap();
        assert_eq!(cache.close(None), 0);
        assert_eq!(done.load(Ordering::SeqCst), 1);
        assert!(cache.run(|| {}).is_err());
    }

    #[test]
    fn every_job_runs_and_every_thread_ends() {
        let cache = ThreadCache::new("test", Duration::from_secs(60));
        let done = Arc::new(AtomicUsize::new(0));
        for _ in 0..50 {
            let done = Arc::clone(&done);
            cache
                .run(move || {
                    done.fetch_add(1, Ordering::SeqCst);
                })
                .unwrap();
        }
        assert_eq!(cache.close(None), 0);
        assert_eq!(done.load(Ordering::SeqCst), 50);
        assert!(cache.run(|| {}).is_err());
    }

    #[test]
    fn an_empty_cache_starts_threads_again() {
        let cache = ThreadCache::new("test", Duration::from_secs(60));
        let (sender, receiver) = mpsc::channel::<()>();
        // It returns when the sender is dropped.
        cache
            .run(move || assert!(receiver.recv().is_err()))
            .unwrap();
        assert_eq!(cache.await_empty(Instant::now()), 1);
        cache.set_linger(Duration::ZERO);
        drop(sender);
        let later = Instant::now() + Duration::from_secs(60);
        assert_eq!(cache.await_empty(later), 0);
        cache.run(|| {}).unwrap();
        assert_eq!(cache.close(None), 0);
    }

    #[test]
    fn a_thread_is_used_again() {
        let cache = ThreadCache::new("test", Duration::from_secs(60));
        let (sender, receiver) = mpsc::channel();
        let first = sender.clone();
        cache
            .run(move || first.send(thread::current().id()).unwrap())
            .unwrap();
        let id = receiver.recv().unwrap();
        while cache.lock().idle.is_empty() {
            thread::yield_now();
        }
        cache
            .run(move || sender.send(thread::current().id()).unwrap())
            .unwrap();
        assert_eq!(receiver.recv().unwrap(), id);
        assert_eq!(cache.close(None), 0);
    }

    #[test]
    fn every_thread_runs_begin_first() {
        thread_local! {
            static BEGUN: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
        }
        let options = ThreadOptions {
            stack_size: Some(256 << 10),
            begin: Some(Arc::new(|| BEGUN.set(BEGUN.get() + 1))),
        };
        let cache = ThreadCache::with_options("test", Duration::from_secs(60), options);
        let (sender, receiver) = mpsc::channel();
        for _ in 0..5 {
            let sender = sender.clone();
            cache
                .run(move || sender.send(BEGUN.get()).unwrap())
                .unwrap();
            assert_eq!(receiver.recv().unwrap(), 1);
        }
        assert_eq!(cache.close(None), 0);
    }

    #[test]
    fn a_panicking_job_costs_its_thread_only() {
        let cache = ThreadCache::new("test", Duration::from_secs(60));
        cache
            .run(|| std::panic::resume_unwind(Box::new("job")))
            .unwrap();
        assert_eq!(cache.close(None), 0);
    }
}
