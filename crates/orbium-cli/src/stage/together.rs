// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that run the same work at once.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// Prepares and then runs the work in so many threads, which start at the same moment; returns the
/// time until the last one ends.
pub fn by_threads<W: FnOnce() -> Result<(), Failure>>(
    count: u16,
    prepare: impl Fn() -> Result<W, Failure> + Sync,
) -> Result<Duration, Failure> {
    let (ready, done) = (Barrier::new(usize::from(count) + 1), usize::from(count));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..done)
            .map(|_| {
                scope.spawn(|| {
                    let prepared = prepare();
                    // A thread that could not prepare must not block the others.
                    ready.wait();
                    prepared?()
                })
            })
            .collect();
        ready.wait();
        let start = Instant::now();
        let results: Vec<_> = workers
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        let elapsed = start.elapsed();
        for result in results {
            result.map_err(|_| Failure::because("a thread panicked".to_owned()))??;
        }
        Ok(elapsed)
    })
}
