// SPDX-License-Identifier: MIT OR Apache-2.0
//! Threads that sleep until absolute times and measure their wake-up latency, one on each
//! processor: as `cyclictest --smp`, without an ORB and within the same run. When another thread
//! was late, they show whether the processor was available.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::stage::clock::Span;
use crate::stage::real_time::usable_processors;

/// Wake-up latency beyond which a thread counts as late.
const MAX_LATENESS: Duration = Duration::from_millis(1);

/// Wake-up latencies of threads.
#[derive(Clone, Debug, Default)]
pub(super) struct Lateness {
    pub(super) wakeups: u64,
    pub(super) worst: Duration,
    /// The times when a thread should have run and did not: more than a millisecond each.
    late: Vec<Span>,
}

impl Lateness {
    /// Whether, for at least half of that time, a processor did not run a due thread.
    pub(super) fn explains(&self, span: Span) -> bool {
        let mut shared = self.late.iter().map(|own| own.shared_with(span));
        shared.any(|shared| shared * 2 >= span.length())
    }

    #[cfg(target_os = "linux")]
    fn note(&mut self, due: Duration, woken: Duration) {
        let late = woken.saturating_sub(due);
        self.wakeups += 1;
        self.worst = self.worst.max(late);
        if late > MAX_LATENESS {
            self.late.push(Span {
                begin: due,
                end: woken,
            });
        }
    }

    fn add(&mut self, other: Self) {
        self.wakeups += other.wakeups;
        self.worst = self.worst.max(other.worst);
        self.late.extend(other.late);
    }
}

/// Running threads of this kind.
pub(super) struct Wakeups {
    ends: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Option<Lateness>>>,
}

impl Wakeups {
    /// Starts them with SCHED_FIFO at that priority; all are measuring when this returns. If one
    /// started later, it would itself be delayed by what it is to detect.
    pub(super) fn start(priority: i32, period: Duration) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let (begun, all_begun) = channel();
        let start = |processor: usize| {
            let (ends, begun) = (Arc::clone(&ends), begun.clone());
            std::thread::spawn(move || watch(processor, priority, period, &ends, begun))
        };
        let threads = usable_processors().into_iter().map(start).collect();
        drop(begun);
        // Ends when each has dropped its sender.
        while all_begun.recv().is_ok() {}
        Self { threads, ends }
    }

    /// Ends them; `None` if no thread had the required scheduling.
    pub(super) fn end(self) -> Option<Lateness> {
        self.ends.store(true, Ordering::Relaxed);
        let mut all: Option<Lateness> = None;
        for thread in self.threads {
            if let Ok(Some(found)) = thread.join() {
                all.get_or_insert_default().add(found);
            }
        }
        all
    }
}

#[cfg(target_os = "linux")]
fn watch(
    processor: usize,
    priority: i32,
    period: Duration,
    ends: &AtomicBool,
    begun: Sender<()>,
) -> Option<Lateness> {
    use rustix::thread::{ClockId, clock_nanosleep_absolute};
    use rustix::time::Timespec;

    use crate::stage::clock::now;

    // In this order: on a busy processor an ordinary thread would be blocked.
    let scheduling = orbium_sys::Scheduling::fifo(priority);
    scheduling.apply_to_this_thread().ok()?;
    orbium_sys::bind_this_thread(&[processor]).ok()?;
    drop(begun);
    let mut found = Lateness::default();
    let mut due = now();
    while !ends.load(Ordering::Relaxed) {
        due += period;
        let point = Timespec::try_from(due).ok()?;
        // A signal wakes it early, which is not late.
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &point);
        let woken = now();
        found.note(due, woken);
        // Missed periods are skipped.
        due = due.max(woken.saturating_sub(period));
    }
    Some(found)
}

#[cfg(not(target_os = "linux"))]
fn watch(_: usize, _: i32, _: Duration, _: &AtomicBool, _: Sender<()>) -> Option<Lateness> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn span(begin: u64, end: u64) -> Span {
        Span {
            begin: Duration::from_millis(begin),
            end: Duration::from_millis(end),
        }
    }

    #[test]
    fn a_call_is_explained_by_a_late_wake_up_at_that_time() {
        let found = Lateness {
            late: vec![span(100, 200), span(500, 502)],
            ..Lateness::default()
        };
        assert!(found.explains(span(110, 201)));
        assert!(found.explains(span(50, 200)));
        assert!(!found.explains(span(210, 300)));
        assert!(!found.explains(span(450, 550)));
        assert!(!Lateness::default().explains(span(1, 2)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_late_wakeups_are_remembered() {
        let mut found = Lateness::default();
        let at = Duration::from_millis;
        found.note(at(10), at(10) + Duration::from_micros(50));
        found.note(at(20), at(70));
        assert_eq!((found.wakeups, found.worst), (2, at(50)));
        assert!(found.explains(span(20, 60)) && !found.explains(span(10, 11)));
    }
}
