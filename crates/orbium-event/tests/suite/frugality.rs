// SPDX-License-Identifier: MIT OR Apache-2.0
//! Allocations and locks of an event in steady state.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use orbium::lock;
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{
    Channel, ChannelConfig, Dispatching, Pattern, SharedEvent, connect_consumer, connect_supplier,
    new_event,
};
use orbium_executor::{Policy, SchedulerContext, TaskQos};
use orbium_testkit::{
    Counted, count_allocations, eventually, fewest_allocations, in_own_process, skipped,
};

use crate::scheduled::SCHEDULE;
use crate::served::{Served, patient};

const NONE: Counted = Counted {
    allocations: 0,
    octets: 0,
};
const DISPATCHING: [Dispatching; 3] = [
    Dispatching::PerConsumer,
    Dispatching::Reactive,
    Dispatching::Scheduled(&SCHEDULE),
];
/// Until buffers have found their size and connections their threads.
const WARM_UP: usize = 300;
const EVENTS: usize = 100;
/// Lock operations if each event takes one lock: it is taken and released.
const ONE_LOCK: u64 = 2 * EVENTS as u64;

fn event() -> Event {
    let mut event = new_event(16, 1);
    event.data.payload = vec![7; 64];
    event
}

/// Pushes events, each of which waits until its consumers have counted it.
fn push_all(events: usize, consumers: usize, count: &AtomicUsize, mut push: impl FnMut()) {
    for _ in 0..events {
        let expected = count.load(Ordering::SeqCst) + consumers;
        push();
        eventually("the consumers get the event", || {
            count.load(Ordering::SeqCst) == expected
        });
    }
}

/// Events one by one, and in sets.
///
/// Conformance: robustness - no allocation per event in steady state - a served channel
#[test]
fn an_event_through_a_served_channel_takes_nothing_from_the_heap() {
    in_own_process!(|| {
        // The counter does count.
        assert_ne!(
            count_allocations(|| drop(std::hint::black_box(Box::new(1)))),
            NONE
        );
        for dispatching in DISPATCHING {
            let config = ChannelConfig {
                dispatching,
                soft: true,
                ping_period: None,
                ..patient()
            };
            let served = Served::new(config);
            let count = Arc::new(AtomicUsize::new(0));
            let consumers = [(); 3].map(|()| {
                let count = Arc::clone(&count);
                let on_events = move |events: &[Event]| {
                    count.fetch_add(events.len(), Ordering::SeqCst);
                };
                let pattern = Pattern::of(0, 1);
                connect_consumer(&served.orb, &served.channel, &pattern, on_events).unwrap()
            });
            let supplier = connect_supplier(&served.channel, &[(16, 1)]).unwrap();
            for events in [vec![event()], vec![event(); 3]] {
                let mut push = || supplier.push(&events).unwrap();
                let received = consumers.len() * events.len();
                push_all(WARM_UP, received, &count, &mut push);
                // The list of a set of several, in the queue of each consumer.
                let lists = if events.len() > 1 { consumers.len() } else { 0 };
                eventually("a set takes no more", || {
                    let counted = count_allocations(|| {
                        push_all(1, received, &count, &mut push);
                    });
                    counted.allocations <= lists
                });
                let most = lists * EVENTS;
                let counted = fewest_allocations(most, || {
                    push_all(EVENTS, received, &count, &mut push);
                });
                assert!(counted.allocations <= most, "{counted:?}, {dispatching:?}");
            }
        }
    });
}

/// Conformance: robustness - no allocation per event in steady state - a channel on a scheduler context
#[test]
fn an_event_to_the_task_of_a_consumer_takes_nothing_from_the_heap() {
    in_own_process!(|| {
        let context = SchedulerContext::builder("events").policy(Policy::Edf);
        let context = context.threads(1).build().unwrap();
        let config = ChannelConfig {
            ping_period: None,
            ..ChannelConfig::default()
        };
        let channel = Channel::on_context(config, &context, |_| TaskQos::default());
        let count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&count);
        let sink = move |events: &[SharedEvent]| {
            counter.fetch_add(events.len(), Ordering::SeqCst);
        };
        let _subscription = channel.subscribe(&Pattern::of(0, 1), sink).unwrap();
        let supplier = channel.connect_supplier(&[(16, 1)]).unwrap();
        let event = [event()];
        let mut push = || supplier.push(&event);
        push_all(WARM_UP, 1, &count, &mut push);
        let counted = fewest_allocations(0, || push_all(EVENTS, 1, &count, &mut push));
        assert_eq!(counted, NONE);
    });
}

/// Conformance: robustness - one lock per event in steady state: it is taken and released
#[test]
fn an_event_takes_one_lock_for_each_consumer() {
    if !lock::ENABLED {
        return skipped("locks per event: built without the feature `counted` of orbium");
    }
    in_own_process!(|| {
        let config = |dispatching| ChannelConfig {
            dispatching,
            soft: true,
            ping_period: None,
            ..ChannelConfig::default()
        };
        for dispatching in DISPATCHING {
            let operations = lock_operations(&Channel::new(config(dispatching)));
            assert_eq!(operations, ONE_LOCK, "{dispatching:?}");
        }
        let context = SchedulerContext::builder("events").policy(Policy::Edf);
        let context = context.threads(1).build().unwrap();
        let config = config(Dispatching::Contexts);
        let channel = Channel::on_context(config, &context, |_| TaskQos::default());
        let operations = lock_operations(&channel);
        // Those of the context are its own.
        assert!(operations > 0, "nothing was counted");
        println!("on a scheduler context: {operations} for {EVENTS} events");
    });
}

/// Lock operations of events that reach one of two consumers before the next one is pushed; the other one gets events of another type.
fn lock_operations(channel: &Channel) -> u64 {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let sink = move |events: &[SharedEvent]| {
        counter.fetch_add(events.len(), Ordering::SeqCst);
    };
    let _subscription = channel.subscribe(&Pattern::of(0, 1), sink).unwrap();
    let _other = channel.subscribe(&Pattern::of(17, 0), |_: &[SharedEvent]| {});
    let supplier = channel.connect_supplier(&[(16, 1)]).unwrap();
    let event = [event()];
    let mut push = || supplier.push(&event);
    push_all(WARM_UP, 1, &count, &mut push);
    // A thread of the channel that is on its way back to its queue may take the lock of an event before.
    let counted = (0..10).map(|_| {
        let before = lock::counts().operations();
        push_all(EVENTS, 1, &count, &mut push);
        lock::counts().operations() - before
    });
    counted.min_by_key(|it| it.abs_diff(ONE_LOCK)).unwrap_or(0)
}
