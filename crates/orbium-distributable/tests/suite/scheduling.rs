// SPDX-License-Identifier: MIT OR Apache-2.0
//! Native priorities of segments.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use orbium::giop::time::UtcTime;
use orbium::lane::{Reservation, Scheduling};
use orbium_distributable::{
    Current, DistributableThreads, FixedPriority, Ranked, SchedulingParameter, Spawn,
};
use orbium_sys::NativeThread;
use orbium_testkit::skipped;

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

/// Regression: the priority of the segment ended the reservation of the thread, which had
/// SCHED_OTHER afterwards.
///
/// Conformance: RT 6 - distributable threads: a native thread with a reservation keeps it in each segment
#[test]
fn a_thread_with_a_reservation_keeps_it() {
    let ms = Duration::from_millis;
    let wanted = Reservation::new(ms(1), ms(100));
    let threads = DistributableThreads::new(FixedPriority::default());
    let current = threads.current();
    let reserved = thread::spawn(move || {
        if let Err(error) = wanted.apply_to_this_thread() {
            return skipped(&format!("a reservation: {error}"));
        }
        let has = || Reservation::of_this_thread().unwrap();
        current
            .begin_scheduling_segment("scan", priority(3), None)
            .unwrap();
        assert_eq!(has(), Some(wanted));
        current.end_scheduling_segment("scan").unwrap();
        assert_eq!(has(), Some(wanted));
    });
    reserved.join().unwrap();
    assert_eq!(threads.refused_schedulings(), 0);
}

/// Conformance: RT 6 - distributable threads: spawned with parameters of its own, or the implicit ones - at a base priority
#[test]
fn a_spawned_thread_has_its_base_priority_where_its_segment_has_none() {
    let mapping = |priority| (priority == 5).then(|| Scheduling::fifo(4));
    let threads = DistributableThreads::new(FixedPriority::new(mapping));
    let current = threads.current();
    let before = native();
    for (parameter, expected) in [(None, 3), (Some(priority(1)), 3), (Some(priority(5)), 4)] {
        let spawn = Spawn {
            parameter,
            base_priority: Some(Scheduling::fifo(3)),
            ..Spawn::default()
        };
        let (send, seen) = channel();
        let spawned = current.spawn(spawn, move || send.send(native()).unwrap());
        let spawned = spawned.unwrap();
        spawned.native.join().unwrap();
        let expected = if is_permitted() {
            Scheduling::fifo(expected)
        } else {
            before
        };
        assert_eq!(seen.recv().unwrap(), expected, "{parameter:?}");
    }
    assert_eq!(threads.refused_schedulings() > 0, !is_permitted());
    assert_eq!(native(), before);
}

/// A thread that begins a segment, and then says its native priority whenever it is asked.
struct Segment {
    /// What it computes before it answers.
    ask: Sender<Duration>,
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
            while let Ok(time) = asked.recv() {
                compute(time);
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
        self.compute(Duration::ZERO)
    }

    fn compute(&self, time: Duration) -> i32 {
        self.ask.send(time).unwrap();
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

/// The native priorities of segments that begin in this order, each at 2 to 4.
fn ranks<const N: usize>(ranked: Ranked, parameters: [SchedulingParameter; N]) -> Option<[i32; N]> {
    let threads = DistributableThreads::new(ranked);
    let segments = parameters.map(|it| Segment::begin(threads.current(), it));
    let priorities = segments.each_ref().map(Segment::priority);
    segments.into_iter().for_each(Segment::end);
    if is_permitted() {
        Some(priorities)
    } else {
        assert!(threads.refused_schedulings() > 0);
        None
    }
}

/// Units of 100 ns. That the test itself takes time changes nothing.
const MINUTE: u64 = 60 * 10_000_000;

/// Conformance: RT 6 - distributable threads: EDF, LLF and MUF by rank, mapped to native priorities
#[test]
fn the_least_laxity_has_the_highest_native_priority() {
    let laxity = |(deadline, execution, importance)| SchedulingParameter::LeastLaxity {
        deadline: deadline * MINUTE,
        execution: execution * MINUTE,
        importance,
    };
    // Latest starts of 50, 10 and 40 minutes: not the order of the deadlines.
    let parameters = [(60, 10, 9), (70, 60, 0), (50, 10, 0)].map(laxity);
    let found = ranks(Ranked::least_laxity(2..=4), parameters);
    assert!(found.is_none_or(|it| it == [2, 4, 3]), "{found:?}");
}

/// Conformance: RT 6 - distributable threads: EDF, LLF and MUF by rank, mapped to native priorities
#[test]
fn the_most_critical_has_the_highest_native_priority_then_the_least_laxity() {
    let urgency = |(deadline, execution, criticality)| SchedulingParameter::MaximumUrgency {
        deadline: deadline * MINUTE,
        execution: execution * MINUTE,
        criticality,
    };
    let parameters = [(60, 10, 1), (70, 60, 1), (90, 10, 2)].map(urgency);
    let found = ranks(Ranked::maximum_urgency(2..=4), parameters);
    assert!(found.is_none_or(|it| it == [2, 3, 4]), "{found:?}");
}

/// Conformance: RT 6 - distributable threads: the most important first, mapped to native priorities
#[test]
fn the_most_important_has_the_highest_native_priority() {
    let parameters =
        [5, -1, 7].map(|importance| SchedulingParameter::MostImportantFirst { importance });
    let found = ranks(Ranked::most_important_first(2..=4), parameters);
    assert!(found.is_none_or(|it| it == [3, 2, 4]), "{found:?}");
}

/// Uses that much processor time.
fn compute(time: Duration) {
    let used = || NativeThread::current().processor_time().unwrap();
    let end = used() + time;
    while used() < end {
        std::hint::spin_loop();
    }
}

/// A thread uses half of its estimate: at the next scheduling point, which is of a third thread, its
/// laxity is greater than that of one that waits.
///
/// Conformance: RT 6 - distributable threads: laxity counts the execution time that remains, anew at each scheduling point
#[test]
fn executed_time_counts_no_more() {
    const MILLISECOND: u64 = 10_000;
    let parameter = |is_urgency: bool, start: u64, execution: u64| {
        let deadline = 60 * MINUTE + start + execution;
        if is_urgency {
            SchedulingParameter::MaximumUrgency {
                deadline,
                execution,
                criticality: 1,
            }
        } else {
            SchedulingParameter::LeastLaxity {
                deadline,
                execution,
                importance: 1,
            }
        }
    };
    for (is_urgency, ranked) in [
        (false, Ranked::least_laxity(2..=4)),
        (true, Ranked::maximum_urgency(2..=4)),
    ] {
        let threads = DistributableThreads::new(ranked);
        let begin = |start, execution| {
            Segment::begin(threads.current(), parameter(is_urgency, start, execution))
        };
        let computing = begin(0, 400 * MILLISECOND);
        let waiting = begin(100 * MILLISECOND, 50 * MILLISECOND);
        let before = [&computing, &waiting].map(Segment::priority);
        computing.compute(Duration::from_millis(200));
        let unchanged = [&computing, &waiting].map(Segment::priority);
        let third = begin(60 * MINUTE, 0);
        let after = [&computing, &waiting, &third].map(Segment::priority);
        [computing, waiting, third]
            .into_iter()
            .for_each(Segment::end);
        if is_permitted() {
            assert_eq!(before, [4, 3]);
            assert_eq!(unchanged, before);
            assert_eq!(after, [3, 4, 2]);
        } else {
            assert!(threads.refused_schedulings() > 0);
        }
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
