// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events from suppliers to consumers, in every form.

use std::time::Duration;

use orbium::interceptor::{Interceptors, ReplyContexts};
use orbium::{Any, Interface, Orb};
use orbium_event::dropped_before_reply;
use orbium_notification::idl::cos_notification::StructuredEvent;
use orbium_notification::idl::cos_notify_channel_admin::{
    ClientType, ProxyPushConsumer, ProxyPushSupplier, SequenceProxyPullSupplier,
    SequenceProxyPushConsumer, SequenceProxyPushSupplier,
};
use orbium_notification::idl::cos_notify_comm::SequencePushConsumer;
use orbium_notification::{NotificationConfig, NotificationService, property};
use orbium_testkit::PATIENCE;

use crate::peers::{Report, Served, alarm, severity};

/// Conformance: notification - structured push suppliers and consumers behind a filter - a served channel
#[test]
fn structured_events_are_pushed_through_a_filter_in_order() {
    let served = Served::new();
    let (consumer, received) = served.structured_reporter();
    let proxy = served.pushed();
    proxy
        .add_filter(Some(
            &served.filter(&["$severity > 3 and $type_name == 'Alarm'"]),
        ))
        .unwrap();
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    let supplier = served.supplier();
    for number in 0..20 {
        supplier.push_structured_event(&alarm(number)).unwrap();
    }
    for number in 4..20 {
        assert_eq!(
            received.recv_timeout(PATIENCE),
            Ok(Report::Event(alarm(number)))
        );
    }
    proxy.disconnect_structured_push_supplier().unwrap();
    assert_eq!(received.recv_timeout(PATIENCE), Ok(Report::Disconnected));
    assert!(proxy.as_object().non_existent().unwrap());
}

/// Conformance: notification - conversions between anys, structured events and sequences - a served channel
#[test]
fn events_are_converted_between_the_forms_of_suppliers_and_consumers() {
    let served = Served::new();
    let (any_consumer, anys) = served.any_reporter();
    let obtained = served
        .consumers
        .obtain_notification_push_supplier(ClientType::AnyEvent);
    let proxy: ProxyPushSupplier = obtained
        .unwrap()
        .result
        .unwrap()
        .as_object()
        .narrow()
        .unwrap();
    proxy
        .connect_any_push_consumer(Some(&any_consumer))
        .unwrap();
    let structured = served.pulled();

    let obtained = served
        .suppliers
        .obtain_notification_push_consumer(ClientType::AnyEvent);
    let any_supplier: ProxyPushConsumer = obtained
        .unwrap()
        .result
        .unwrap()
        .as_object()
        .narrow()
        .unwrap();
    any_supplier.connect_any_push_supplier(None).unwrap();
    any_supplier.push(&Any::from(7i32)).unwrap();
    assert_eq!(
        anys.recv_timeout(PATIENCE),
        Ok(Report::Any(Any::from(7i32)))
    );
    let event = structured.pull_structured_event().unwrap();
    assert_eq!(event.header.fixed_header.event_type.type_name, "%ANY");
    assert_eq!(event.remainder_of_body, Any::from(7i32));

    let obtained = served
        .suppliers
        .obtain_notification_push_consumer(ClientType::SequenceEvent);
    let batches: SequenceProxyPushConsumer = obtained
        .unwrap()
        .result
        .unwrap()
        .as_object()
        .narrow()
        .unwrap();
    batches.connect_sequence_push_supplier(None).unwrap();
    batches
        .push_structured_events(&[alarm(1), alarm(2)])
        .unwrap();
    for number in [1, 2] {
        let Report::Any(any) = anys.recv_timeout(PATIENCE).unwrap() else {
            panic!("no any");
        };
        assert_eq!(any.extract::<StructuredEvent>().unwrap(), alarm(number));
        assert_eq!(structured.pull_structured_event().unwrap(), alarm(number));
    }
    assert!(!structured.try_pull_structured_event().unwrap().has_event);
}

/// Conformance: notification - COS Event's own proxies of a notification channel - a served channel
#[test]
fn clients_of_cos_event_push_and_pull() {
    let served = Served::new();
    let consumers = served.channel.for_consumers().unwrap().unwrap();
    let suppliers = served.channel.for_suppliers().unwrap().unwrap();
    let pull = consumers.obtain_pull_supplier().unwrap().unwrap();
    pull.connect_pull_consumer(None).unwrap();
    let (consumer, received) = served.any_reporter();
    let push = consumers.obtain_push_supplier().unwrap().unwrap();
    push.connect_push_consumer(Some(&consumer)).unwrap();
    let supplier = suppliers.obtain_push_consumer().unwrap().unwrap();
    supplier.connect_push_supplier(None).unwrap();
    supplier.push(&Any::from("text")).unwrap();
    assert_eq!(pull.pull().unwrap(), Any::from("text"));
    assert_eq!(
        received.recv_timeout(PATIENCE),
        Ok(Report::Any(Any::from("text")))
    );
    assert!(!pull.try_pull().unwrap().has_event);
}

/// Conformance: notification - MaximumBatchSize of sequence consumers - a served channel
#[test]
fn batches_are_no_longer_than_their_maximum() {
    let served = Served::new();
    let (consumer, received): (SequencePushConsumer, _) =
        served.reporter(|orb, it| orb.root_poa().activate(it).unwrap());
    let obtained = served
        .consumers
        .obtain_notification_push_supplier(ClientType::SequenceEvent);
    let proxy: SequenceProxyPushSupplier = obtained
        .unwrap()
        .result
        .unwrap()
        .as_object()
        .narrow()
        .unwrap();
    // A batch waits for an hour unless it is complete.
    let hour = Any::from(36_000_000_000u64);
    proxy
        .set_qos(&[
            property("MaximumBatchSize", 3i32),
            property("PacingInterval", hour),
        ])
        .unwrap();
    proxy
        .connect_sequence_push_consumer(Some(&consumer))
        .unwrap();
    let supplier = served.supplier();
    for number in 0..7 {
        supplier.push_structured_event(&alarm(number)).unwrap();
    }
    assert_eq!(
        received.recv_timeout(PATIENCE),
        Ok(Report::Batch(vec![0, 1, 2]))
    );
    assert_eq!(
        received.recv_timeout(PATIENCE),
        Ok(Report::Batch(vec![3, 4, 5]))
    );
    assert!(received.try_recv().is_err());
    // Without an interval what is there is delivered.
    proxy.set_qos(&[property("PacingInterval", 0u64)]).unwrap();
    assert_eq!(received.recv_timeout(PATIENCE), Ok(Report::Batch(vec![6])));
}

#[test]
fn batches_are_pulled() {
    let served = Served::new();
    let obtained = served
        .consumers
        .obtain_notification_pull_supplier(ClientType::SequenceEvent);
    let proxy: SequenceProxyPullSupplier = obtained
        .unwrap()
        .result
        .unwrap()
        .as_object()
        .narrow()
        .unwrap();
    proxy.connect_sequence_pull_consumer(None).unwrap();
    let supplier = served.supplier();
    for number in 0..5 {
        supplier.push_structured_event(&alarm(number)).unwrap();
    }
    let batch = proxy.pull_structured_events(3).unwrap();
    assert_eq!(batch.iter().map(severity).collect::<Vec<_>>(), [0, 1, 2]);
    let tried = proxy.try_pull_structured_events(100).unwrap();
    assert_eq!(
        tried.result.iter().map(severity).collect::<Vec<_>>(),
        [3, 4]
    );
    assert!(!proxy.try_pull_structured_events(100).unwrap().has_event);
    assert!(proxy.pull_structured_events(0).is_err());
}

/// Conformance: notification - events that were dropped: their number, with the next event, for consumers that are pushed to
#[test]
fn the_event_after_dropped_ones_has_their_number() {
    let served = Served::new();
    let supplier = served.supplier();
    let proxy = served.pushed();
    proxy
        .set_qos(&[
            property("MaxEventsPerConsumer", 2i32),
            property("OrderPolicy", 1i16),
        ])
        .unwrap();
    let (consumer, received) = served.structured_reporter();
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    proxy.suspend_connection().unwrap();
    for number in 0..5 {
        let mut event = alarm(number);
        // It has passed another channel.
        event.header.variable_header = vec![property("EventsDropped", 77u64)];
        supplier.push_structured_event(&event).unwrap();
    }
    proxy.resume_connection().unwrap();
    for (expected, dropped) in [(3, 3u64), (4, 77)] {
        let Report::Event(event) = received.recv_timeout(PATIENCE).unwrap() else {
            panic!("no event");
        };
        let fields = &event.header.variable_header;
        assert_eq!((severity(&event), fields.len()), (expected, 1));
        assert_eq!(fields[0].value.extract::<u64>(), Ok(dropped));
    }
}

/// Conformance: notification - events that were dropped: their number, with the next event, for consumers that pull
#[test]
fn a_pulled_event_after_dropped_ones_has_their_number() {
    let interceptors = Interceptors::new().with_reply_contexts();
    let builder = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let server = builder.interceptors(interceptors).build().unwrap();
    server.root_poa().manager().activate().unwrap();
    let served = Served::on(server, |server| {
        let config = NotificationConfig::default();
        NotificationService::serve(server, "Alarms", config).unwrap()
    });
    let bounds = [
        property("MaxEventsPerConsumer", 2i32),
        property("OrderPolicy", 1i16),
    ];
    served.channel.set_qos(&bounds).unwrap();
    let structured = served.pulled();
    let cos = served.channel.for_consumers().unwrap().unwrap();
    let anys = cos.obtain_pull_supplier().unwrap().unwrap();
    anys.connect_pull_consumer(None).unwrap();
    let replied = ReplyContexts::default();
    let anys = anys.with_reply_contexts(&replied);
    let supplier = served.supplier();
    for number in 0..5 {
        supplier.push_structured_event(&alarm(number)).unwrap();
    }
    for (expected, dropped) in [(3, 3), (4, 0)] {
        let event = structured.pull_structured_event().unwrap();
        assert_eq!(severity(&event), expected);
        let fields = &event.header.variable_header;
        let field = fields.iter().find(|it| it.name == "EventsDropped");
        let number = field.map_or(0, |it| it.value.extract::<u64>().unwrap());
        let event: StructuredEvent = anys.pull().unwrap().extract().unwrap();
        assert_eq!(severity(&event), expected);
        assert_eq!([number, dropped_before_reply(&replied)], [dropped; 2]);
    }
}

/// The time at which they would time out does not exist, and the service panicked.
#[test]
fn pulls_may_wait_without_a_bound() {
    let served = Served::with(NotificationConfig {
        pull_timeout: Duration::MAX,
        ..NotificationConfig::default()
    });
    let (supplier, consumer) = (served.supplier(), served.pulled());
    supplier.push_structured_event(&alarm(7)).unwrap();
    assert_eq!(severity(&consumer.pull_structured_event().unwrap()), 7);
}
