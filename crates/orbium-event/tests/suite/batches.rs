// SPDX-License-Identifier: MIT OR Apache-2.0
//! Batches that wait until they are complete, or for an interval.

use std::time::Duration;

use orbium_event::{Batches, ConsumerOptions, QueueLimits, new_event};
use orbium_testkit::eventually;

use crate::queues::{consumer, each_dispatching, next};

fn paced(events: usize, pacing: Duration) -> ConsumerOptions {
    ConsumerOptions {
        batches: Batches { events, pacing },
        ..ConsumerOptions::default()
    }
}

const HOUR: Duration = Duration::from_secs(3600);

/// Conformance: events - batches that wait until they are complete or for an interval - complete ones, with every dispatching
#[test]
fn a_batch_waits_until_it_is_complete() {
    each_dispatching(|channel| {
        let (subscription, received) = consumer(channel, paced(3, HOUR));
        let supplier = channel.connect_supplier(&[]).unwrap();
        (1..9).for_each(|source| supplier.push(&[new_event(16, source)]));
        assert_eq!(next(&received), [1, 2, 3]);
        assert_eq!(next(&received), [4, 5, 6]);
        eventually("the rest waits", || {
            subscription.statistics().delivered == 6 && subscription.statistics().queued == 2
        });
        supplier.push(&[new_event(16, 9)]);
        assert_eq!(next(&received), [7, 8, 9]);
        // Without an interval what is there is pushed.
        supplier.push(&[new_event(16, 10)]);
        assert!(received.try_recv().is_err());
        let batches = Batches {
            events: 3,
            ..Batches::default()
        };
        subscription
            .set_queue(QueueLimits::default(), batches)
            .unwrap();
        assert_eq!(next(&received), [10]);
        supplier.push(&[new_event(16, 11)]);
        assert_eq!(next(&received), [11]);
        // And with one again they wait.
        let batches = Batches {
            events: 2,
            pacing: HOUR,
        };
        subscription
            .set_queue(QueueLimits::default(), batches)
            .unwrap();
        supplier.push(&[new_event(16, 12)]);
        assert_eq!(subscription.statistics().queued, 1);
        supplier.push(&[new_event(16, 13)]);
        assert_eq!(next(&received), [12, 13]);
        // A shorter interval is in force at once.
        supplier.push(&[new_event(16, 14)]);
        let pacing = Duration::from_millis(1);
        let batches = Batches { events: 2, pacing };
        subscription
            .set_queue(QueueLimits::default(), batches)
            .unwrap();
        assert_eq!(next(&received), [14]);
    });
}

/// Conformance: events - batches that wait until they are complete or for an interval - the interval, with every dispatching
#[test]
fn a_batch_that_is_not_complete_waits_for_its_interval() {
    each_dispatching(|channel| {
        let pacing = Duration::from_millis(1);
        let (subscription, received) = consumer(channel, paced(1000, pacing));
        let supplier = channel.connect_supplier(&[]).unwrap();
        for source in 1..20 {
            supplier.push(&[new_event(16, source)]);
            assert_eq!(next(&received), [source]);
        }
        // In a pause batches wait whatever their interval is.
        subscription.pause();
        (20..23).for_each(|source| supplier.push(&[new_event(16, source)]));
        assert_eq!(subscription.statistics().queued, 3);
        subscription.unpause();
        let mut sources = next(&received);
        while sources.len() < 3 {
            sources.extend(next(&received));
        }
        assert_eq!(sources, [20, 21, 22]);
    });
}

/// A supplier and pauses at once: nothing is lost, and nothing overtakes.
#[test]
fn paced_events_keep_their_order_while_a_consumer_pauses_and_goes_on() {
    const EVENTS: i32 = 1_001;
    each_dispatching(|channel| {
        let (subscription, received) = consumer(channel, paced(4, Duration::from_micros(200)));
        let supplier = channel.connect_supplier(&[]).unwrap();
        let mut sources = Vec::new();
        std::thread::scope(|scope| {
            let pushing = scope.spawn(|| {
                (1..=EVENTS).for_each(|source| supplier.push(&[new_event(16, source)]));
            });
            while !pushing.is_finished() {
                subscription.pause();
                subscription.unpause();
                sources.extend(received.try_iter().flatten());
            }
        });
        let discarded = usize::try_from(subscription.statistics().discarded).unwrap();
        while sources.len() < EVENTS as usize - discarded {
            sources.extend(next(&received));
        }
        assert!(sources.is_sorted());
    });
}
