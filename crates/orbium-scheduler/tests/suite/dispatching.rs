// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dispatch queues in virtual time: a first run holds the queue while others are submitted.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use orbium::lane::priority;
use orbium_sched::{Dispatching, Entry, Queue, Strategy, Table};
use orbium_scheduler::{Counts, Dispatcher, DispatcherBuilder, Overload, SubmitError};
use orbium_testkit::{Recorder, eventually, give_up_real_time, in_own_process, within};
use tracing::level_filters::LevelFilter;

use crate::lanes::SCHEDULE;
use crate::time::{MS, VirtualClock};

const SHORT: usize = 0;
const LONG: usize = 1;
const SLOW: usize = 2;

/// Periods of 50, 60 and 100 ms; the second one takes nearly all of its own.
const ENTRIES: [Entry; 3] = [
    Entry::new("short", (0, 0, 9), 500_000, 100_000),
    Entry::new("long", (0, 1, 9), 600_000, 550_000),
    Entry::new("slow", (0, 2, 9), 1_000_000, 100_000),
];

const fn table(queues: &'static [Queue]) -> Table {
    Table {
        strategy: Strategy::Edf,
        entries: &ENTRIES,
        queues,
        ..Table::EMPTY
    }
}

const fn queue(dispatching: Dispatching) -> Queue {
    Queue {
        priority: 9,
        dispatching,
    }
}

static BY_PRIORITY: Table = table(&[queue(Dispatching::Static)]);
static BY_DEADLINE: Table = table(&[queue(Dispatching::Deadline)]);
static BY_LAXITY: Table = table(&[queue(Dispatching::Laxity)]);

/// A dispatcher with a queue that is held.
struct Held {
    /// Dropped first: the dispatcher waits for the run that waits for this.
    release: Sender<()>,
    dispatcher: Arc<Dispatcher>,
    clock: VirtualClock,
    ran: Arc<Mutex<Vec<&'static str>>>,
}

impl Held {
    fn new(
        table: &'static Table,
        configure: impl FnOnce(DispatcherBuilder) -> DispatcherBuilder,
    ) -> Self {
        let clock = VirtualClock::default();
        let builder = Dispatcher::builder(table).soft(true).clock(clock.clone());
        let dispatcher = configure(builder).start().unwrap();
        let (release, held): (_, Receiver<()>) = channel();
        let (begun, begins) = channel();
        let first = move |_: &orbium_scheduler::Job<'_>| {
            begun.send(()).unwrap();
            // The test may have failed.
            let _ = held.recv();
        };
        dispatcher.submit(SLOW, first).unwrap();
        within("its begin", move || begins.recv().unwrap());
        Self {
            dispatcher: Arc::new(dispatcher),
            clock,
            release,
            ran: Arc::default(),
        }
    }

    fn submit(&self, operation: usize) {
        let ran = Arc::clone(&self.ran);
        let name = ENTRIES[operation].name;
        let work = move |_: &orbium_scheduler::Job<'_>| ran.lock().unwrap().push(name);
        self.dispatcher.submit(operation, work).unwrap();
    }

    fn counts(&self, operation: usize) -> Counts {
        self.dispatcher.counts(operation).unwrap()
    }

    /// What ran after the first, in order.
    fn finish(&self) -> Vec<&'static str> {
        let submitted = 1 + self.dispatcher.waiting(0).unwrap() as u64;
        self.release.send(()).unwrap();
        let count = |it: Counts| it.runs + it.skipped;
        eventually("the end", || {
            let done: u64 = (0..ENTRIES.len()).map(|it| count(self.counts(it))).sum();
            done == submitted
        });
        self.ran.lock().unwrap().clone()
    }
}

/// Conformance: RT 6 - dynamic queues dispatch by deadline or laxity
#[test]
fn queues_have_the_order_of_their_dispatching() {
    for (table, expected) in [
        (&BY_PRIORITY, ["short", "long", "slow"]),
        (&BY_DEADLINE, ["short", "long", "slow"]),
        // The long one has to begin first.
        (&BY_LAXITY, ["long", "short", "slow"]),
    ] {
        let held = Held::new(table, |it| it);
        for operation in [SLOW, LONG, SHORT] {
            held.submit(operation);
        }
        assert_eq!(held.finish(), expected, "{:?}", table.queues);
    }
}

#[test]
fn an_earlier_deadline_of_a_longer_period_comes_first() {
    for (table, expected) in [
        (&BY_PRIORITY, ["short", "slow"]),
        (&BY_DEADLINE, ["slow", "short"]),
    ] {
        let held = Held::new(table, |it| it);
        held.submit(SLOW);
        held.clock.advance(60 * MS);
        held.submit(SHORT);
        assert_eq!(held.finish(), expected);
    }
}

/// Conformance: RT 6 - overload policy of an operation: run late, skip, cancel, counted
#[test]
fn late_runs_run_or_are_skipped() {
    let held = Held::new(&BY_DEADLINE, |it| it.overload(SHORT, Overload::Skip));
    held.submit(SHORT);
    held.submit(LONG);
    held.clock.advance(61 * MS);
    held.submit(SHORT);
    assert_eq!(held.finish(), ["long", "short"]);
    let expected = Counts {
        runs: 1,
        skipped: 1,
        ..Counts::default()
    };
    assert_eq!(held.counts(SHORT), expected);
    let expected = Counts {
        runs: 1,
        late: 1,
        ..Counts::default()
    };
    assert_eq!(held.counts(LONG), expected);
}

/// Conformance: RT 6 - overload policy of an operation: run late, skip, cancel, counted
#[test]
fn runs_beyond_their_deadline_are_cancelled() {
    let held = Held::new(&BY_DEADLINE, |it| it.overload(SHORT, Overload::Cancel));
    let clock = held.clock.clone();
    let work = move |job: &orbium_scheduler::Job<'_>| {
        assert_eq!((job.due(), job.deadline()), (Duration::ZERO, Some(50 * MS)));
        while !job.is_cancelled() {
            clock.advance(10 * MS);
        }
        assert!(job.is_late());
    };
    held.dispatcher.submit(SHORT, work).unwrap();
    held.finish();
    let expected = Counts {
        runs: 1,
        cancelled: 1,
        ..Counts::default()
    };
    assert_eq!(held.counts(SHORT), expected);
}

#[test]
fn a_full_queue_refuses_and_counts() {
    let held = Held::new(&BY_DEADLINE, |it| it.bound(2));
    held.submit(LONG);
    held.submit(LONG);
    let refused = held.dispatcher.submit(LONG, |_| panic!("it runs"));
    assert_eq!(refused, Err(SubmitError::Full));
    assert_eq!(held.finish(), ["long", "long"]);
    assert_eq!((held.counts(LONG).refused, held.counts(LONG).runs), (1, 2));
    let unknown = held.dispatcher.submit(3, |_| panic!("it runs"));
    assert_eq!(unknown, Err(SubmitError::UnknownOperation(3)));
    assert_eq!(
        (held.dispatcher.counts(3), held.dispatcher.waiting(1)),
        (None, None)
    );
}

#[test]
fn a_panic_ends_the_run_alone() {
    let held = Held::new(&BY_DEADLINE, |it| it);
    let work = |_: &orbium_scheduler::Job<'_>| std::panic::resume_unwind(Box::new("work"));
    held.dispatcher.submit(SHORT, work).unwrap();
    held.submit(LONG);
    assert_eq!(held.finish(), ["long"]);
    assert_eq!(
        (held.counts(SHORT).panicked, held.counts(LONG).panicked),
        (1, 0)
    );
}

/// What waits is dropped, so that it can answer for itself.
#[test]
fn a_stopped_dispatcher_drops_what_waits() {
    let held = Held::new(&BY_DEADLINE, |it| it);
    let waits = Arc::new(());
    let own = Arc::clone(&waits);
    held.dispatcher.submit(SHORT, move |_| drop(own)).unwrap();
    let dispatcher = Arc::clone(&held.dispatcher);
    let stopping = thread::spawn(move || dispatcher.stop());
    eventually("it stops", || {
        held.dispatcher.submit(LONG, |_| ()) == Err(SubmitError::Stopped)
    });
    held.release.send(()).unwrap();
    within("the end", move || stopping.join().unwrap());
    assert_eq!(Arc::strong_count(&waits), 1);
    assert_eq!((held.counts(SHORT).runs, held.counts(SLOW).runs), (0, 1));
    held.dispatcher.stop();
}

/// Conformance: RT 6 - each queue of the schedule has a thread of its own
#[test]
fn queues_run_concurrently_at_their_priorities() {
    let dispatcher = Dispatcher::builder(&SCHEDULE).soft(true).start().unwrap();
    let (ran, found) = channel();
    let meeting = Arc::new(std::sync::Barrier::new(3));
    for operation in 0..3 {
        let (ran, meeting) = (ran.clone(), Arc::clone(&meeting));
        let work = move |_: &orbium_scheduler::Job<'_>| {
            meeting.wait();
            let name = thread::current().name().map(str::to_owned);
            ran.send((name, priority::current().map(i16::from)))
                .unwrap();
        };
        dispatcher.submit(operation, work).unwrap();
    }
    let mut all = within("three runs at once", move || {
        found.iter().take(3).collect::<Vec<_>>()
    });
    all.sort();
    let expected = [("queue-0", 20), ("queue-1", 10), ("queue-2", 5)];
    assert_eq!(
        all,
        expected.map(|(name, at)| (Some(name.to_owned()), Some(at)))
    );
}

#[test]
fn a_policy_of_no_operation_is_refused() {
    let builder = Dispatcher::builder(&BY_DEADLINE).overload(3, Overload::Skip);
    let error = builder.start().unwrap_err().to_string();
    assert_eq!(error, "no operation `3` is registered");
}

/// Conformance: RT 6 - soft mode says which queues run without their native priority - a dispatcher
#[test]
fn a_soft_dispatcher_says_what_the_host_refuses() {
    in_own_process!(|| {
        give_up_real_time();
        let recorder = Recorder::install(LevelFilter::WARN);
        assert!(Dispatcher::builder(&SCHEDULE).start().is_err());
        let dispatcher = Dispatcher::builder(&SCHEDULE).soft(true).start().unwrap();
        let numbers: Vec<_> = dispatcher.refused().iter().map(|(it, _)| *it).collect();
        // The third is time-sliced at a native priority too.
        assert_eq!(numbers, [0, 1, 2]);
        assert!(
            dispatcher.refused()[0]
                .1
                .to_string()
                .contains("not permitted")
        );
        let warned = recorder.events("without its native priority or reservation");
        let threads: Vec<_> = warned.iter().map(|it| it.get("thread")).collect();
        assert_eq!(threads, ["queue-0", "queue-1", "queue-2"]);
        let (done, ended) = channel();
        let work = move |_: &orbium_scheduler::Job<'_>| done.send(()).unwrap();
        dispatcher.submit(0, work).unwrap();
        within("the run", move || ended.recv().unwrap());
    });
}
