// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools without threads of their own: the program's threads serve them.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::{Job, Pool, SMALL};

impl Pool {
    /// Serves one request, or runs one job, if there is one or one comes while this
    /// `waits`; whether the pool is still open.
    pub(crate) fn serve_one(self: &Arc<Self>, waits: bool) -> bool {
        let mut state = self.lock();
        loop {
            if state.closed {
                return false;
            }
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                job();
                return true;
            }
            if let Some(item) = self.take(&mut state) {
                drop(state);
                let (_, answered) = self.serve(item, self, &mut Vec::with_capacity(SMALL));
                if answered {
                    self.answering.fetch_sub(1, Ordering::AcqRel);
                }
                return true;
            }
            if !waits {
                return true;
            }
            state.idle += 1;
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    pub(crate) fn add_job(&self, job: Job) {
        let mut state = self.lock();
        if !state.closed {
            state.jobs.push_back(job);
            drop(state);
            self.changed.notify_one();
        }
    }

    pub(crate) fn has_work(&self) -> bool {
        let state = self.lock();
        !state.jobs.is_empty() || state.waiting.all() > 0
    }
}
