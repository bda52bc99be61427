// SPDX-License-Identifier: MIT OR Apache-2.0
//! Properties of quality of service and of administration.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use orbium::{Any, ExceptionKind, Interface, SystemException};
use orbium_notification::idl::cos_notification::{
    Property, QoSErrorCode, StructuredEvent, UnsupportedAdminError, UnsupportedQoSError,
};
use orbium_notification::idl::cos_notify_channel_admin::{
    AdminLimitExceededError, ClientType, StructuredProxyPullSupplier,
};
use orbium_notification::idl::cos_notify_comm::DisconnectedError;
use orbium_notification::idl::orbium_notification::DurableConsumerAdmin;
use orbium_notification::{
    Deliver, Delivered, Following, Journal, NotificationConfig, NotificationService, property,
};
use orbium_testkit::{PATIENCE, eventually};

use crate::peers::{Report, Served, alarm, severity};

fn value(properties: &[Property], name: &str) -> Any {
    let found = properties.iter().find(|it| it.name == name);
    found.map(|it| it.value.clone()).unwrap_or_default()
}

/// All that waits, as severities.
fn rest(proxy: &StructuredProxyPullSupplier) -> Vec<i16> {
    let mut all = Vec::new();
    loop {
        let tried = proxy.try_pull_structured_event().unwrap();
        if tried.has_event {
            all.push(severity(&tried.result));
        } else {
            return all;
        }
    }
}

/// Conformance: notification - set_qos sets all or nothing, with an entry for each error - a served channel
#[test]
fn properties_that_cannot_be_set_are_named_with_their_ranges() {
    let served = Served::new();
    let refused = served.channel.set_qos(&[
        property("Priority", 3i16),
        property("EventReliability", 1i16),
        property("OrderPolicy", 9i16),
        property("MaximumBatchSize", "text"),
        property("StartTime", 1u64),
        property("StopTime", 1u64),
        property("Nonsense", 1i32),
    ]);
    let Err(UnsupportedQoSError::UnsupportedQoS(refused)) = refused else {
        panic!("{refused:?}");
    };
    let codes: Vec<_> = refused
        .qos_err
        .iter()
        .map(|it| (it.name.as_str(), it.code))
        .collect();
    assert_eq!(
        codes,
        [
            ("EventReliability", QoSErrorCode::UnsupportedValue),
            ("OrderPolicy", QoSErrorCode::BadValue),
            ("MaximumBatchSize", QoSErrorCode::BadType),
            ("StartTime", QoSErrorCode::UnsupportedProperty),
            ("StopTime", QoSErrorCode::BadProperty),
            ("Nonsense", QoSErrorCode::BadProperty),
        ]
    );
    assert_eq!(
        refused.qos_err[1].available_range.high_val.extract::<i16>(),
        Ok(3)
    );
    // Nothing was set.
    let qos = served.channel.get_qos().unwrap();
    assert_eq!(value(&qos, "Priority").extract::<i16>(), Ok(0));

    let available = served
        .channel
        .validate_qos(&[property("Priority", 3i16)])
        .unwrap();
    assert!(available.iter().any(|it| it.name == "OrderPolicy"));
    assert!(available.iter().all(|it| it.name != "Priority"));
    assert!(
        served
            .supplier()
            .validate_event_qos(&[property("Priority", 3i16)])
            .is_ok()
    );
    assert!(
        served
            .supplier()
            .validate_event_qos(&[property("OrderPolicy", 1i16)])
            .is_err()
    );
}

/// Conformance: notification - lower levels override higher ones - a served channel
#[test]
fn the_property_of_the_lower_level_is_in_force() {
    let served = Served::new();
    let proxy = served.pulled();
    let most = || value(&proxy.get_qos().unwrap(), "MaxEventsPerConsumer").extract::<i32>();
    served
        .channel
        .set_qos(&[property("MaxEventsPerConsumer", 10i32)])
        .unwrap();
    assert_eq!(most(), Ok(10));
    served
        .consumers
        .set_qos(&[property("MaxEventsPerConsumer", 5i32)])
        .unwrap();
    assert_eq!(most(), Ok(5));
    proxy
        .set_qos(&[property("MaxEventsPerConsumer", 2i32)])
        .unwrap();
    assert_eq!(most(), Ok(2));
    let supplier = served.supplier();
    for number in 0..5 {
        supplier.push_structured_event(&alarm(number)).unwrap();
    }
    assert_eq!(rest(&proxy), [3, 4]);
}

/// Conformance: notification - OrderPolicy and DiscardPolicy - a served channel
#[test]
fn events_are_ordered_and_discarded_as_the_policies_say() {
    let served = Served::new();
    let supplier = served.supplier();
    // The priority of each event is in its header; its number is its severity.
    let push = |priorities: &[i16]| {
        for (number, priority) in (0i16..).zip(priorities) {
            let mut event = alarm(number);
            event.header.variable_header = vec![property("Priority", *priority)];
            supplier.push_structured_event(&event).unwrap();
        }
    };
    let orders = [(1i16, vec![0, 1, 2, 3]), (2, vec![1, 3, 0, 2])];
    for (order, expected) in orders {
        let proxy = served.pulled();
        proxy.set_qos(&[property("OrderPolicy", order)]).unwrap();
        push(&[1, 5, -1, 5]);
        assert_eq!(rest(&proxy), expected, "order {order}");
        proxy.disconnect_structured_pull_supplier().unwrap();
    }
    // Any, Fifo, Priority, Lifo.
    let discards = [
        (0i16, vec![2, 3]),
        (1, vec![2, 3]),
        (2, vec![1, 3]),
        (4, vec![0, 3]),
    ];
    for (discard, expected) in discards {
        let proxy = served.pulled();
        let most = property("MaxEventsPerConsumer", 2i32);
        let policies = [
            property("OrderPolicy", 1i16),
            property("DiscardPolicy", discard),
            most,
        ];
        proxy.set_qos(&policies).unwrap();
        push(&[1, 5, -1, 5]);
        assert_eq!(rest(&proxy), expected, "discard {discard}");
        proxy.disconnect_structured_pull_supplier().unwrap();
    }
}

/// Conformance: notification - Timeout of events, deadline order - a served channel
#[test]
fn events_expire_and_are_ordered_by_deadline() {
    let served = Served::new();
    let proxy = served.pulled();
    proxy.set_qos(&[property("OrderPolicy", 3i16)]).unwrap();
    let supplier = served.supplier();
    for (number, timeout) in [
        (0i16, 0u64),
        (1, 900_000_000_000),
        (2, 600_000_000_000),
        (3, 1),
    ] {
        let mut event = alarm(number);
        event.header.variable_header = vec![property("Timeout", timeout)];
        supplier.push_structured_event(&event).unwrap();
    }
    assert_eq!(rest(&proxy), [2, 1, 0]);
    let statistics = served.service.statistics();
    assert_eq!(statistics[0].consumers[0].expired, 1);
}

/// Conformance: notification - MaxQueueLength with RejectNewEvents - a served channel
#[test]
fn a_full_channel_rejects_events_or_discards_them() {
    let served = Served::new();
    let (proxy, supplier) = (served.pulled(), served.supplier());
    served
        .channel
        .set_admin(&[
            property("MaxQueueLength", 2i32),
            property("RejectNewEvents", true),
        ])
        .unwrap();
    supplier.push_structured_event(&alarm(0)).unwrap();
    supplier.push_structured_event(&alarm(1)).unwrap();
    let refused = supplier.push_structured_event(&alarm(2)).unwrap_err();
    assert!(matches!(refused, DisconnectedError::System(it) if it.kind == ExceptionKind::ImpLimit));
    served
        .channel
        .set_admin(&[property("RejectNewEvents", false)])
        .unwrap();
    supplier.push_structured_event(&alarm(3)).unwrap();
    assert_eq!(rest(&proxy), [1, 3]);
    let refused = served
        .channel
        .set_admin(&[property("MaxQueueLength", -1i32)])
        .unwrap_err();
    assert!(
        matches!(refused, UnsupportedAdminError::UnsupportedAdmin(it) if it.admin_err.len() == 1)
    );
    assert_eq!(
        value(&served.channel.get_admin().unwrap(), "MaxQueueLength").extract::<i32>(),
        Ok(2)
    );
}

/// Conformance: notification - MaxConsumers and MaxSuppliers: AdminLimitExceeded - a served channel
#[test]
fn proxies_are_limited_by_the_administration() {
    let served = Served::new();
    served
        .channel
        .set_admin(&[
            property("MaxConsumers", 1i32),
            property("MaxSuppliers", 1i32),
        ])
        .unwrap();
    let proxy = served.pulled();
    let obtain = || {
        served
            .consumers
            .obtain_notification_push_supplier(ClientType::AnyEvent)
    };
    let Err(AdminLimitExceededError::AdminLimitExceeded(limit)) = obtain() else {
        panic!("no limit");
    };
    assert_eq!(limit.admin_property_err.name, "MaxConsumers");
    assert_eq!(limit.admin_property_err.value.extract::<i32>(), Ok(1));
    proxy.disconnect_structured_pull_supplier().unwrap();
    eventually("a free place", || obtain().is_ok());
    let _supplier = served.supplier();
    let refused = served
        .suppliers
        .obtain_notification_push_consumer(ClientType::AnyEvent);
    assert!(matches!(
        refused,
        Err(AdminLimitExceededError::AdminLimitExceeded(_))
    ));
}

/// A journal in memory, and what delivers its events to consumers with names.
#[derive(Default)]
struct Memory {
    events: Mutex<Vec<StructuredEvent>>,
    deliver: Mutex<Option<Deliver>>,
}

impl Journal for Memory {
    fn store(&self, event: &StructuredEvent) -> Result<(), SystemException> {
        self.events.lock().unwrap().push(event.clone());
        Ok(())
    }

    fn is_name(&self, _: &str) -> bool {
        true
    }

    fn follow(&self, name: Option<&str>, deliver: Deliver) -> Result<Following, SystemException> {
        if name.is_some() {
            *self.deliver.lock().unwrap() = Some(deliver);
        }
        Ok(Box::new(()))
    }
}

/// The time began anew with the delivery, and the properties of the supplier were not stored.
#[test]
fn a_stored_event_expires_and_has_the_properties_of_its_supplier() {
    const LIFE: Duration = Duration::from_millis(100);
    let journal = Arc::new(Memory::default());
    let served = Served::by(|server| {
        let (config, stored) = (NotificationConfig::default(), Arc::clone(&journal) as _);
        NotificationService::serve_stored(server, "Alarms", config, stored).unwrap()
    });
    let supplier = served.supplier();
    let life = property("Timeout", 1_000_000u64);
    supplier
        .set_qos(&[life, property("Priority", 7i16)])
        .unwrap();
    supplier.push_structured_event(&alarm(1)).unwrap();
    let mut lasting = alarm(2);
    lasting.header.variable_header = vec![property("Timeout", 0u64)];
    supplier.push_structured_event(&lasting).unwrap();
    let stored = Instant::now();
    eventually("the time is over", || stored.elapsed() > LIFE);

    let admin: DurableConsumerAdmin = served.consumers.as_object().narrow().unwrap();
    let proxy = admin.obtain_durable_push_supplier("display").unwrap();
    let (consumer, received) = served.structured_reporter();
    let proxy = proxy.unwrap();
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
    let Some(Deliver::Push(deliver)) = journal.deliver.lock().unwrap().take() else {
        panic!("no consumer");
    };
    for event in journal.events.lock().unwrap().drain(..) {
        assert_eq!(deliver(event), Delivered::Accepted);
    }
    let Report::Event(event) = received.recv_timeout(PATIENCE).unwrap() else {
        panic!("no event");
    };
    assert_eq!(severity(&event), 2);
    let fields = &event.header.variable_header;
    assert_eq!(value(fields, "Priority").extract::<i16>(), Ok(7));
    assert!(received.try_recv().is_err());
}
