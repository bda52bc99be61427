// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes of event types, sent to peers.

use std::slice::from_ref;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use orbium::{Call, Interface, SystemException};
use orbium_notification::event_type;
use orbium_notification::idl::cos_notification::EventType;
use orbium_notification::idl::cos_notify_channel_admin::{
    ClientType, ObtainInfoMode, StructuredProxyPushConsumer,
};
use orbium_notification::idl::cos_notify_comm::{
    InvalidEventTypeError, NotifySubscribe, NotifySubscribeServant, StructuredPushSupplier,
    StructuredPushSupplierServant,
};
use orbium_notification::idl::cos_notify_filter::ConstraintExp;
use orbium_testkit::PATIENCE;

use crate::peers::{Report, Served};

type Changed = (Vec<EventType>, Vec<EventType>);

/// A supplier, or a callback, that reports changes.
struct Subscribed(Mutex<Sender<Changed>>);

impl NotifySubscribeServant for Subscribed {
    fn subscription_change(
        &self,
        _: &Call<'_>,
        added: &[EventType],
        removed: &[EventType],
    ) -> Result<(), InvalidEventTypeError> {
        let _ = self
            .0
            .lock()
            .unwrap()
            .send((added.to_vec(), removed.to_vec()));
        Ok(())
    }
}

impl StructuredPushSupplierServant for Subscribed {
    fn disconnect_structured_push_supplier(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}

fn subscribed(served: &Served) -> (StructuredPushSupplier, Receiver<Changed>) {
    let (send, received) = mpsc::channel();
    let servant = Arc::new(Subscribed(Mutex::new(send)));
    (served.orb.root_poa().activate(servant).unwrap(), received)
}

/// A peer had filled the memory of the service with them.
#[test]
fn event_types_of_a_peer_are_bounded() {
    let served = Served::new();
    let (supplier, consumer) = (served.supplier(), served.pushed());
    let types = |range: std::ops::Range<u32>| -> Vec<EventType> {
        range.map(|it| event_type("", &it.to_string())).collect()
    };
    let is_refused = |changed: Result<(), InvalidEventTypeError>| {
        changed.unwrap_err().to_string().contains("IMP_LIMIT")
    };
    assert!(is_refused(supplier.offer_change(&types(0..4097), &[])));
    supplier.offer_change(&types(0..4096), &[]).unwrap();
    assert!(is_refused(supplier.offer_change(&types(5000..5001), &[])));
    let one = types(0..1);
    supplier.offer_change(&types(5000..5001), &one).unwrap();
    let offered = consumer.obtain_offered_types(ObtainInfoMode::AllNowUpdatesOff);
    let offered = offered.unwrap();
    assert_eq!((offered.len(), offered.contains(&one[0])), (4096, false));
    assert!(is_refused(
        consumer.subscription_change(&types(0..4097), &[])
    ));
}

/// Conformance: notification - offer_change and subscription_change are sent to peers that ask for updates - a served channel
#[test]
fn consumers_get_changes_of_offers_that_they_have_asked_for() {
    let served = Served::new();
    let (consumer, received) = served.structured_reporter();
    let proxy = served.pushed();
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    let supplier = served.supplier();
    let (alarm, clear) = (
        event_type("Telecom", "Alarm"),
        event_type("Telecom", "Clear"),
    );
    supplier.offer_change(from_ref(&alarm), &[]).unwrap();
    let now = proxy.obtain_offered_types(ObtainInfoMode::AllNowUpdatesOn);
    assert_eq!(now.unwrap(), from_ref(&alarm));
    // Nothing changes by this one.
    supplier.offer_change(from_ref(&alarm), &[]).unwrap();
    served
        .suppliers
        .offer_change(from_ref(&clear), &[])
        .unwrap();
    supplier.offer_change(&[], from_ref(&alarm)).unwrap();
    for report in [
        Report::Offer(vec![clear.clone()], vec![]),
        Report::Offer(vec![], vec![alarm.clone()]),
    ] {
        assert_eq!(received.recv_timeout(PATIENCE), Ok(report));
    }
    let none = proxy.obtain_offered_types(ObtainInfoMode::NoneNowUpdatesOff);
    assert!(none.unwrap().is_empty());
    supplier.offer_change(&[alarm], &[]).unwrap();
    let on = proxy.obtain_offered_types(ObtainInfoMode::NoneNowUpdatesOn);
    assert!(on.unwrap().is_empty());
    supplier.offer_change(&[], &[clear]).unwrap();
    let other = event_type("Power", "Alarm");
    supplier.offer_change(from_ref(&other), &[]).unwrap();
    // The change that came while they were off was not sent.
    let next = received.recv_timeout(PATIENCE);
    assert_eq!(next, Ok(Report::Offer(vec![other], vec![])));
}

/// Conformance: notification - offer_change and subscription_change are sent to peers that ask for updates - a served channel
#[test]
fn suppliers_get_changes_of_subscriptions_that_they_have_asked_for() {
    let served = Served::new();
    let (supplier, changes) = subscribed(&served);
    let obtained = served
        .suppliers
        .obtain_notification_push_consumer(ClientType::StructuredEvent);
    let proxy = obtained.unwrap().result.unwrap();
    let proxy: StructuredProxyPushConsumer = proxy.as_object().narrow().unwrap();
    proxy
        .connect_structured_push_supplier(Some(&supplier))
        .unwrap();
    let consumer = served.pulled();
    let alarm = event_type("Telecom", "Alarm");
    let none = proxy.obtain_subscription_types(ObtainInfoMode::AllNowUpdatesOn);
    assert!(none.unwrap().is_empty());
    consumer.subscription_change(from_ref(&alarm), &[]).unwrap();
    let added = changes.recv_timeout(PATIENCE);
    assert_eq!(added, Ok((vec![alarm.clone()], vec![])));
    consumer.subscription_change(&[], from_ref(&alarm)).unwrap();
    let removed = changes.recv_timeout(PATIENCE);
    assert_eq!(removed, Ok((vec![], vec![alarm])));
}

/// Conformance: notification - callbacks of a filter get changes of its event types - a served channel
#[test]
fn callbacks_of_a_filter_get_changes_of_its_types() {
    let served = Served::new();
    let filter = served.filter(&["TRUE"]);
    let (callback, changes) = subscribed(&served);
    let callback = NotifySubscribe::from_object(callback.as_object().clone());
    let id = filter.attach_callback(Some(&callback)).unwrap();
    assert_eq!(filter.get_callbacks().unwrap(), [id]);
    let alarm = event_type("Telecom", "Alarm");
    let of_alarms = ConstraintExp {
        event_types: vec![alarm.clone()],
        constraint_expr: "$severity > 3".to_owned(),
    };
    let added = filter.add_constraints(&[of_alarms]).unwrap();
    let change = changes.recv_timeout(PATIENCE);
    assert_eq!(change, Ok((vec![alarm.clone()], vec![])));
    filter
        .modify_constraints(&[added[0].constraint_id], &[])
        .unwrap();
    let change = changes.recv_timeout(PATIENCE);
    assert_eq!(change, Ok((vec![], vec![alarm.clone()])));
    filter.detach_callback(id).unwrap();
    filter.remove_all_constraints().unwrap();
    assert!(filter.get_callbacks().unwrap().is_empty());
}
