// SPDX-License-Identifier: MIT OR Apache-2.0
//! Allocations of a pushed event.

use orbium::cdr::{CdrReader, CdrWriter, Decode, Encode, Format};
use orbium::{Interface, Orb};
use orbium_notification::idl::cos_notification::StructuredEvent;
use orbium_notification::idl::cos_notify_channel_admin::{
    ClientType, EventChannel, StructuredProxyPushConsumer,
};
use orbium_notification::{NotificationConfig, NotificationService, property, structured_event};
use orbium_testkit::{count_allocations, fewest_allocations, in_own_process};

const EVENTS: usize = 100;

fn event() -> StructuredEvent {
    let mut event = structured_event("Telecom", "Alarm", "link 7");
    event.filterable_data.push(property("severity", 5i16));
    event.filterable_data.push(property("place", "roof"));
    event.remainder_of_body = "down".into();
    event
}

/// Allocations of reading an event.
fn reading(event: &StructuredEvent) -> usize {
    let mut writer = CdrWriter::new(Format::native());
    event.encode(&mut writer);
    let mut octets = writer.finish().unwrap();
    let counted = count_allocations(|| {
        let mut reader = CdrReader::new(&mut octets, Format::native());
        drop(StructuredEvent::decode(&mut reader).unwrap());
    });
    counted.allocations
}

/// Conformance: robustness - a pushed structured event is read once, not copied
#[test]
fn a_structured_event_is_read_and_not_copied() {
    in_own_process!(|| {
        let builder = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
        let server = builder.build().unwrap();
        let config = NotificationConfig::default();
        let service = NotificationService::serve(&server, "Channel", config).unwrap();
        let orb = Orb::builder().build().unwrap();
        let reference = server.object_to_string(service.channel());
        let channel: EventChannel = orb.resolve(&reference).unwrap();
        let admin = channel.default_supplier_admin().unwrap().unwrap();
        let obtained = admin.obtain_notification_push_consumer(ClientType::StructuredEvent);
        let proxy = obtained.unwrap().result.unwrap();
        let supplier: StructuredProxyPushConsumer = proxy.as_object().narrow().unwrap();
        supplier.connect_structured_push_supplier(None).unwrap();
        let event = event();
        let read = reading(&event);
        let mut push_all = || {
            for _ in 0..EVENTS {
                supplier.push_structured_event(&event).unwrap();
            }
        };
        push_all();
        // What is read, and what shares it among consumers.
        let most = (read + 1) * EVENTS;
        let counted = fewest_allocations(most, &mut push_all);
        eprintln!("{read} allocations of reading, {counted:?} of {EVENTS} pushes");
        assert!(
            counted.allocations <= most,
            "{read} of reading, {counted:?}"
        );
    });
}
