// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers that pull.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use orbium_event::{
    Channel, ChannelConfig, ConsumerOptions, DeliveryError, DiscardPolicy, FailurePolicy, Pattern,
    Peer, PullError, QueueLimits, QueueOrder, Subscription, new_event,
};
use orbium_testkit::{PATIENCE, eventually};

use crate::queues::{consumer, each_dispatching, options, ranked};

/// Answers pings or not.
#[derive(Default)]
struct Puller {
    is_silent: AtomicBool,
}

impl Peer for Puller {
    fn ping(&self) -> Result<(), DeliveryError> {
        if self.is_silent.load(Ordering::SeqCst) {
            Err(DeliveryError::Failed)
        } else {
            Ok(())
        }
    }
}

fn pulled(channel: &Channel, options: ConsumerOptions) -> Subscription {
    let peer = Arc::new(Puller::default());
    let subscribed = channel.subscribe_pulled(&Pattern::Null, options, peer, || {});
    subscribed.unwrap()
}

fn sources(subscription: &Subscription, most: usize) -> Vec<i32> {
    let events = subscription.pull(most, Instant::now() + PATIENCE).unwrap();
    events.iter().map(|it| it.header.source).collect()
}

/// Conformance: events - consumers that pull - order, lifetimes and bounds of their queues, with every dispatching
#[test]
fn a_consumer_pulls_events_by_the_policies_of_its_queue() {
    each_dispatching(|channel| {
        let supplier = channel.connect_supplier(&[]).unwrap();
        let now = Instant::now();
        for (discard, expected) in [
            (DiscardPolicy::Oldest, [4, 3]),
            (DiscardPolicy::LowestPriority, [2, 4]),
        ] {
            let consumer = pulled(
                channel,
                options(QueueLimits {
                    sets: 2,
                    discard,
                    order: QueueOrder::Priority,
                    ..QueueLimits::default()
                }),
            );
            assert_eq!(consumer.pull(1, now), Err(PullError::TimedOut));
            supplier.push(&[ranked(9, 9, true)]);
            for (source, priority) in [(1, 1), (2, 5), (3, -1), (4, 5)] {
                supplier.push(&[ranked(source, priority, false)]);
            }
            assert_eq!(sources(&consumer, 1), expected[..1], "{discard:?}");
            assert_eq!(sources(&consumer, 10), expected[1..]);
            let counts = consumer.statistics();
            assert_eq!(
                (counts.delivered, counts.discarded, counts.expired),
                (2, 2, 1)
            );
            supplier.push(&[ranked(5, 0, false)]);
            assert!(consumer.discard_one() && !consumer.discard_one());
        }
    });
}

/// Conformance: events - consumers that pull - several threads wait, and the end of the connection
#[test]
fn threads_that_wait_get_one_event_each_and_see_the_end() {
    each_dispatching(|channel| {
        let consumer = pulled(channel, ConsumerOptions::default());
        let supplier = channel.connect_supplier(&[]).unwrap();
        thread::scope(|scope| {
            let pull = || consumer.pull(1, Instant::now() + PATIENCE);
            let waiting: Vec<_> = (0..4).map(|_| scope.spawn(pull)).collect();
            for source in 1..4 {
                supplier.push(&[new_event(16, source)]);
            }
            eventually("the events are taken", || {
                consumer.statistics().delivered == 3
            });
            assert!(consumer.disconnect());
            let outcomes: Vec<_> = waiting.into_iter().map(|it| it.join().unwrap()).collect();
            let ended = outcomes
                .iter()
                .filter(|it| **it == Err(PullError::Disconnected));
            assert_eq!(ended.count(), 1);
            let mut sources: Vec<_> = outcomes.into_iter().flatten().flatten().collect();
            sources.sort_by_key(|it| it.header.source);
            let sources: Vec<_> = sources.iter().map(|it| it.header.source).collect();
            assert_eq!(sources, [1, 2, 3]);
        });
        assert_eq!(
            consumer.pull(1, Instant::now()),
            Err(PullError::Disconnected)
        );
    });
}

/// Conformance: events - consumers that pull - one that is pushed to pulls nothing
#[test]
fn a_consumer_that_is_pushed_to_pulls_nothing() {
    each_dispatching(|channel| {
        let (pushed, _received) = consumer(channel, ConsumerOptions::default());
        assert_eq!(pushed.pull(1, Instant::now()), Err(PullError::Pushed));
    });
}

/// Conformance: events - events wait for consumers that are suspect, on request - a consumer that pulls
#[test]
fn events_wait_while_a_consumer_does_not_answer_pings() {
    let channel = Channel::new(ChannelConfig {
        ping_period: Some(Duration::from_millis(1)),
        failure: FailurePolicy {
            failures: u32::MAX,
            time: Duration::from_secs(600),
        },
        ..ChannelConfig::default()
    });
    let supplier = channel.connect_supplier(&[]).unwrap();
    for (waits_for_suspect, expected) in [(true, vec![1, 2]), (false, vec![])] {
        let peer = Arc::new(Puller::default());
        let options = ConsumerOptions {
            waits_for_suspect,
            ..ConsumerOptions::default()
        };
        let puller = Arc::clone(&peer);
        let consumer = channel.subscribe_pulled(&Pattern::Null, options, puller, || {});
        let consumer = consumer.unwrap();
        supplier.push(&[new_event(16, 1)]);
        peer.is_silent.store(true, Ordering::SeqCst);
        eventually("it is suspect", || consumer.statistics().is_suspect);
        supplier.push(&[new_event(16, 2)]);
        peer.is_silent.store(false, Ordering::SeqCst);
        eventually("it is well", || !consumer.statistics().is_suspect);
        let lost = 2 - expected.len();
        assert_eq!(consumer.statistics().lost, lost as u64);
        supplier.push(&[new_event(16, 3)]);
        let mut all = sources(&consumer, 10);
        assert_eq!(all.pop(), Some(3));
        assert_eq!(all, expected);
    }
}
