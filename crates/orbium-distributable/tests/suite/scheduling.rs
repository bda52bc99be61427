// SPDX-License-Identifier: MIT OR Apache-2.0
//! Native priorities of segments.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;

use orbium::Scheduling;
use orbium::giop::time::UtcTime;
use orbium_distributable::{
    Current, DistributableThreads, FixedPriority, Ranked, SchedulingParameter,
};
use orbium_sys::NativeThread;

use crate::common::{Process, priority};

/// Whether this host lets the tests have real-time priorities; without, the schedulers count refusals.
fn is_permitted() -> bool {
    Scheduling::fifo(3).try_out().is_ok()
}

fn native() -> Scheduling {
    NativeThread::current().scheduling().unwrap()
}

/// Conformance: RT 6 - distributable threads: fixed priorities as native ones, in each process of the thread
#[test]
fn a_fixed_priority_is_native_in_each_process() {
    let [client, server] = [(); 2].map(|()| Process::scheduled_by(FixedPriority::default()));
    let target = client.target_of(&server);
    server.state.on_act(|_, _| Ok(native().priority));
    let current = client.threads.current();
    let before = native();
    current
        .begin_scheduling_segment("scan", priority(3), None)
        .unwrap();
    let (own, served) = (native(), target.act(0));
    current.end_scheduling_segment("scan").unwrap();
    if is_permitted() {
        assert_eq!((own, served), (Scheduling::fifo(3), Ok(3)));
        assert_eq!(client.threads.refused_schedulings(), 0);
    } else {
        assert_eq!((own, served), (before, Ok(before.priority)));
        assert!(client.threads.refused_schedulings() > 0);
    }
    assert_eq!(native(), before);
    // The thread that served has its own priority again.
    assert_eq!(target.act(0), Ok(before.priority));
    [client, server].into_iter().for_each(Process::end);
}

/// A thread that begins a segment, and then says its native priority whenever it is asked.
struct Segment {
    ask: Sender<()>,
    answers: Receiver<i32>,
    thread: JoinHandle<()>,
}

impl Segment {
    fn begin(current: Current, parameter: SchedulingParameter) -> Self {
        let ((ask, asked), (answer, answers)) = (channel(), channel());
        let thread = thread::spawn(move || {
            current
                .begin_scheduling_segment("", parameter, None)
                .unwrap();
            answer.send(native().priority).unwrap();
            while asked.recv().is_ok() {
                answer.send(native().priority).unwrap();
            }
            current.end_scheduling_segment("").unwrap();
        });
        answers.recv().unwrap();
        Self {
            ask,
            answers,
            thread,
        }
    }

    fn priority(&self) -> i32 {
        self.ask.send(()).unwrap();
        self.answers.recv().unwrap()
    }

    fn end(self) {
        drop(self.ask);
        self.thread.join().unwrap();
    }
}

fn deadline(deadline: u64) -> SchedulingParameter {
    SchedulingParameter::EarliestDeadline {
        deadline,
        importance: 0,
    }
}

/// Conformance: RT 6 - distributable threads: EDF, LLF and MUF by rank, mapped to native priorities
#[test]
fn the_earliest_deadline_has_the_highest_native_priority() {
    let threads = DistributableThreads::new(Ranked::earliest_deadline(2..=4));
    let begin = |time| Segment::begin(threads.current(), deadline(time));
    let segments = [30, 10, 40, 20].map(begin);
    let priorities =
        |segments: &[Segment]| -> Vec<_> { segments.iter().map(Segment::priority).collect() };
    let before = priorities(&segments);
    let [third, first, fourth, second] = segments;
    first.end();
    let left = [third, fourth, second];
    let after = priorities(&left);
    left.into_iter().for_each(Segment::end);
    if is_permitted() {
        assert_eq!(before, [2, 4, 2, 3]);
        assert_eq!(after, [3, 2, 4]);
    } else {
        assert!(threads.refused_schedulings() > 0);
    }
}

/// Conformance: RT 6 - distributable threads: maximum utility: EDF without overload, the least useful last in overload
#[test]
fn in_overload_the_least_useful_thread_has_the_lowest_native_priority() {
    let threads = DistributableThreads::new(Ranked::maximum_utility(2..=4));
    let now = UtcTime::from(SystemTime::now()).0;
    // Minutes: that the test itself takes time changes nothing.
    let minutes = |minutes: u64| minutes * 60 * 10_000_000;
    let begin = |(deadline, execution, importance)| {
        let parameter = SchedulingParameter::MaximumUtility {
            deadline: now + minutes(deadline),
            execution: minutes(execution),
            importance,
        };
        Segment::begin(threads.current(), parameter)
    };
    let [first, second] = [(30, 20, 1), (60, 20, 5)].map(begin);
    let by_deadline = [first.priority(), second.priority()];
    // Three of them are too much until the last deadline.
    let third = begin((59, 30, 9));
    let in_overload = [&first, &second, &third].map(Segment::priority);
    third.end();
    let again = [first.priority(), second.priority()];
    [first, second].into_iter().for_each(Segment::end);
    if is_permitted() {
        assert_eq!(by_deadline, [4, 3]);
        assert_eq!(in_overload, [2, 3, 4]);
        assert_eq!(again, [4, 3]);
    } else {
        assert!(threads.refused_schedulings() > 0);
    }
}
