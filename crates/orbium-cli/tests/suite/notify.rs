// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium notify serve` as its users meet it.

use orbium::{Interface, Orb};
use orbium_notification::idl::cos_notify_channel_admin::{
    ClientType, EventChannel, EventChannelFactory, StructuredProxyPullSupplier,
    StructuredProxyPushConsumer,
};
use orbium_notification::{property, structured_event};

use crate::program::{Folder, Served, run};

/// Conformance: notification - `orbium notify serve`: its channel and its factory - by references
#[test]
fn a_served_channel_and_those_of_its_factory_deliver() {
    let folder = Folder::new();
    let file = folder.path("channel.ior");
    let served = Served::new("notify", ["--ior-file", &file]);
    let [reference, factory] = &served.lines[..] else {
        panic!("{:?}", served.lines);
    };
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(written.trim(), reference);
    let orb = Orb::builder().build().unwrap();
    let factory: EventChannelFactory = orb.resolve(factory).unwrap();
    let made = factory.create_channel(&[], &[]).unwrap().result.unwrap();
    let first: EventChannel = orb.resolve(served.reference()).unwrap();
    for channel in [first, made] {
        let consumers = channel.default_consumer_admin().unwrap().unwrap();
        let obtained = consumers.obtain_notification_pull_supplier(ClientType::StructuredEvent);
        let proxy = obtained.unwrap().result.unwrap();
        let consumer: StructuredProxyPullSupplier = proxy.as_object().narrow().unwrap();
        consumer.connect_structured_pull_consumer(None).unwrap();
        let suppliers = channel.default_supplier_admin().unwrap().unwrap();
        let obtained = suppliers.obtain_notification_push_consumer(ClientType::StructuredEvent);
        let proxy = obtained.unwrap().result.unwrap();
        let supplier: StructuredProxyPushConsumer = proxy.as_object().narrow().unwrap();
        supplier.connect_structured_push_supplier(None).unwrap();
        let mut event = structured_event("Telecom", "Alarm", "lost");
        event.filterable_data = vec![property("severity", 5i16)];
        supplier.push_structured_event(&event).unwrap();
        assert_eq!(consumer.pull_structured_event().unwrap(), event);
    }
}

/// Conformance: notification - `orbium notify serve`: its channel and its factory - by their keys, and a bounded queue
#[test]
fn the_key_and_the_queue_are_chosen() {
    let served = Served::new("notify", ["--key", "Alarms", "--queue", "2"]);
    let orb = Orb::builder().build().unwrap();
    let first: EventChannel = orb.resolve(served.reference()).unwrap();
    let profile = first.as_object().ior().iiop_profiles().next().unwrap();
    let url = |key| format!("corbaloc::{}:{}/{key}", profile.host, profile.port);
    let factory: EventChannelFactory = orb.resolve(&url("AlarmsFactory")).unwrap();
    assert_eq!(factory.get_all_channels().unwrap().len(), 1);
    let channel: EventChannel = orb.resolve(&url("Alarms")).unwrap();
    let consumers = channel.default_consumer_admin().unwrap().unwrap();
    let consumer = consumers.obtain_pull_supplier().unwrap().unwrap();
    consumer.connect_pull_consumer(None).unwrap();
    let suppliers = channel.default_supplier_admin().unwrap().unwrap();
    let supplier = suppliers.obtain_push_consumer().unwrap().unwrap();
    supplier.connect_push_supplier(None).unwrap();
    for number in 0..5i32 {
        supplier.push(&number.into()).unwrap();
    }
    let pulled: Vec<i32> = (0..2)
        .map(|_| consumer.pull().unwrap().extract().unwrap())
        .collect();
    assert_eq!(pulled, [3, 4]);
    assert!(!consumer.try_pull().unwrap().has_event);
}

#[test]
fn a_queue_of_nothing_and_an_endpoint_that_is_none_are_refused() {
    let ran = run(["notify", "serve", "--queue", "0"]);
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("--queue"), "{}", ran.stderr);
    let ran = run(["notify", "serve", "--endpoint", "telex://here"]);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let reason = "there is no transport `telex`";
    assert!(ran.stderr.contains(reason), "{}", ran.stderr);
}
