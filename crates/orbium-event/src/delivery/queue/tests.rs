// SPDX-License-Identifier: MIT OR Apache-2.0

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::*;
use crate::delivery::queue::limits::QueueOrder;
use crate::event::new_event;

struct Waiting(Queue, Behind);

impl Waiting {
    fn put(&mut self, set: EventSet) -> Put {
        self.rank(set, 0, None)
    }

    /// Puts a set that expires in so many seconds.
    fn rank(&mut self, set: EventSet, priority: i16, seconds: Option<u64>) -> Put {
        let now = Instant::now();
        let expires = seconds.map(|it| now + Duration::from_secs(it));
        self.0
            .put(&mut self.1, set, Rank { priority, expires }, now)
    }

    /// Takes the sets as the consumer does.
    fn types(&mut self) -> Vec<i32> {
        let mut types = Vec::new();
        loop {
            let set = match self.0.take() {
                Taken::Set(set) => set,
                Taken::Behind => match self.0.pop(&mut self.1) {
                    Some(set) => set,
                    None => return types,
                },
                Taken::Newer(_) => unreachable!("nothing is moved"),
                Taken::Nothing => return types,
            };
            types.extend(set.events().iter().map(|it| it.header.r#type));
        }
    }
}

fn queue(sets: usize, bytes: usize, discard: DiscardPolicy) -> Waiting {
    by_order(sets, bytes, discard, QueueOrder::Arrival)
}

fn by_order(sets: usize, bytes: usize, discard: DiscardPolicy, order: QueueOrder) -> Waiting {
    let limits = QueueLimits {
        sets,
        bytes,
        discard,
        order,
    };
    Waiting(Queue::new(limits), Behind::new(limits))
}

fn one(r#type: i32, payload: usize) -> EventSet {
    let mut event = new_event(r#type, 1);
    event.data.payload = vec![0; payload];
    EventSet::One(event.into())
}

#[test]
fn the_oldest_events_are_discarded() {
    let mut queue = queue(2, 1 << 20, DiscardPolicy::Oldest);
    queue.put(one(16, 0));
    queue.put(one(17, 0));
    assert_eq!(queue.put(one(18, 0)), Put::Queued { discarded: 1 });
    assert_eq!(queue.types(), [17, 18]);
}

#[test]
fn the_newest_event_is_discarded() {
    let mut queue = queue(1, 1 << 20, DiscardPolicy::Newest);
    queue.put(one(16, 0));
    assert_eq!(queue.put(one(17, 0)), Put::Discarded { others: 0 });
    assert_eq!(queue.types(), [16]);
}

#[test]
fn the_latest_event_is_discarded_for_the_new_one() {
    let mut queue = queue(2, 1 << 20, DiscardPolicy::Latest);
    for r#type in 16..19 {
        queue.put(one(r#type, 0));
    }
    assert_eq!(queue.types(), [16, 18]);
}

#[test]
fn events_of_one_type_and_source_coalesce() {
    let mut queue = queue(2, 1 << 20, DiscardPolicy::Coalesce);
    queue.put(one(16, 1));
    queue.put(one(17, 1));
    assert_eq!(queue.put(one(16, 2)), Put::Queued { discarded: 1 });
    assert_eq!(queue.put(one(18, 2)), Put::Queued { discarded: 1 });
    assert_eq!(queue.types(), [16, 18]);
}

#[test]
fn a_full_queue_can_ask_for_disconnection() {
    let mut queue = queue(1, 1 << 20, DiscardPolicy::Disconnect);
    queue.put(one(16, 0));
    assert_eq!(queue.put(one(17, 0)), Put::Overflow);
}

#[test]
fn bytes_are_bounded_and_accounted() {
    let mut queue = queue(100, 10_000, DiscardPolicy::Oldest);
    assert_eq!(queue.put(one(16, 20_000)), Put::Discarded { others: 0 });
    for _ in 0..5 {
        queue.put(one(16, 4_000));
    }
    assert_eq!(queue.0.len(), 2);
    assert_eq!(queue.0.clear(&mut queue.1), 2);
    assert_eq!(queue.0.bytes.load(Ordering::Relaxed), 0);
}

#[test]
fn sets_keep_their_order_in_front_and_behind() {
    let count = i32::try_from(3 * MAX_FRONT).unwrap();
    let mut queue = queue(10 * MAX_FRONT, 1 << 30, DiscardPolicy::Oldest);
    let put = |queue: &mut Waiting, range: std::ops::Range<i32>| {
        for r#type in range {
            assert_eq!(queue.put(one(r#type, 0)), Put::Queued { discarded: 0 });
        }
    };
    put(&mut queue, 0..count);
    assert!(matches!(queue.0.take(), Taken::Set(_)));
    // There is space in front, and older sets are behind.
    put(&mut queue, count..count + 1);
    assert!(queue.0.next_arrived(&mut queue.1).is_some());
    assert!(matches!(queue.0.take(), Taken::Behind));
    put(&mut queue, count + 1..count + 2);
    assert_eq!(queue.types(), (1..count + 2).collect::<Vec<_>>());
    put(&mut queue, 0..1);
    assert!(matches!(queue.0.take(), Taken::Set(_)));
    assert_eq!(queue.0.len(), 0);
}

#[test]
fn sets_are_taken_in_order_as_they_are_put() {
    let count = 10_000;
    let mut waiting = queue(count, 1 << 30, DiscardPolicy::Oldest);
    let Waiting(queue, behind) = &mut waiting;
    let behind = orbium::lock::Mutex::new(behind);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for r#type in 0..count {
                let set = one(i32::try_from(r#type).unwrap(), 0);
                queue.put(&mut behind.lock(), set, Rank::default(), Instant::now());
            }
        });
        let mut types = Vec::new();
        while types.len() < count {
            let set = match queue.take() {
                Taken::Set(set) => Some(set),
                Taken::Behind => queue.pop(&mut behind.lock()),
                Taken::Newer(_) => unreachable!("nothing is moved"),
                Taken::Nothing => None,
            };
            match set {
                Some(set) => types.push(set.events()[0].header.r#type),
                None => std::thread::yield_now(),
            }
        }
        assert!(types.is_sorted());
    });
}

/// Regression: a set was taken before an older one that was being moved, or none was found: the
/// consumer waited for a notification that no producer sends as long as there are sets.
#[test]
fn sets_that_are_moved_behind_stay_in_order_and_are_found() {
    const COUNT: usize = 4_000;
    let mut waiting = queue(COUNT, 1 << 30, DiscardPolicy::Oldest);
    for r#type in 0..COUNT {
        waiting.put(one(i32::try_from(r#type).unwrap(), 0));
    }
    let Waiting(queue, behind) = &mut waiting;
    let (behind, is_done) = (orbium::lock::Mutex::new(behind), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                queue.hold(&mut behind.lock(), false);
            }
        });
        let mut types = Vec::new();
        let mut has_missed = false;
        while types.len() < COUNT && !has_missed {
            let set = match queue.take() {
                Taken::Set(set) => Some(set),
                Taken::Behind => queue.pop(&mut behind.lock()),
                Taken::Newer(arrived) => {
                    let mut behind = behind.lock();
                    queue.put_back(&mut behind, arrived);
                    queue.pop(&mut behind)
                }
                Taken::Nothing => None,
            };
            has_missed = set.is_none();
            types.extend(set.map(|it| it.events()[0].header.r#type));
        }
        is_done.store(true, Ordering::Relaxed);
        assert!(!has_missed, "after {} sets", types.len());
        assert!(types.is_sorted());
    });
}

/// Regression: a set in front was taken before those that were being moved behind.
#[test]
fn sets_that_are_taken_during_a_move_are_put_back() {
    let mut waiting = queue(9, 1 << 20, DiscardPolicy::Oldest);
    waiting.put(one(17, 0));
    waiting.put(one(18, 0));
    let Waiting(queue, behind) = &mut waiting;
    queue.moves.store(1, Ordering::SeqCst);
    let Taken::Newer(first) = queue.take() else {
        panic!("it may be newer than what is being moved");
    };
    let Taken::Newer(second) = queue.take() else {
        panic!("it may be newer than what is being moved");
    };
    // They may be in the process of moving.
    assert!(matches!(queue.take(), Taken::Behind));
    queue.moves.store(2, Ordering::SeqCst);
    queue.put_back(behind, second);
    queue.put_back(behind, first);
    assert_eq!(waiting.types(), [17, 18]);
}

/// Regression: none was found if a producer moved all sets to the front at that moment: after the
/// consumer had checked the front, and also between two checks behind.
#[test]
fn sets_that_are_moved_to_the_front_are_found() {
    let mut waiting = queue(9, 1 << 20, DiscardPolicy::Oldest);
    (16..20).for_each(|it| assert_eq!(waiting.put(one(it, 0)), Put::Queued { discarded: 0 }));
    let Waiting(queue, behind) = &mut waiting;
    let (behind, is_done) = (orbium::lock::Mutex::new(behind), AtomicBool::new(false));
    let put = |behind: &mut Behind, set| {
        queue.put(behind, set, Rank::default(), Instant::now());
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let mut behind = behind.lock();
                queue.hold(&mut behind, false);
                let first = queue.pop(&mut behind);
                first.into_iter().for_each(|set| put(&mut behind, set));
            }
        });
        let mut has_missed = false;
        for _ in 0..300_000 {
            match queue.take() {
                Taken::Set(set) => put(&mut behind.lock(), set),
                Taken::Newer(arrived) => queue.put_back(&mut behind.lock(), arrived),
                Taken::Behind => {}
                Taken::Nothing => has_missed = true,
            }
        }
        is_done.store(true, Ordering::Relaxed);
        assert!(!has_missed);
    });
}

#[test]
fn the_greatest_priority_is_delivered_first() {
    let mut queue = by_order(9, 1 << 20, DiscardPolicy::Oldest, QueueOrder::Priority);
    for (r#type, priority) in [(16, 0), (17, 5), (18, -3), (19, 5), (20, 0)] {
        queue.rank(one(r#type, 0), priority, None);
    }
    assert_eq!(queue.types(), [17, 19, 16, 20, 18]);
}

#[test]
fn the_first_to_expire_is_delivered_first_and_expired_sets_are_not() {
    let mut queue = by_order(9, 1 << 20, DiscardPolicy::Oldest, QueueOrder::Deadline);
    for (r#type, seconds) in [
        (16, None),
        (17, Some(900)),
        (18, Some(0)),
        (19, Some(800)),
        (20, None),
    ] {
        queue.rank(one(r#type, 0), 0, seconds);
    }
    assert_eq!(queue.types(), [19, 17, 16, 20]);
    assert_eq!((queue.0.expired(), queue.0.len()), (1, 0));
    // In front, too.
    let mut queue = by_order(9, 1 << 20, DiscardPolicy::Oldest, QueueOrder::Arrival);
    for (r#type, seconds) in [(16, Some(0)), (17, Some(900)), (18, Some(0))] {
        queue.rank(one(r#type, 0), 0, seconds);
    }
    assert_eq!(queue.types(), [17]);
    assert_eq!(queue.0.expired(), 2);
    assert_eq!(queue.0.bytes.load(Ordering::Relaxed), 0);
}

#[test]
fn the_lowest_priority_is_discarded_or_what_expires_first() {
    let lowest = DiscardPolicy::LowestPriority;
    let mut queue = by_order(2, 1 << 20, lowest, QueueOrder::Arrival);
    queue.rank(one(16, 0), 3, None);
    queue.rank(one(17, 0), 1, None);
    assert_eq!(
        queue.rank(one(18, 0), 0, None),
        Put::Discarded { others: 0 }
    );
    assert_eq!(
        queue.rank(one(19, 0), 1, None),
        Put::Queued { discarded: 1 }
    );
    assert_eq!(
        queue.rank(one(20, 0), 2, None),
        Put::Queued { discarded: 1 }
    );
    assert_eq!(queue.types(), [16, 20]);

    let first = DiscardPolicy::FirstToExpire;
    let mut queue = by_order(2, 1 << 20, first, QueueOrder::Arrival);
    queue.rank(one(16, 0), 0, None);
    queue.rank(one(17, 0), 0, Some(900));
    let sooner = queue.rank(one(18, 0), 0, Some(800));
    assert_eq!(sooner, Put::Discarded { others: 0 });
    assert_eq!(
        queue.rank(one(19, 0), 0, None),
        Put::Queued { discarded: 1 }
    );
    assert_eq!(queue.types(), [16, 19]);
}

#[test]
fn expired_sets_make_space_before_others_are_discarded() {
    let mut queue = by_order(2, 1 << 20, DiscardPolicy::Newest, QueueOrder::Arrival);
    queue.rank(one(16, 0), 0, Some(0));
    queue.rank(one(17, 0), 0, None);
    assert_eq!(
        queue.rank(one(18, 0), 0, None),
        Put::Queued { discarded: 0 }
    );
    assert_eq!(queue.types(), [17, 18]);
}

#[test]
fn sets_that_wait_follow_other_limits() {
    let mut queue = queue(9, 1 << 20, DiscardPolicy::Oldest);
    let put = |queue: &mut Waiting| {
        for (r#type, priority) in [(16, 0), (17, 5), (18, 1)] {
            queue.rank(one(r#type, 0), priority, None);
        }
    };
    let limits = |order| QueueLimits {
        order,
        ..QueueLimits::default()
    };
    put(&mut queue);
    queue
        .0
        .set_limits(&mut queue.1, limits(QueueOrder::Priority));
    assert_eq!(queue.types(), [17, 18, 16]);
    put(&mut queue);
    queue
        .0
        .set_limits(&mut queue.1, limits(QueueOrder::Arrival));
    assert_eq!(queue.types(), [16, 17, 18]);
}

#[test]
fn several_sets_are_taken_as_one() {
    let mut queue = queue(9, 1 << 20, DiscardPolicy::Oldest);
    (16..21).for_each(|it| assert_eq!(queue.put(one(it, 0)), Put::Queued { discarded: 0 }));
    let mut lengths = Vec::new();
    while let Some(set) = EventSet::joined(2, || queue.0.pop(&mut queue.1)) {
        lengths.push(set.len());
    }
    assert_eq!(lengths, [2, 2, 1]);
}
