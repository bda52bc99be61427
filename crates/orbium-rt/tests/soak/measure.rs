// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cycles of a fault while another caller must not notice it, and what the process
//! has before and after.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use orbium_testkit::probe::Target;
use orbium_testkit::{descriptors, eventually, held_octets, resident_octets, threads, within};

/// Octets of the heap that may be more after a run: buffers that have found their
/// size, tables that have grown. Less than one for each cycle of a long run.
const HEAP_SLACK: usize = 64 << 10;

/// Connections that may be more: clients keep as many as were used at once, which
/// may have been more in the run than before it. Each has two ends here, and a
/// thread may serve it.
const MAX_FURTHER_CONNECTIONS: usize = 12;

/// Octets of memory that may be more: the system's allocator keeps what threads
/// gave back, for each of them. The heap is counted exactly too.
const RESIDENT_SLACK: usize = 24 << 20;

/// Something that goes wrong.
pub(crate) struct Fault {
    /// What a line is called.
    pub(crate) name: &'static str,
    /// Cycles of it at most, where one takes long.
    pub(crate) most: usize,
    /// Prepares, calls [`Run::cycles`] once, and clears away.
    pub(crate) run: fn(&mut Run),
}

/// What the process has.
#[derive(Clone, Copy, Debug)]
struct Footprint {
    threads: usize,
    descriptors: usize,
    held: usize,
    resident: usize,
}

impl Footprint {
    fn now() -> Self {
        Self {
            threads: threads(),
            descriptors: descriptors(),
            held: held_octets(),
            resident: resident_octets(),
        }
    }

    /// Whether there are no more of them, but for connections that are kept.
    fn allows(&self, threads: usize, descriptors: usize) -> bool {
        threads <= self.threads + MAX_FURTHER_CONNECTIONS
            && descriptors <= self.descriptors + 2 * MAX_FURTHER_CONNECTIONS
    }

    /// Once what ends of itself has ended.
    fn at_rest() -> Self {
        let mut last = (0, 0);
        let mut same = 0;
        eventually("the process comes to rest", || {
            let counted = (threads(), descriptors());
            same = if counted == last { same + 1 } else { 0 };
            last = counted;
            same == 30
        });
        Self::now()
    }
}

/// Calls an object that has nothing to do with the fault, until it is stopped.
struct Bystander {
    stop: Arc<AtomicBool>,
    calls: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Bystander {
    fn calling(target: Target) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let calls = Arc::new(AtomicU64::new(0));
        let (stopped, counter) = (Arc::clone(&stop), Arc::clone(&calls));
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let v = counter.load(Ordering::Relaxed) as i32;
                assert_eq!(target.echo_long(v), Ok(v), "another's call is touched");
                counter.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_micros(500));
            }
        });
        Self {
            stop,
            calls,
            thread,
        }
    }

    fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    fn end(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        within("the other caller", move || self.thread.join().unwrap());
        self.calls.load(Ordering::Relaxed)
    }
}

/// One run of a fault.
pub(crate) struct Run {
    cycles: usize,
    bystanders: Vec<Bystander>,
    found: Option<Found>,
}

struct Found {
    before: Footprint,
    after: Footprint,
    time: Duration,
    calls: u64,
}

impl Run {
    /// Calls this object during the cycles, in a thread of its own: every call has to be
    /// answered.
    pub(crate) fn with_caller(&mut self, target: Target) {
        self.bystanders.push(Bystander::calling(target));
    }

    /// Makes the cycles; each gets its number. Some come first that do not
    /// count: what is taken once is taken then.
    pub(crate) fn cycles(&mut self, mut cycle: impl FnMut(usize)) {
        self.batches(|numbers| numbers.for_each(&mut cycle));
    }

    /// The same, several cycles at once.
    pub(crate) fn batches(&mut self, mut cycles: impl FnMut(std::ops::Range<usize>)) {
        // Connected, whatever comes.
        eventually("the others are served", || {
            self.bystanders.iter().all(|it| it.calls() > 0)
        });
        cycles(0..(self.cycles / 10).max(20));
        let before = Footprint::at_rest();
        let begun = Instant::now();
        cycles(0..self.cycles);
        let time = begun.elapsed();
        eventually("threads and descriptors are given back", || {
            before.allows(threads(), descriptors())
        });
        let after = Footprint::at_rest();
        let calls = self.bystanders.drain(..).map(Bystander::end).sum();
        self.found = Some(Found {
            before,
            after,
            time,
            calls,
        });
    }
}

/// What a run of a fault came to.
pub(crate) struct Line {
    name: &'static str,
    cycles: usize,
    found: Found,
}

/// Runs a fault; `None` if this machine does not permit it.
pub(crate) fn soak(fault: &Fault, cycles: usize) -> Option<Line> {
    let cycles = cycles.min(fault.most);
    let mut run = Run {
        cycles,
        bystanders: Vec::new(),
        found: None,
    };
    (fault.run)(&mut run);
    Some(Line {
        name: fault.name,
        cycles,
        found: run.found?,
    })
}

impl Line {
    /// What stands above the columns.
    pub(crate) const HEADING: &str = "fault                                                cycles  seconds   threads  descriptors  heap, octets        resident, MiB  others' calls";

    /// Whether nothing is left.
    pub(crate) fn is_clean(&self) -> bool {
        let Found { before, after, .. } = &self.found;
        before.allows(after.threads, after.descriptors)
            && after.held <= before.held + HEAP_SLACK
            && after.resident <= before.resident + RESIDENT_SLACK
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Found {
            before,
            after,
            time,
            calls,
        } = &self.found;
        let change = |before: usize, after: usize| format!("{before} → {after}");
        let mib = |octets: usize| octets as f64 / (1 << 20) as f64;
        write!(
            f,
            "{:50} {:>8} {:>8.1}  {:>8}  {:>11}  {:>18}  {:>13}  {:>13}  {}",
            self.name,
            self.cycles,
            time.as_secs_f64(),
            change(before.threads, after.threads),
            change(before.descriptors, after.descriptors),
            change(before.held, after.held),
            format!("{:.1} → {:.1}", mib(before.resident), mib(after.resident)),
            calls,
            if self.is_clean() { "clean" } else { "LEAKS" },
        )
    }
}
