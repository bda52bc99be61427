// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools without their own threads: the program's threads serve them, also in nested calls while
//! they wait for the replies.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use orbium_invocation::scheduling;
use orbium_invocation::served_queue::{ServedQueue, Serving};

use super::item::Item;
use super::{Pool, SMALL};

/// The pool is closed.
struct Ended;

impl Pool {
    /// Serves one request if there is one, or the next one if `waits`; returns whether the pool is
    /// still open.
    pub(crate) fn serve_one(self: &Arc<Self>, waits: bool) -> bool {
        let Ok(item) = self.take_for_caller(|| !waits) else {
            return false;
        };
        if let Some(item) = item {
            let _serving = Serving::new(Arc::new(Callers(Arc::clone(self))));
            self.serve_for_caller(item);
        }
        true
    }

    fn serve_for_caller(self: &Arc<Self>, item: Item) {
        let (_, answered) = self.serve(item, self, &mut Vec::with_capacity(SMALL));
        if answered {
            self.answering.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// The next item; `None` if there is none and the wait `is_over`.
    fn take_for_caller(&self, is_over: impl Fn() -> bool) -> Result<Option<Item>, Ended> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return Err(Ended);
            }
            if let Some(item) = self.take(&mut state) {
                return Ok(Some(item));
            }
            if is_over() {
                return Ok(None);
            }
            state.idle += 1;
            state = self.changed.wait(state);
            state.idle -= 1;
        }
    }

    pub(crate) fn has_work(&self) -> bool {
        self.waiting() > 0
    }
}

/// The queue of a thread that serves it while it waits.
struct Callers(Arc<Pool>);

impl ServedQueue for Callers {
    fn run_aside(&self, job: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        self.0.threads.run(job)
    }

    fn serve_until(&self, is_over: &AtomicBool) {
        let is_over = || is_over.load(Ordering::Acquire);
        while !is_over()
            && let Ok(Some(item)) = self.0.take_for_caller(is_over)
        {
            // The request below may have changed the priority of the thread. Setting none is never
            // refused.
            let serve = || self.0.serve_for_caller(item);
            let _ = scheduling::at(self.0.setup.priority, None, serve);
        }
    }

    fn look_again(&self) {
        self.0.look_again();
    }
}
