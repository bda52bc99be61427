// SPDX-License-Identifier: MIT OR Apache-2.0
//! Notification in front of a real-time event channel.

use std::sync::mpsc;

use orbium::{Any, Interface};
use orbium_event::{Channel, ChannelConfig, Pattern, SharedEvent, new_event};
use orbium_notification::idl::cos_notification::StructuredEvent;
use orbium_notification::idl::cos_notify_channel_admin::{
    ClientType, ProxyPushConsumer, ProxyPushSupplier,
};
use orbium_notification::{EventHeaders, NotificationConfig, NotificationService};
use orbium_testkit::PATIENCE;

use crate::peers::{Report, Served, alarm};

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
    assert!(
        durable
            .unwrap()
            .obtain_durable_push_supplier("display")
            .is_err()
    );
}
