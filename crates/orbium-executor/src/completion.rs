// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completion of a task: the slot of its result, and the waiter for it.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;

use crate::error::TaskError;
use crate::lock::{Condvar, Mutex, MutexGuard};

/// The result of a task, and the thread or task that waits for it.
pub(crate) struct Completion<T> {
    state: Mutex<State<T>>,
    completed: Condvar,
}

struct State<T> {
    result: Option<Result<T, TaskError>>,
    waiting: Option<Waker>,
}

impl<T> Completion<T> {
    pub(crate) fn new() -> Arc<Self> {
        let state = State {
            result: None,
            waiting: None,
        };
        Arc::new(Self {
            state: Mutex::new(state),
            completed: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock()
    }

    fn complete(&self, result: Result<T, TaskError>) {
        let mut state = self.lock();
        state.result = Some(result);
        let waiting = state.waiting.take();
        drop(state);
        self.completed.notify_all();
        if let Some(waker) = waiting {
            waker.wake();
        }
    }

    pub(crate) fn poll(&self, context: &Context<'_>) -> Poll<Result<T, TaskError>> {
        let mut state = self.lock();
        if let Some(result) = state.result.take() {
            return Poll::Ready(result);
        }
        let replaced = state.waiting.replace(context.waker().clone());
        drop(state);
        drop(replaced);
        Poll::Pending
    }

    /// Blocks until there is a result.
    pub(crate) fn wait(&self) -> Result<T, TaskError> {
        let mut state = self.lock();
        loop {
            if let Some(result) = state.result.take() {
                return result;
            }
            state = self.completed.wait(state);
        }
    }
}

/// Completes a task that ends without a result: a panic or a cancellation drops it.
pub(crate) struct Completer<T>(Option<Arc<Completion<T>>>);

impl<T> Completer<T> {
    pub(crate) fn new(completion: &Arc<Completion<T>>) -> Self {
        Self(Some(Arc::clone(completion)))
    }

    pub(crate) fn complete(mut self, value: T) {
        if let Some(completion) = self.0.take() {
            completion.complete(Ok(value));
        }
    }
}

impl<T> Drop for Completer<T> {
    fn drop(&mut self) {
        if let Some(completion) = self.0.take() {
            completion.complete(Err(if thread::panicking() {
                TaskError::Panicked
            } else {
                TaskError::Cancelled
            }));
        }
    }
}
