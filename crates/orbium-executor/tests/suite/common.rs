// SPDX-License-Identifier: MIT OR Apache-2.0
//! Futures and records of which the tests are made.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use orbium_executor::{Policy, SchedulerContext};

/// A context without threads.
pub(crate) fn context(policy: Policy) -> SchedulerContext {
    let builder = SchedulerContext::builder("test").policy(policy);
    builder.build().unwrap()
}

/// Tasks wait until it is open.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(AtomicBool, Mutex<Vec<Waker>>)>);

impl Gate {
    pub(crate) async fn pass(self) {
        poll_fn(|context| {
            let mut waiting = self.0.1.lock().unwrap();
            if self.0.0.load(Ordering::Acquire) {
                return Poll::Ready(());
            }
            waiting.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    pub(crate) fn open(&self) {
        let waiting = {
            let mut waiting = self.0.1.lock().unwrap();
            self.0.0.store(true, Ordering::Release);
            std::mem::take(&mut *waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// What has happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Record<T>(Arc<Mutex<Vec<T>>>);

impl<T: Clone> Record<T> {
    pub(crate) fn add(&self, value: T) {
        self.0.lock().unwrap().push(value);
    }

    pub(crate) fn all(&self) -> Vec<T> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}
