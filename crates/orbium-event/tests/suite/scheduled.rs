// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dispatching by the queues of a schedule.

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};

use orbium_event::{
    Channel, ChannelConfig, ConnectError, DiscardPolicy, Dispatching, Pattern, QueueLimits,
    RemoteError, SharedEvent, Subscription, connect_scheduled_consumer, connect_supplier,
    new_event,
};
use orbium_sched::{Dispatching as Order, Entry, Queue, Table};
use orbium_testkit::{Gate, PATIENCE, Recorder, give_up_real_time, in_own_process};
use tracing::level_filters::LevelFilter;

use crate::served::{Served, patient};

const fn queue(priority: i32, dispatching: Order) -> Queue {
    Queue {
        priority,
        dispatching,
    }
}

/// A static queue, one by deadline and one by laxity.
pub(crate) static SCHEDULE: Table = Table {
    entries: &[
        Entry::new("Alarm::sound", (0, 0, 12), 500_000, 0),
        Entry::new("Log::write", (1, 0, 11), 10_000_000, 0),
        Entry::new("Display::show", (1, 1, 11), 500_000, 0),
        Entry::new("Map::draw", (2, 0, 10), 10_000_000, 9_900_000),
        Entry::new("Chart::draw", (2, 1, 10), 5_000_000, 10_000),
    ],
    queues: &[
        queue(12, Order::Static),
        queue(11, Order::Deadline),
        queue(10, Order::Laxity),
    ],
    ..Table::EMPTY
};
const ALARM: i32 = 1;
const LOG: i32 = 2;
const DISPLAY: i32 = 3;
const MAP: i32 = 4;
const CHART: i32 = 5;

fn scheduled() -> ChannelConfig {
    ChannelConfig {
        dispatching: Dispatching::Scheduled(&SCHEDULE),
        soft: true,
        ..ChannelConfig::default()
    }
}

/// A consumer that blocks at a gate with each set of events.
fn blocking(channel: &Channel, rt_info: i32, gate: &Arc<Gate>) -> Subscription {
    let gate = Arc::clone(gate);
    let sink = move |_: &[SharedEvent]| gate.pass();
    let subscribed = channel.subscribe_scheduled(&Pattern::of(16, 0), rt_info, sink);
    subscribed.unwrap()
}

/// Conformance: events - dispatching by the queues of a schedule: what stalls in one delays no other queue - a channel
#[test]
fn a_stalled_queue_delays_no_other_one() {
    let channel = Channel::new(scheduled());
    let gate = Arc::new(Gate::default());
    let _stalled = [0, LOG, MAP].map(|rt_info| blocking(&channel, rt_info, &gate));
    let (send, received) = mpsc::channel();
    let sink = move |events: &[SharedEvent]| {
        let _ = send.send(events[0].header.source);
    };
    let alarm = channel.subscribe_scheduled(&Pattern::of(16, 0), ALARM, sink);
    let _alarm = alarm.unwrap();
    let supplier = channel.connect_supplier(&[]).unwrap();
    for source in 1..20 {
        supplier.push(&[new_event(16, source)]);
        assert_eq!(received.recv_timeout(PATIENCE), Ok(source));
    }
    // One thread for the queue by deadline, one for that by laxity.
    gate.await_waiting(2);
    gate.open();
}

/// The order in which the consumers of a queue get events that arrived while its thread was busy.
fn order(first: i32, later: [i32; 2]) -> Vec<i32> {
    let channel = Channel::new(scheduled());
    let gate = Arc::new(Gate::default());
    let _first = blocking(&channel, first, &gate);
    let (send, received): (_, Receiver<i32>) = mpsc::channel();
    let send = Arc::new(Mutex::new(send));
    let _later = later.map(|rt_info| {
        let send = Arc::clone(&send);
        let sink = move |_: &[SharedEvent]| {
            let _ = send.lock().unwrap().send(rt_info);
        };
        let pattern = Pattern::of(17, 0);
        channel
            .subscribe_scheduled(&pattern, rt_info, sink)
            .unwrap()
    });
    let supplier = channel.connect_supplier(&[]).unwrap();
    supplier.push(&[new_event(16, 1)]);
    gate.await_waiting(1);
    supplier.push(&[new_event(17, 1)]);
    gate.open();
    let next = |_| received.recv_timeout(PATIENCE).unwrap();
    later.iter().map(next).collect()
}

/// Conformance: events - dispatching by deadline and laxity - a channel
#[test]
fn queues_dispatch_by_deadline_and_laxity() {
    for later in [[LOG, DISPLAY], [DISPLAY, LOG]] {
        assert_eq!(order(LOG, later), [DISPLAY, LOG]);
    }
    // The chart's deadline is the earlier one, but the map has less time to spare.
    for later in [[MAP, CHART], [CHART, MAP]] {
        assert_eq!(order(CHART, later), [MAP, CHART]);
    }
}

/// A queue of two operations with periods of an hour, the first one more urgent.
static TWO_STEPS: Table = Table {
    entries: &[
        Entry::new("Chain::step", (0, 0, 12), 36_000_000_000, 0),
        Entry::new("Other::step", (0, 1, 12), 36_000_000_000, 0),
    ],
    queues: &[queue(12, Order::Static)],
    ..Table::EMPTY
};

/// Conformance: events - release guard: a burst of a consumer waits for others of its queue - a channel
#[test]
fn a_release_guard_has_a_burst_wait_for_others() {
    let chain = Pattern::of(17, 0);
    let part = Pattern::Conjunction(vec![chain.clone()]);
    for (release_guard, pattern, expected) in [
        (false, &chain, [17, 17, 18]),
        (true, &chain, [17, 18, 17]),
        (true, &part, [17, 17, 18]),
    ] {
        let channel = Channel::new(ChannelConfig {
            dispatching: Dispatching::Scheduled(&TWO_STEPS),
            release_guard,
            ..scheduled()
        });
        let gate = Arc::new(Gate::default());
        let _first = blocking(&channel, 2, &gate);
        let (send, received) = mpsc::channel();
        let _consumers = [(pattern, 1), (&Pattern::of(18, 0), 2)].map(|(pattern, rt_info)| {
            let send = Mutex::new(send.clone());
            let sink = move |events: &[SharedEvent]| {
                let _ = send.lock().unwrap().send(events[0].header.r#type);
            };
            let subscribed = channel.subscribe_scheduled(pattern, rt_info, sink);
            subscribed.unwrap()
        });
        let supplier = channel.connect_supplier(&[]).unwrap();
        supplier.push(&[new_event(16, 1)]);
        gate.await_waiting(1);
        for r#type in [17, 17, 18] {
            supplier.push(&[new_event(r#type, 1)]);
        }
        gate.open();
        let types = [(); 3].map(|()| received.recv_timeout(PATIENCE).unwrap());
        assert_eq!(types, expected, "{release_guard} {pattern:?}");
        let held = u64::from(expected[1] == 18);
        assert_eq!(channel.statistics().held, held);
    }
}

#[test]
fn the_queue_of_a_consumer_is_bounded_by_its_policy() {
    for (discard, kept, discarded) in [
        (DiscardPolicy::Oldest, [4, 5], 2),
        (DiscardPolicy::Newest, [2, 3], 2),
        (DiscardPolicy::Coalesce, [4, 5], 2),
    ] {
        let channel = Channel::new(ChannelConfig {
            queue: QueueLimits {
                sets: 2,
                discard,
                ..QueueLimits::default()
            },
            ..scheduled()
        });
        let gate = Arc::new(Gate::default());
        let (send, received) = mpsc::channel();
        let blocks = Arc::clone(&gate);
        let sink = move |events: &[SharedEvent]| {
            let _ = send.send(events[0].header.source);
            blocks.pass();
        };
        let consumer = channel.subscribe_scheduled(&Pattern::Null, ALARM, sink);
        let consumer = consumer.unwrap();
        let supplier = channel.connect_supplier(&[]).unwrap();
        supplier.push(&[new_event(16, 1)]);
        assert_eq!(received.recv_timeout(PATIENCE), Ok(1));
        for source in 2..=5 {
            supplier.push(&[new_event(16, source)]);
        }
        let statistics = consumer.statistics();
        assert_eq!((statistics.discarded, statistics.queued), (discarded, 2));
        gate.open();
        for source in kept {
            assert_eq!(received.recv_timeout(PATIENCE), Ok(source), "{discard:?}");
        }
    }
}

#[test]
fn consumers_that_have_disconnected_take_no_place_in_the_queue() {
    let channel = Channel::new(ChannelConfig {
        consumers: 2,
        ..scheduled()
    });
    let gate = Arc::new(Gate::default());
    let _stalled = blocking(&channel, LOG, &gate);
    let supplier = channel.connect_supplier(&[]).unwrap();
    supplier.push(&[new_event(16, 1)]);
    gate.await_waiting(1);
    let (send, received) = mpsc::channel();
    let connect = || {
        let send = send.clone();
        let sink = move |events: &[SharedEvent]| {
            let _ = send.send(events[0].header.source);
        };
        let pattern = Pattern::of(17, 0);
        let subscribed = channel.subscribe_scheduled(&pattern, DISPLAY, sink);
        subscribed.unwrap()
    };
    for source in 1..=3 {
        let disconnects = connect();
        supplier.push(&[new_event(17, source)]);
        drop(disconnects);
    }
    let consumer = connect();
    supplier.push(&[new_event(17, 4)]);
    assert_eq!(consumer.statistics().discarded, 0);
    gate.open();
    assert_eq!(received.recv_timeout(PATIENCE), Ok(4));
}

#[test]
fn rt_infos_beyond_the_schedule_are_refused() {
    let channel = Channel::new(scheduled());
    let sink = |_: &[SharedEvent]| {};
    for rt_info in [-1, 6, i32::MIN, i32::MAX] {
        let refused = channel.subscribe_scheduled(&Pattern::Null, rt_info, sink);
        assert_eq!(refused.unwrap_err(), ConnectError::RtInfo(rt_info));
    }
    assert!(channel.statistics().consumers.is_empty());
    let without_queues = Channel::new(ChannelConfig {
        dispatching: Dispatching::Scheduled(&Table::EMPTY),
        ..scheduled()
    });
    let refused = without_queues.subscribe(&Pattern::Null, sink);
    assert_eq!(refused.unwrap_err(), ConnectError::RtInfo(0));
}

#[test]
fn native_priorities_that_no_host_has_are_refused() {
    static OUT_OF_RANGE: Table = Table {
        queues: &[queue(-1, Order::Static)],
        ..Table::EMPTY
    };
    let channel = Channel::new(ChannelConfig {
        dispatching: Dispatching::Scheduled(&OUT_OF_RANGE),
        ..scheduled()
    });
    let refused = channel.subscribe(&Pattern::Null, |_: &[SharedEvent]| {});
    assert_eq!(refused.unwrap_err(), ConnectError::Priority(-1));
}

/// Conformance: events - the RT_Info of a consumer names its queue - a served channel
#[test]
fn the_rt_info_of_a_subscription_on_the_wire_names_the_queue() {
    let served = Served::new(ChannelConfig {
        dispatching: Dispatching::Scheduled(&SCHEDULE),
        soft: true,
        ..patient()
    });
    let gate = Arc::new(Gate::default());
    let _stalled = blocking(&served.local, LOG, &gate);
    let (send, received) = mpsc::channel();
    let connect = |rt_info| {
        let send = Mutex::new(mpsc::Sender::clone(&send));
        connect_scheduled_consumer(
            &served.orb,
            &served.channel,
            (&Pattern::of(16, 0), rt_info),
            move |events| {
                let _ = send
                    .lock()
                    .unwrap()
                    .send((rt_info, events[0].header.source));
            },
        )
    };
    assert_eq!(connect(6).unwrap_err(), RemoteError::Refused);
    let _alarm = connect(ALARM).unwrap();
    let _display = connect(DISPLAY).unwrap();
    let supplier = connect_supplier(&served.channel, &[]).unwrap();
    supplier.push(&[new_event(16, 1)]).unwrap();
    gate.await_waiting(1);
    supplier.push(&[new_event(16, 2)]).unwrap();
    // The display's queue stands still since the first or the second event; the alarm's does not.
    let mut alarms = 0;
    while alarms < 2 {
        let (rt_info, _) = received.recv_timeout(PATIENCE).unwrap();
        alarms += i32::from(rt_info == ALARM);
    }
    gate.open();
}

/// Conformance: RT 6 - soft mode says which queues run without their native priority - a channel
#[test]
fn a_soft_channel_counts_the_queues_that_the_host_refuses() {
    in_own_process!(|| {
        give_up_real_time();
        let recorder = Recorder::install(LevelFilter::WARN);
        let channel = Channel::new(scheduled());
        assert_eq!(channel.statistics().refused_priorities, 0);
        let sink = |_: &[SharedEvent]| {};
        let subscribe = |rt_info| channel.subscribe_scheduled(&Pattern::of(16, 0), rt_info, sink);
        let _subscriptions = [ALARM, DISPLAY, MAP, CHART].map(|it| subscribe(it).unwrap());
        // Once for each queue, not for each consumer.
        let statistics = channel.statistics();
        let warned = recorder.events("without its native priority");
        assert_eq!((statistics.refused_priorities, warned.len()), (3, 3));
        let hard = Channel::new(ChannelConfig {
            soft: false,
            ..scheduled()
        });
        let refused = hard.subscribe_scheduled(&Pattern::of(16, 0), ALARM, sink);
        assert!(refused.is_err());
        assert_eq!(hard.statistics().refused_priorities, 0);
    });
}
