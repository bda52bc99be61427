// SPDX-License-Identifier: MIT OR Apache-2.0
//! Continuous calls in progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use orbium_testkit::eventually;
use orbium_testkit::probe::Target;

/// Threads that call an object until `end`.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    calls: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// Starts that number of threads.
    pub(crate) fn on(target: &Target, threads: usize) -> Self {
        let (stop, calls) = (Arc::default(), Arc::default());
        let threads = (0..threads).map(|_| {
            let (target, stop, calls) = (target.clone(), Arc::clone(&stop), Arc::clone(&calls));
            thread::spawn(move || call(&target, &stop, &calls))
        });
        let threads = threads.collect();
        let load = Self {
            stop,
            calls,
            threads,
        };
        load.goes_on();
        load
    }

    /// Waits until calls begun after now have completed.
    pub(crate) fn goes_on(&self) {
        let enough = self.calls.load(Ordering::SeqCst) + 10 * self.threads_now();
        eventually("calls are made", || {
            self.calls.load(Ordering::SeqCst) > enough
        });
    }

    fn threads_now(&self) -> u64 {
        self.threads.iter().filter(|it| !it.is_finished()).count() as u64 + 1
    }

    /// Ends the load: no call has failed.
    pub(crate) fn end(self) {
        self.stop.store(true, Ordering::SeqCst);
        for thread in self.threads {
            thread.join().expect("no call is lost");
        }
    }
}

fn call(target: &Target, stop: &AtomicBool, calls: &AtomicU64) {
    let mut number = 0;
    while !stop.load(Ordering::SeqCst) {
        number = (number + 1) % 1000;
        assert_eq!(target.echo_long(number), Ok(number));
        calls.fetch_add(1, Ordering::SeqCst);
    }
}
