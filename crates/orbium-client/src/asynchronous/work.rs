// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a few threads do, in the order in which it came.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

use orbium_sync::ThreadCache;
use orbium_sync::lock::{Mutex, MutexGuard};

pub(super) type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Threads that do them.
    threads: usize,
    ended: bool,
}

/// Jobs, and how many threads may do them at once.
pub(super) struct Work {
    state: Mutex<State>,
    limit: usize,
}

impl Work {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            limit,
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a job done; `false` if there is no thread for it now: then
    /// [`Work::go_on`] is to be called later. After the end it is done at once, by
    /// the calling thread.
    pub(super) fn add(self: &Arc<Self>, threads: &ThreadCache, job: Job) -> bool {
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

    /// Sees to it that somebody does what is to be done, as far as threads are to
    /// be had.
    pub(super) fn go_on(self: &Arc<Self>, threads: &ThreadCache) -> bool {
        {
            let mut state = self.lock();
            if state.jobs.is_empty() || state.threads >= self.limit {
                return true;
            }
            state.threads += 1;
        }
        let work = Arc::clone(self);
        if threads.run(move || work.do_all()).is_ok() {
            return true;
        }
        let mut state = self.lock();
        state.threads -= 1;
        state.threads > 0
    }

    fn do_all(&self) {
        while let Some(job) = self.next() {
            // What panics has said so; those behind it do not depend on it.
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

    /// The threads have ended: runs the remaining work on the calling thread.
    pub(super) fn end(&self) {
        self.lock().ended = true;
        loop {
            let job = self.lock().jobs.pop_front();
            let Some(job) = job else { return };
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn jobs_are_done_in_order_by_no_more_threads_than_may_be() {
        let threads = ThreadCache::new("test", Duration::from_secs(60));
        let work = Work::new(1);
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
    fn without_threads_it_is_done_later() {
        let threads = ThreadCache::new("test", Duration::from_secs(60));
        threads.close(None);
        let work = Work::new(2);
        let (done, is_done) = mpsc::channel();
        let again = done.clone();
        let job = move || done.send(()).unwrap();
        assert!(!work.add(&threads, Box::new(job)));
        assert!(is_done.try_recv().is_err());
        work.end();
        assert_eq!(is_done.try_recv(), Ok(()));
        // Or at once, if it comes after the end.
        assert!(work.add(&threads, Box::new(move || again.send(()).unwrap())));
        assert_eq!(is_done.try_recv(), Ok(()));
    }
}
