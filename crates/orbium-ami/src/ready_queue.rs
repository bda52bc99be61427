// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue of results in the order of arrival, and the wait for the next one.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use std::{fmt, iter};

use orbium_giop::SystemException;
use orbium_invocation::served_queue::wait_serving;
use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sync::role;
use orbium_transport::Deadline;

use super::handle::no_response;

/// Available results, or ids of the calls that have them, in the order of arrival. One thread or
/// task waits for the next.
pub struct ReadyQueue<T> {
    state: Mutex<State<T>>,
    arrived: Condvar,
}

struct State<T> {
    items: VecDeque<T>,
    /// The waker of the task waiting for the next one.
    waker: Option<Waker>,
}

impl<T> ReadyQueue<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock()
    }

    /// Appends a result and wakes the waiting thread or task.
    pub fn push(&self, item: T) {
        let waker = {
            let mut state = self.lock();
            state.items.push_back(item);
            state.waker.take()
        };
        self.arrived.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.lock().items.is_empty()
    }

    /// Removes the first result; if there is none, the waker is woken by the next. Only the last
    /// waker is kept.
    pub fn poll(&self, cx: &Context<'_>) -> Poll<T> {
        let mut state = self.lock();
        match state.items.pop_front() {
            Some(item) => Poll::Ready(item),
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Removes the first result; blocks for it until a deadline.
    fn block(&self, until: Deadline) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(item) = state.items.pop_front() {
                return Some(item);
            }
            let left = until.remaining().ok()?;
            state = self.arrived.wait_at_most(state, left);
        }
    }
}

impl<T: Send + 'static> ReadyQueue<T> {
    /// Removes the first result that `accept` converts, and those before it; waits for it for at
    /// most `timeout`, or, with `None`, without limit. Within an upcall of the main thread the wait
    /// serves its queue.
    ///
    /// # Errors
    /// NO_RESPONSE 1 without a result if the time-out is zero; TIMEOUT 1 without one after the
    /// time-out.
    pub fn next<R>(
        self: &Arc<Self>,
        timeout: Option<Duration>,
        mut accept: impl FnMut(T) -> Option<R>,
    ) -> Result<R, SystemException> {
        let mut there = iter::from_fn(|| self.lock().items.pop_front());
        if let Some(accepted) = there.find_map(&mut accept) {
            return Ok(accepted);
        }
        if timeout == Some(Duration::ZERO) {
            return Err(no_response(timeout));
        }
        let until = Deadline::after(timeout);
        role::about_to_block();
        let mut coming = iter::from_fn(|| self.wait(until));
        coming.find_map(accept).ok_or_else(|| no_response(timeout))
    }

    /// Removes the first result; waits for it until a deadline.
    fn wait(self: &Arc<Self>, until: Deadline) -> Option<T> {
        let queue = Arc::clone(self);
        wait_serving(move || queue.block(until)).flatten()
    }
}

impl<T> Default for ReadyQueue<T> {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                items: VecDeque::new(),
                waker: None,
            }),
            arrived: Condvar::new(),
        }
    }
}

impl<T> fmt::Debug for ReadyQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReadyQueue")
    }
}
