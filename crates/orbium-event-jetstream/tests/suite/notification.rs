// SPDX-License-Identifier: MIT OR Apache-2.0
//! Notification channels that store their events.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use orbium::{ExceptionKind, Interface, Orb, SystemException};
use orbium_event_jetstream::{DeadLetters, JetStreamConfig, StreamJournal};
use orbium_notification::idl::cos_notification::StructuredEvent;
use orbium_notification::idl::cos_notify_channel_admin::{
    ClientType, EventChannel, StructuredProxyPullSupplier, StructuredProxyPushConsumer,
    StructuredProxyPushSupplier,
};
use orbium_notification::idl::cos_notify_comm::StructuredPushConsumer;
use orbium_notification::idl::cos_notify_filter::ConstraintExp;
use orbium_notification::idl::orbium_notification::{
    AdminLimitExceededOrInvalidNameError, DurableConsumerAdmin,
};
use orbium_notification::{
    NotificationConfig, NotificationService, StructuredConsumer, property, structured_event,
};
use orbium_testkit::{PATIENCE, eventually};

use crate::dead_letters;
use crate::stage::{client, config, nats};

/// A notification channel that stores its events.
pub(crate) struct Notified {
    pub(crate) server: Orb,
    pub(crate) service: NotificationService,
    pub(crate) journal: Arc<StreamJournal>,
    reference: String,
}

impl Notified {
    fn new(config: JetStreamConfig) -> Self {
        Self::at(0, config, &NotificationConfig::default())
    }

    /// At a port, with limits of its own.
    pub(crate) fn at(port: u16, config: JetStreamConfig, limits: &NotificationConfig) -> Self {
        let endpoint = format!("iiop://127.0.0.1:{port}");
        let server = Orb::builder().endpoint(&endpoint).unwrap().build().unwrap();
        let journal = Arc::new(StreamJournal::open(config).unwrap());
        let mut served = None;
        // A service of before closes its file of connections with its last thread.
        eventually("the file of connections", || {
            let stored = Arc::clone(&journal) as _;
            served =
                NotificationService::serve_stored(&server, "Alarms", limits.clone(), stored).ok();
            served.is_some()
        });
        let service = served.unwrap();
        Self {
            reference: server.object_to_string(service.channel()),
            service,
            journal,
            server,
        }
    }

    pub(crate) fn seen_by(&self, orb: &Orb) -> EventChannel {
        orb.resolve(&self.reference).unwrap()
    }
}

impl Drop for Notified {
    fn drop(&mut self) {
        let _ = self.server.shutdown(true);
    }
}

pub(crate) fn event(number: i32) -> StructuredEvent {
    let mut event = structured_event("Telecom", "Alarm", "link 7");
    event.filterable_data.push(property("number", number));
    event
        .header
        .variable_header
        .push(property("EventId", format!("link-{number}")));
    event
}

/// Number, place in the stream and number of the delivery.
pub(crate) fn marks(event: &StructuredEvent) -> (i32, u64, u64) {
    let field = |name: &str| {
        let field = event
            .header
            .variable_header
            .iter()
            .find(|it| it.name == name);
        field.unwrap().value.extract::<u64>().unwrap()
    };
    let number = event.filterable_data[0].value.extract().unwrap();
    (number, field("StreamSequence"), field("DeliveryNumber"))
}

pub(crate) fn supplier(channel: &EventChannel) -> StructuredProxyPushConsumer {
    let admin = channel.default_supplier_admin().unwrap().unwrap();
    let obtained = admin.obtain_notification_push_consumer(ClientType::StructuredEvent);
    let proxy = obtained.unwrap().result.unwrap();
    let proxy: StructuredProxyPushConsumer = proxy.as_object().narrow().unwrap();
    proxy.connect_structured_push_supplier(None).unwrap();
    proxy
}

fn named_proxy(channel: &EventChannel, name: &str) -> StructuredProxyPushSupplier {
    let admin = channel.default_consumer_admin().unwrap().unwrap();
    let admin: DurableConsumerAdmin = admin.as_object().narrow().unwrap();
    admin.obtain_durable_push_supplier(name).unwrap().unwrap()
}

fn connect(
    orb: &Orb,
    proxy: &StructuredProxyPushSupplier,
    on_event: impl Fn(&StructuredEvent) -> Result<(), SystemException> + Send + Sync + 'static,
) {
    let root = orb.root_poa();
    root.manager().activate().unwrap();
    let consumer: StructuredPushConsumer =
        root.activate(StructuredConsumer::new(on_event)).unwrap();
    proxy
        .connect_structured_push_consumer(Some(&consumer))
        .unwrap();
}

/// Conformance: notification - persistence by a stream - events of before, filters, names, ids
#[test]
fn structured_events_are_stored_filtered_and_delivered() {
    let Some(nats) = nats() else { return };
    let (notified, orb) = (Notified::new(config(&nats)), client());
    let channel = notified.seen_by(&orb);
    let supplier = supplier(&channel);
    for number in 0..10 {
        supplier.push_structured_event(&event(number)).unwrap();
    }
    // Its supplier does not know that it has succeeded.
    supplier.push_structured_event(&event(3)).unwrap();
    let factory = channel.default_filter_factory().unwrap().unwrap();
    let filter = factory.create_filter("EXTENDED_TCL").unwrap().unwrap();
    let constraint = ConstraintExp {
        constraint_expr: "$number > 2 and $number < 6".to_owned(),
        ..ConstraintExp::default()
    };
    filter.add_constraints(&[constraint]).unwrap();
    let (send, received) = mpsc::channel();
    let proxy = named_proxy(&channel, "display");
    proxy.add_filter(Some(&filter)).unwrap();
    connect(&orb, &proxy, move |event| {
        let _ = send.send((marks(event), event.clone()));
        Ok(())
    });
    for number in 3..6 {
        let (mark, received) = received.recv_timeout(PATIENCE).unwrap();
        assert_eq!((mark.0, mark.2), (number, 1));
        assert_eq!(received.filterable_data, event(number).filterable_data);
    }
    // Another process goes on where the name ended.
    proxy.disconnect_structured_push_supplier().unwrap();
    supplier.push_structured_event(&event(5)).unwrap();
    supplier.push_structured_event(&event(11)).unwrap();
    let elsewhere = Notified::new(config(&nats));
    let (send, received) = mpsc::channel();
    let proxy = named_proxy(&elsewhere.seen_by(&orb), "display");
    connect(&orb, &proxy, move |event| {
        let _ = send.send(marks(event).0);
        Ok(())
    });
    let next = || received.recv_timeout(PATIENCE).unwrap();
    // What the filter had not passed before is over, unless it was still to be delivered.
    let mut first = next();
    while first < 11 {
        first = next();
    }
    assert_eq!(first, 11);
}

/// Conformance: notification - persistence by a stream - a failed delivery is repeated; consumers without names
#[test]
fn an_event_is_delivered_until_the_consumer_takes_it() {
    let Some(nats) = nats() else { return };
    let (notified, orb) = (Notified::new(config(&nats)), client());
    let channel = notified.seen_by(&orb);
    let admin = channel.default_consumer_admin().unwrap().unwrap();
    let obtained = admin.obtain_notification_pull_supplier(ClientType::StructuredEvent);
    let pulled: StructuredProxyPullSupplier = obtained
        .unwrap()
        .result
        .unwrap()
        .as_object()
        .narrow()
        .unwrap();
    pulled.connect_structured_pull_consumer(None).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&seen);
    connect(&orb, &named_proxy(&channel, "display"), move |event| {
        let mut all = all.lock().unwrap();
        all.push(marks(event));
        match all.len() {
            1 | 2 => Err(ExceptionKind::Transient.into()),
            _ => Ok(()),
        }
    });
    supplier(&channel).push_structured_event(&event(7)).unwrap();
    eventually("three deliveries", || seen.lock().unwrap().len() == 3);
    let seen = seen.lock().unwrap().clone();
    assert!(seen.iter().all(|it| (it.0, it.1) == (7, seen[0].1)));
    assert_eq!(seen.iter().map(|it| it.2).collect::<Vec<_>>(), [1, 2, 3]);
    let event = pulled.pull_structured_event().unwrap();
    assert_eq!(marks(&event).0, 7);
}

/// Conformance: notification - persistence by a stream - dead letters with the exception, none while a consumer is suspended
#[test]
fn a_structured_event_that_fails_is_a_dead_letter() {
    let Some(nats) = nats() else { return };
    let dead_letters = Some(DeadLetters::new("NAV-DEAD", 1));
    let notified = Notified::new(JetStreamConfig {
        dead_letters,
        ack_wait: PATIENCE,
        ..config(&nats)
    });
    let orb = client();
    let channel = notified.seen_by(&orb);
    let proxy = named_proxy(&channel, "display");
    let (send, received) = mpsc::channel();
    connect(&orb, &proxy, move |event| {
        let _ = send.send(marks(event).0);
        match marks(event).0 {
            1 => Err(ExceptionKind::Internal.into()),
            2 => Err(ExceptionKind::BadParam.into()),
            _ => Ok(()),
        }
    });
    proxy.suspend_connection().unwrap();
    let supplier = supplier(&channel);
    supplier.push_structured_event(&event(0)).unwrap();
    eventually("a delivery while it is suspended", || {
        notified.journal.statistics().deferred > 0
    });
    proxy.resume_connection().unwrap();
    assert_eq!(received.recv_timeout(PATIENCE).unwrap(), 0);
    for number in 1..=2 {
        supplier.push_structured_event(&event(number)).unwrap();
    }
    eventually("the dead letters", || {
        notified.journal.statistics().dead_letters == 2
    });
    let letters = dead_letters::stored(&nats);
    for ((_, headers), exception) in letters.iter().zip(["INTERNAL", "BAD_PARAM"]) {
        let cause = headers.get("Orb-Cause").unwrap().as_str();
        assert!(cause.contains(exception), "{cause}");
    }
    let letters_channel = Notified::new(JetStreamConfig {
        stream: "NAV-DEAD".to_owned(),
        ..config(&nats)
    });
    let (send, received) = mpsc::channel();
    let operator = named_proxy(&letters_channel.seen_by(&orb), "operator");
    connect(&orb, &operator, move |event| {
        let _ = send.send(marks(event).0);
        Ok(())
    });
    for number in 1..=2 {
        assert_eq!(received.recv_timeout(PATIENCE).unwrap(), number);
    }
}

/// Conformance: notification - persistence by a stream - the NATS server is killed: no event is lost
#[test]
fn no_structured_event_is_lost_when_the_nats_server_is_killed() {
    const EVENTS: i32 = 1000;
    let Some(nats) = nats() else { return };
    let (notified, orb) = (Notified::new(config(&nats)), client());
    let channel = notified.seen_by(&orb);
    let log = Arc::new(Mutex::new(BTreeMap::<i32, Vec<u64>>::new()));
    let all = Arc::clone(&log);
    connect(&orb, &named_proxy(&channel, "display"), move |event| {
        let (number, sequence, _) = marks(event);
        all.lock()
            .unwrap()
            .entry(number)
            .or_default()
            .push(sequence);
        Ok(())
    });
    let supplier = supplier(&channel);
    let arrived = || i32::try_from(log.lock().unwrap().len()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..EVENTS {
                let event = event(number);
                eventually("the event is stored", || {
                    supplier.push_structured_event(&event).is_ok()
                });
            }
        });
        for part in 1..=2 {
            eventually("a part arrives", || arrived() >= EVENTS / 3 * part);
            nats.kill();
            nats.start_again();
        }
    });
    eventually("all arrive", || arrived() == EVENTS);
    for (number, places) in &*log.lock().unwrap() {
        assert!(
            places.iter().all(|it| *it == places[0]),
            "{number}: {places:?}"
        );
    }
}

#[test]
fn names_are_checked_and_replaced() {
    let Some(nats) = nats() else { return };
    let (notified, orb) = (Notified::new(config(&nats)), client());
    let channel = notified.seen_by(&orb);
    let admin = channel.default_consumer_admin().unwrap().unwrap();
    let admin: DurableConsumerAdmin = admin.as_object().narrow().unwrap();
    for name in ["", "a.b", "*"] {
        let refused = admin.obtain_durable_push_supplier(name).unwrap_err();
        let is_invalid = matches!(
            refused,
            AdminLimitExceededOrInvalidNameError::InvalidName(_)
        );
        assert!(is_invalid, "{name}: {refused:?}");
    }
    let first = named_proxy(&channel, "display");
    connect(&orb, &first, |_| Ok(()));
    let second = named_proxy(&channel, "display");
    connect(&orb, &second, |_| Ok(()));
    assert!(first.as_object().non_existent().unwrap());
    assert!(!second.as_object().non_existent().unwrap());
}

/// Conformance: notification - persistence by a stream - EventReliability is Persistent, and may be asked for
#[test]
fn events_of_a_stored_channel_are_persistent() {
    let Some(nats) = nats() else { return };
    let (notified, orb) = (Notified::new(config(&nats)), client());
    let channel = notified.seen_by(&orb);
    let of_channel = || {
        let all = channel.get_qos().unwrap();
        let named = all.iter().find(|it| it.name == "EventReliability");
        named.unwrap().value.extract::<i16>().unwrap()
    };
    assert_eq!(of_channel(), 1);
    for reliability in [0i16, 1] {
        channel
            .set_qos(&[property("EventReliability", reliability)])
            .unwrap();
        assert_eq!(of_channel(), reliability);
    }
    let proxy = named_proxy(&channel, "display");
    let persistent = [property("EventReliability", 1i16)];
    proxy.validate_event_qos(&persistent).unwrap();
    // At the level of a proxy it has no meaning, and connections end with the channel.
    for refused in [
        property("EventReliability", 1i16),
        property("ConnectionReliability", 1i16),
    ] {
        proxy.set_qos(&[refused]).unwrap_err();
    }
    let (send, received) = mpsc::channel();
    connect(&orb, &proxy, move |event| {
        let _ = send.send(event.clone());
        Ok(())
    });
    let mut reliable = event(1);
    let fields = &mut reliable.header.variable_header;
    fields.push(property("EventReliability", 1i16));
    supplier(&channel).push_structured_event(&reliable).unwrap();
    let fields = received
        .recv_timeout(PATIENCE)
        .unwrap()
        .header
        .variable_header;
    assert!(fields.iter().any(|it| it.name == "EventReliability"));
}

/// Conformance: notification - persistence by a stream - a supplier gets TIMEOUT while nothing can be stored
#[test]
fn a_supplier_gets_an_exception_if_its_event_cannot_be_stored() {
    let Some(nats) = nats() else { return };
    let config = JetStreamConfig {
        publish_timeout: std::time::Duration::from_millis(200),
        attempt_timeout: std::time::Duration::from_millis(100),
        ..config(&nats)
    };
    let (notified, orb) = (Notified::new(config), client());
    let supplier = supplier(&notified.seen_by(&orb));
    nats.kill();
    let refused = supplier.push_structured_event(&event(1)).unwrap_err();
    assert!(format!("{refused}").contains("TIMEOUT"), "{refused}");
}
