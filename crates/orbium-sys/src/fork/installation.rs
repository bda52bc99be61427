// SPDX-License-Identifier: MIT OR Apache-2.0
//! Installing the handlers once, though a process may fork in the middle of it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// Pause of a thread while another one installs the handlers, which takes microseconds. That thread
/// may have a lower priority, so that spinning could keep it from running.
const INSTALLATION_PAUSE: Duration = Duration::from_micros(50);

/// An initialization that a process performs once, and its child after a fork if the parent had not
/// finished.
///
/// A [`Once`](std::sync::Once) is not sufficient: a child that is forked while another thread of
/// its parent runs the initialiser waits for a thread that does not exist there.
#[derive(Debug)]
pub(super) struct Installation {
    done: AtomicBool,
    /// The process in which a thread performs it; 0 before.
    process: AtomicU32,
}

impl Installation {
    pub(super) const fn new() -> Self {
        Self {
            done: AtomicBool::new(false),
            process: AtomicU32::new(0),
        }
    }

    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// Notes that the handlers are installed, as they run.
    pub(super) fn note_done(&self) {
        self.done.store(true, Ordering::Release);
    }

    /// Runs `install` unless that was done before; returns when it is complete.
    #[cold]
    pub(super) fn perform(&self, this_process: u32, install: &dyn Fn()) {
        while !self.is_done() {
            let at_it = self.process.load(Ordering::Relaxed);
            if at_it == this_process {
                thread::sleep(INSTALLATION_PAUSE);
                continue;
            }
            // A parent's thread does not exist here. Had it registered the handlers, they would
            // have run in this child and recorded it.
            let claim = self.process.compare_exchange(
                at_it,
                this_process,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            if claim.is_ok() {
                install();
                self.note_done();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Regression: a child waited forever for the thread of its parent that was installing the
    /// handlers.
    #[test]
    fn a_child_does_not_wait_for_a_thread_of_its_parent() {
        let (parent, child) = (100, 101);
        let installation = Installation::new();
        installation.process.store(parent, Ordering::Relaxed);
        let times = AtomicUsize::new(0);
        let install = || {
            times.fetch_add(1, Ordering::Relaxed);
        };
        installation.perform(child, &install);
        installation.perform(child, &install);
        assert!(installation.is_done());
        assert_eq!(times.into_inner(), 1);
    }

    #[test]
    fn threads_wait_for_the_one_that_installs() {
        let installation = Installation::new();
        let (times, finished) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    installation.perform(100, &|| {
                        times.fetch_add(1, Ordering::Relaxed);
                        thread::sleep(Duration::from_millis(5));
                        finished.store(true, Ordering::Release);
                    });
                    assert!(finished.load(Ordering::Acquire));
                });
            }
        });
        assert_eq!(times.into_inner(), 1);
    }
}
