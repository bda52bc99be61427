// SPDX-License-Identifier: MIT OR Apache-2.0
//! Jobs run by a bounded number of threads, in the order in which they were added.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::ThreadCache;
use crate::lock::{Mutex, MutexGuard};

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Threads that run them.
    threads: usize,
    ended: bool,
}

/// Jobs that threads of a [`ThreadCache`] run: they begin in the order in which they were added,
/// and at most a limit of them run at once. A panic ends its job only.
///
/// ```
/// use std::time::Duration;
///
/// use orbium_sync::{JobQueue, ThreadCache};
///
/// let threads = ThreadCache::new("worker", Duration::from_secs(1));
/// let jobs = JobQueue::new(2);
/// let (done, is_done) = std::sync::mpsc::channel();
/// assert!(jobs.add(&threads, Box::new(move || done.send(()).unwrap())));
/// is_done.recv().unwrap();
/// ```
pub struct JobQueue {
    state: Mutex<State>,
    limit: usize,
}

impl JobQueue {
    /// A queue of which at most `limit` jobs run at once.
    #[must_use]
    pub fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            limit,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Adds a job; returns `false` if no thread is available now: then [`go_on`](Self::go_on) is to
    /// be called later. After the end the calling thread runs it at once.
    pub fn add(self: &Arc<Self>, threads: &ThreadCache, job: Job) -> bool {
        {
            let mut state = self.lock();
            if state.ended {
                drop(state);
                job();
                return true;
            }
            state.jobs.push_back(job);
        }
        self.go_on(threads)
    }

    /// Starts a thread if there are jobs and fewer threads than the limit; returns `false` if there
    /// are jobs and no thread.
    pub fn go_on(self: &Arc<Self>, threads: &ThreadCache) -> bool {
        {
            let mut state = self.lock();
            if state.jobs.is_empty() || state.threads >= self.limit {
                return true;
            }
            state.threads += 1;
        }
        let work = Arc::clone(self);
        if threads.run(move || work.run_all()).is_ok() {
            return true;
        }
        let mut state = self.lock();
        state.threads -= 1;
        state.threads > 0
    }

    fn run_all(&self) {
        while let Some(job) = self.next() {
            // The panic hook has reported the panic; later jobs do not depend on this one.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        let job = state.jobs.pop_front();
        if job.is_none() {
            state.threads -= 1;
        }
        job
    }

    /// The threads have ended: runs the remaining jobs on the calling thread.
    pub fn end(&self) {
        self.lock().ended = true;
        loop {
            let job = self.lock().jobs.pop_front();
            let Some(job) = job else { return };
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }
}

impl fmt::Debug for JobQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("JobQueue")
            .field("jobs", &state.jobs.len())
            .field("threads", &state.threads)
            .field("limit", &self.limit)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn jobs_run_in_order_on_no_more_threads_than_the_limit() {
        let threads = ThreadCache::new("test", Duration::from_secs(60));
        let work = JobQueue::new(1);
        let (done, is_done) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let first = done.clone();
        let job = move || {
            may_go_on.recv().unwrap();
            first.send(0).unwrap();
        };
        assert!(work.add(&threads, Box::new(job)));
        assert!(work.add(
            &threads,
            Box::new(|| std::panic::resume_unwind(Box::new(0)))
        ));
        for number in 1..5 {
            let done = done.clone();
            let job = move || done.send(number).unwrap();
            assert!(work.add(&threads, Box::new(job)));
        }
        assert!(is_done.try_recv().is_err(), "all wait for the first");
        go_on.send(()).unwrap();
        let order: Vec<_> = is_done.iter().take(5).collect();
        assert_eq!(order, [0, 1, 2, 3, 4]);
        assert_eq!(threads.close(None), 0);
        assert_eq!(work.lock().threads, 0);
    }

    #[test]
    fn without_threads_jobs_run_later() {
        let threads = ThreadCache::new("test", Duration::from_secs(60));
        threads.close(None);
        let work = JobQueue::new(2);
        let (done, is_done) = mpsc::channel();
        let again = done.clone();
        let job = move || done.send(()).unwrap();
        assert!(!work.add(&threads, Box::new(job)));
        assert!(is_done.try_recv().is_err());
        work.end();
        assert_eq!(is_done.try_recv(), Ok(()));
        // Or at once, if it is added after the end.
        assert!(work.add(&threads, Box::new(move || again.send(()).unwrap())));
        assert_eq!(is_done.try_recv(), Ok(()));
    }
}
