// SPDX-License-Identifier: MIT OR Apache-2.0
//! Notification in front of a real-time event channel.

use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

use orbium::{Any, ExceptionKind, Interface};
use orbium_event::{
    Channel, ChannelConfig, Dispatching, FailurePolicy, Pattern, SharedEvent, new_event,
};
use orbium_notification::idl::cos_notification::StructuredEvent;
use orbium_notification::idl::cos_notify_channel_admin::{
    AlreadyConnectedOrTypeErrorError, ClientType, ProxyPushConsumer, ProxyPushSupplier,
    SequenceProxyPushSupplier,
};
use orbium_notification::idl::cos_notify_comm::{SequencePushConsumer, StructuredPushConsumer};
use orbium_notification::{EventHeaders, NotificationConfig, NotificationService, property};
use orbium_testkit::{PATIENCE, dead_port, eventually};

use crate::peers::{Report, Served, alarm, severity};

fn served_over(channel: &Channel) -> Served {
    let headers = EventHeaders::new(16, 1).with("Telecom", "Alarm", (17, 2));
    let config = NotificationConfig::default();
    Served::by(|server| {
        NotificationService::serve_over(server, "Alarms", config, (channel, headers)).unwrap()
    })
}

fn next_event(received: &mpsc::Receiver<Report>) -> StructuredEvent {
    match received.recv_timeout(PATIENCE).unwrap() {
        Report::Event(event) => event,
        other => panic!("{other:?}"),
    }
}

/// Conformance: notification - in front of a real-time event channel: its suppliers reach structured consumers through filters
#[test]
fn events_of_real_time_suppliers_pass_the_filters_of_structured_consumers() {
    let channel = Channel::new(ChannelConfig::default());
    let served = served_over(&channel);
    let (consumer, received) = served.structured_reporter();
    let proxy = served.pushed();
    let filter = served.filter(&["$type_name == 'Alarm' and $source == 2", "$type == 18"]);
    proxy.add_filter(Some(&filter)).unwrap();
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    let supplier = channel.connect_supplier(&[(17, 2), (18, 3)]).unwrap();
    for (r#type, source) in [(17, 2), (17, 3), (19, 2), (18, 3)] {
        let mut event = new_event(r#type, source);
        event.data.payload = vec![7];
        supplier.push(&[event]);
    }
    let first = next_event(&received);
    let kind = &first.header.fixed_header.event_type;
    assert_eq!((&*kind.domain_name, &*kind.type_name), ("Telecom", "Alarm"));
    assert_eq!(first.remainder_of_body.extract(), Ok(vec![7u8]));
    let second = next_event(&received);
    assert_eq!(second.header.fixed_header.event_type.type_name, "Event");
    assert_eq!(second.filterable_data[0].value.extract(), Ok(18i32));
    assert_eq!(served.service.statistics()[0].consumers[0].discarded, 0);
}

/// Conformance: notification - in front of a real-time event channel: structured suppliers reach its consumers, by type and source
#[test]
fn structured_events_reach_real_time_consumers_and_return_as_they_were() {
    let channel = Channel::new(ChannelConfig::default());
    let served = served_over(&channel);
    let (send, alarms) = mpsc::channel();
    let sink = move |events: &[SharedEvent]| {
        let _ = send.send(events[0].data.any_value.extract::<StructuredEvent>());
    };
    let _subscription = channel.subscribe(&Pattern::of(17, 2), sink).unwrap();
    let (consumer, received) = served.structured_reporter();
    let proxy = served.pushed();
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    let supplier = served.supplier();
    let mut traffic = alarm(1);
    traffic.header.fixed_header.event_type.type_name = "Traffic".to_owned();
    for event in [&traffic, &alarm(5)] {
        supplier.push_structured_event(event).unwrap();
    }
    assert_eq!(alarms.recv_timeout(PATIENCE).unwrap(), Ok(alarm(5)));
    assert_eq!(
        [next_event(&received), next_event(&received)],
        [traffic, alarm(5)]
    );
}

/// Conformance: notification - in front of a real-time event channel: an any is the any of the event on both sides
#[test]
fn an_any_is_the_any_of_the_event() {
    let channel = Channel::new(ChannelConfig::default());
    let served = served_over(&channel);
    let (send, anys) = mpsc::channel();
    let sink = move |events: &[SharedEvent]| {
        let _ = send.send(events[0].data.any_value.clone());
    };
    let _subscription = channel.subscribe(&Pattern::of(16, 1), sink).unwrap();
    let (consumer, received) = served.any_reporter();
    let obtained = served
        .consumers
        .obtain_notification_push_supplier(ClientType::AnyEvent);
    let proxy = obtained.unwrap().result.unwrap();
    let proxy: ProxyPushSupplier = proxy.as_object().narrow().unwrap();
    proxy.connect_any_push_consumer(Some(&consumer)).unwrap();
    let obtained = served
        .suppliers
        .obtain_notification_push_consumer(ClientType::AnyEvent);
    let supplier = obtained.unwrap().result.unwrap();
    let supplier: ProxyPushConsumer = supplier.as_object().narrow().unwrap();
    supplier.connect_any_push_supplier(None).unwrap();
    supplier.push(&7i32.into()).unwrap();
    assert_eq!(anys.recv_timeout(PATIENCE).unwrap(), Any::from(7i32));
    let pushed = received.recv_timeout(PATIENCE).unwrap();
    assert_eq!(pushed, Report::Any(7i32.into()));
    // Without positions there are no names.
    let admin = &served.consumers;
    let durable = admin
        .as_object()
        .narrow::<orbium_notification::idl::orbium_notification::DurableConsumerAdmin>();
    assert!(durable.is_err());
}

fn over(config: ChannelConfig) -> (Channel, Served) {
    let channel = Channel::new(config);
    let served = served_over(&channel);
    (channel, served)
}

fn ranked(number: i16, priority: i16) -> StructuredEvent {
    let mut event = alarm(number);
    event.header.variable_header = vec![property("Priority", priority)];
    event
}

/// The severities of the next events.
fn severities(received: &mpsc::Receiver<Report>, count: usize) -> Vec<i16> {
    let events = (0..count).map(|_| next_event(received));
    events.map(|it| severity(&it)).collect()
}

/// Conformance: notification - in front of a real-time event channel: each consumer is one of its consumers - in every form
#[test]
fn consumers_are_those_of_the_channel() {
    for dispatching in [Dispatching::PerConsumer, Dispatching::Reactive] {
        let (channel, served) = over(ChannelConfig {
            dispatching,
            ..ChannelConfig::default()
        });
        let connected = || channel.statistics().consumers.len();
        let (structured, events) = served.structured_reporter();
        let proxy = served.pushed();
        proxy
            .connect_structured_push_consumer(Some(&structured))
            .unwrap();
        assert!(
            proxy
                .connect_structured_push_consumer(Some(&structured))
                .is_err()
        );
        let (any, anys) = served.any_reporter();
        let any_proxy = served.consumers.obtain_push_supplier().unwrap().unwrap();
        any_proxy.connect_push_consumer(Some(&any)).unwrap();
        let (_batches, batch_proxy, batch_events) = batches(&served);
        assert_eq!(connected(), 3);
        // One that pulls is a consumer of the channel too.
        let pulled = served.pulled();
        assert_eq!(connected(), 4);

        let supplier = served.supplier();
        supplier.push_structured_event(&alarm(5)).unwrap();
        assert_eq!(next_event(&events), alarm(5));
        let Report::Any(any) = anys.recv_timeout(PATIENCE).unwrap() else {
            panic!("no any");
        };
        assert_eq!(any.extract::<StructuredEvent>(), Ok(alarm(5)));
        let batch = batch_events.recv_timeout(PATIENCE).unwrap();
        assert_eq!(batch, Report::Batch(vec![5]));
        assert_eq!(pulled.pull_structured_event().unwrap(), alarm(5));
        eventually("the counts", || {
            let counts = served.service.statistics().remove(0).consumers;
            counts.iter().filter(|it| it.delivered == 1).count() == 4
        });

        proxy.disconnect_structured_push_supplier().unwrap();
        batch_proxy.disconnect_sequence_push_supplier().unwrap();
        assert_eq!(connected(), 2);
        assert_eq!(events.recv_timeout(PATIENCE), Ok(Report::Disconnected));
        // The end of the channel is that of its consumers.
        channel.destroy();
        assert_eq!(anys.recv_timeout(PATIENCE), Ok(Report::Disconnected));
        eventually("the end of the proxy", || {
            any_proxy.as_object().non_existent().unwrap()
        });
    }
}

/// A consumer of batches, connected.
fn batches(
    served: &Served,
) -> (
    SequencePushConsumer,
    SequenceProxyPushSupplier,
    mpsc::Receiver<Report>,
) {
    let (consumer, received) =
        served.reporter(|orb, it| -> SequencePushConsumer { orb.root_poa().activate(it).unwrap() });
    let obtained = served
        .consumers
        .obtain_notification_push_supplier(ClientType::SequenceEvent);
    let proxy = obtained.unwrap().result.unwrap();
    let proxy: SequenceProxyPushSupplier = proxy.as_object().narrow().unwrap();
    proxy
        .connect_sequence_push_consumer(Some(&consumer))
        .unwrap();
    (consumer, proxy, received)
}

/// Conformance: notification - in front of a real-time event channel: each consumer is one of its consumers - OrderPolicy,
/// DiscardPolicy, suspension
#[test]
fn the_queue_of_the_channel_has_the_policies_of_notification() {
    let (channel, served) = over(ChannelConfig::default());
    let supplier = served.supplier();
    let (consumer, received) = served.structured_reporter();
    // Order, discarding, what is delivered of the priorities 1, 5, -1, 5: any, FIFO, priority, deadline, LIFO.
    for (order, discard, expected) in [
        (1i16, 0i16, [2i16, 3]),
        (1, 1, [2, 3]),
        (1, 2, [1, 3]),
        (1, 3, [0, 2]),
        (1, 4, [0, 3]),
        (2, 1, [3, 2]),
        (3, 1, [3, 2]),
    ] {
        let proxy = served.pushed();
        proxy
            .connect_structured_push_consumer(Some(&consumer))
            .unwrap();
        proxy.suspend_connection().unwrap();
        assert!(proxy.suspend_connection().is_err());
        // The queue that is there follows.
        let policies = [
            property("OrderPolicy", order),
            property("DiscardPolicy", discard),
            property("MaxEventsPerConsumer", 2i32),
        ];
        proxy.set_qos(&policies).unwrap();
        let hours = [9u64, 1, 2, 1];
        for (number, (priority, hours)) in (0i16..).zip([1, 5, -1, 5].into_iter().zip(hours)) {
            let mut event = ranked(number, priority);
            let timeout = property("Timeout", hours * 36_000_000_000);
            event.header.variable_header.push(timeout);
            supplier.push_structured_event(&event).unwrap();
        }
        let counts = served.service.statistics()[0].consumers[0];
        assert_eq!((counts.queued, counts.discarded), (2, 2));
        assert!(received.try_recv().is_err());
        proxy.resume_connection().unwrap();
        let delivered = severities(&received, 2);
        assert_eq!(delivered, expected, "order {order}, discard {discard}");
        proxy.disconnect_structured_push_supplier().unwrap();
        assert_eq!(received.recv_timeout(PATIENCE), Ok(Report::Disconnected));
    }
    assert_eq!(channel.statistics().dropped_consumers, 0);
}

/// Conformance: notification - in front of a real-time event channel: each consumer is one of its consumers - batches, lifetimes
#[test]
fn batches_and_lifetimes_are_those_of_notification() {
    let (_channel, served) = over(ChannelConfig::default());
    let supplier = served.supplier();
    let (_consumer, proxy, received) = batches(&served);
    proxy.suspend_connection().unwrap();
    proxy
        .set_qos(&[property("MaximumBatchSize", 2i32)])
        .unwrap();
    let mut expired = alarm(9);
    expired.header.variable_header = vec![property("Timeout", 1u64)];
    for event in [&alarm(1), &expired, &ranked(2, 7), &alarm(3)] {
        supplier.push_structured_event(event).unwrap();
    }
    proxy.resume_connection().unwrap();
    let batch = |received: &mpsc::Receiver<Report>| received.recv_timeout(PATIENCE).unwrap();
    // By priority, unless another order is set.
    assert_eq!(batch(&received), Report::Batch(vec![2, 1]));
    assert_eq!(batch(&received), Report::Batch(vec![3]));
    let counts = served.service.statistics()[0].consumers[0];
    assert_eq!((counts.expired, counts.discarded), (1, 0));

    // With an interval they wait until they are complete, or for the interval.
    let paced = |interval: u64| {
        [
            property("PacingInterval", interval),
            property("MaximumBatchSize", 2i32),
        ]
    };
    proxy.set_qos(&paced(36_000_000_000)).unwrap();
    supplier.push_structured_event(&alarm(4)).unwrap();
    let counts = served.service.statistics()[0].consumers[0];
    assert_eq!(counts.queued, 1);
    supplier.push_structured_event(&alarm(5)).unwrap();
    assert_eq!(batch(&received), Report::Batch(vec![4, 5]));
    proxy.set_qos(&paced(1)).unwrap();
    supplier.push_structured_event(&alarm(6)).unwrap();
    assert_eq!(batch(&received), Report::Batch(vec![6]));
}

/// Conformance: notification - in front of a real-time event channel: each consumer is one of its consumers - those that pull
#[test]
fn a_consumer_pulls_from_its_queue_in_the_channel() {
    let (channel, served) = over(ChannelConfig::default());
    let (supplier, proxy) = (served.supplier(), served.pulled());
    proxy
        .set_qos(&[
            property("OrderPolicy", 2i16),
            property("DiscardPolicy", 2i16),
            property("MaxEventsPerConsumer", 2i32),
        ])
        .unwrap();
    for (number, priority) in (0i16..).zip([1, 5, -1, 7]) {
        let event = ranked(number, priority);
        supplier.push_structured_event(&event).unwrap();
    }
    assert_eq!(channel.statistics().consumers[0].queued, 2);
    let pulled = [(); 2].map(|()| severity(&proxy.pull_structured_event().unwrap()));
    assert_eq!(pulled, [3, 1]);
    assert!(!proxy.try_pull_structured_event().unwrap().has_event);
    // The end of the channel ends a pull that waits.
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| proxy.pull_structured_event().unwrap_err());
        channel.destroy();
        let error = waiting.join().unwrap();
        assert!(!error.to_string().contains("TIMEOUT"), "{error}");
    });
}

fn impatient() -> ChannelConfig {
    ChannelConfig {
        ping_period: Some(Duration::from_millis(20)),
        failure: FailurePolicy {
            failures: 2,
            time: Duration::from_secs(600),
        },
        ..ChannelConfig::default()
    }
}

/// A consumer at a port, and a good one: the good one gets every event, and the other one is dropped by the rules of the channel.
fn is_dropped(port: u16, dispatching: Dispatching) {
    let channel = Channel::new(ChannelConfig {
        dispatching,
        ..impatient()
    });
    let headers = EventHeaders::new(16, 1);
    let config = NotificationConfig {
        push_timeout: Duration::from_millis(50),
        ..NotificationConfig::default()
    };
    let served = Served::by(|server| {
        NotificationService::serve_over(server, "Alarms", config, (&channel, headers)).unwrap()
    });
    let url = format!("corbaloc::127.0.0.1:{port}/Consumer");
    let bad = served.orb.string_to_object(&url).unwrap().unwrap();
    let proxy = served.pushed();
    let bad = StructuredPushConsumer::from_object(bad);
    proxy.connect_structured_push_consumer(Some(&bad)).unwrap();
    let (send, good) = mpsc::channel();
    // In the process of the channel: on a busy machine another one would be too slow as well.
    let sink = move |events: &[SharedEvent]| {
        for event in events {
            let _ = send.send(event.data.any_value.extract::<StructuredEvent>());
        }
    };
    let _good = channel.subscribe(&Pattern::Null, sink).unwrap();
    let supplier = served.supplier();
    let mut number = 0;
    eventually("the bad consumer is dropped", || {
        number += 1;
        supplier.push_structured_event(&alarm(number)).unwrap();
        let received = good.recv_timeout(PATIENCE).unwrap();
        assert_eq!(received, Ok(alarm(number)));
        channel.statistics().dropped_consumers == 1
    });
    eventually("the end of its proxy", || {
        proxy.as_object().non_existent().unwrap()
    });
    assert!(served.service.statistics()[0].consumers.is_empty());
}

/// Conformance: notification - in front of a real-time event channel: its rules for consumers that die or stall
#[test]
fn a_structured_consumer_that_dies_or_stalls_harms_no_other_one() {
    for dispatching in [Dispatching::PerConsumer, Dispatching::Reactive] {
        is_dropped(dead_port(), dispatching);
        // It accepts connections, and reads nothing.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        is_dropped(listener.local_addr().unwrap().port(), dispatching);
    }
}

/// Conformance: notification - in front of a real-time event channel: each consumer is one of its consumers - limits of the channel
#[test]
fn a_full_channel_refuses_a_consumer_that_may_connect_later() {
    let (channel, served) = over(ChannelConfig {
        consumers: 1,
        ..ChannelConfig::default()
    });
    let only = channel.subscribe(&Pattern::Null, |_: &[SharedEvent]| {});
    let only = only.unwrap();
    let (consumer, received) = served.structured_reporter();
    let proxy = served.pushed();
    let connect = || proxy.connect_structured_push_consumer(Some(&consumer));
    match connect().unwrap_err() {
        AlreadyConnectedOrTypeErrorError::System(exception) => {
            assert_eq!(exception.kind, ExceptionKind::ImpLimit);
        }
        other => panic!("{other:?}"),
    }
    drop(only);
    connect().unwrap();
    served.supplier().push_structured_event(&alarm(1)).unwrap();
    assert_eq!(next_event(&received), alarm(1));
}
