// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers that pull from notification channels which store their events.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use orbium::{Interface, Orb};
use orbium_event_jetstream::{DeadLetters, JetStreamConfig};
use orbium_notification::idl::cos_event_channel_admin as cos_admin;
use orbium_notification::idl::cos_notification::StructuredEvent;
use orbium_notification::idl::cos_notify_channel_admin::{
    ClientType, EventChannel, SequenceProxyPullSupplier, StructuredProxyPullSupplier,
};
use orbium_notification::idl::cos_notify_filter::ConstraintExp;
use orbium_notification::{NotificationConfig, property};
use orbium_testkit::{NatsServer, eventually};

use crate::notification::{Notified, event, marks, supplier};
use crate::stage::{client, config, nats, with_client};

/// A file of connections of a test's own.
struct Connections(PathBuf);

impl Connections {
    fn new() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        let name = format!("connections-{}-{number}", std::process::id());
        Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    fn limits(&self) -> NotificationConfig {
        NotificationConfig {
            connections: Some(self.0.clone()),
            ..NotificationConfig::default()
        }
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A channel with connections that survive, and a client of it.
fn stage(config: JetStreamConfig) -> (Connections, Notified, Orb) {
    let connections = Connections::new();
    let notified = Notified::at(0, config, &connections.limits());
    (connections, notified, client())
}

fn structured(channel: &EventChannel) -> StructuredProxyPullSupplier {
    let admin = channel.default_consumer_admin().unwrap().unwrap();
    let obtained = admin.obtain_notification_pull_supplier(ClientType::StructuredEvent);
    let proxy = obtained.unwrap().result.unwrap();
    let proxy: StructuredProxyPullSupplier = proxy.as_object().narrow().unwrap();
    proxy.connect_structured_pull_consumer(None).unwrap();
    proxy
}

fn batches(channel: &EventChannel) -> SequenceProxyPullSupplier {
    let admin = channel.default_consumer_admin().unwrap().unwrap();
    let obtained = admin.obtain_notification_pull_supplier(ClientType::SequenceEvent);
    let proxy = obtained.unwrap().result.unwrap();
    let proxy: SequenceProxyPullSupplier = proxy.as_object().narrow().unwrap();
    proxy.connect_sequence_pull_consumer(None).unwrap();
    proxy
}

/// The same object, as a client with connections of its own sees it.
fn seen_by<T: Interface>(orb: &Orb, proxy: &T) -> T {
    orb.resolve(&proxy.as_object().ior().to_string()).unwrap()
}

/// All events are acknowledged, those too that come again while the consumer pulls.
fn await_acknowledged(nats: &NatsServer, pull: impl Fn()) {
    eventually("all events are acknowledged", || {
        pull();
        with_client(nats, |context| async move {
            use futures_util::TryStreamExt as _;
            let stream = context.get_stream("NAV").await.unwrap();
            let consumers = stream.consumers();
            let all: Vec<_> = consumers.try_collect().await.unwrap();
            let mut named = all.iter().filter(|it| it.config.durable_name.is_some());
            named.all(|it| it.num_ack_pending == 0 && it.num_pending == 0)
        })
    });
}

/// Conformance: notification - consumers that pull from a stream - a pull acknowledges the one before, by the same connection
#[test]
fn events_of_a_consumer_that_died_come_again() {
    let Some(nats) = nats() else { return };
    let (_connections, notified, orb) = stage(config(&nats));
    let channel = notified.seen_by(&orb);
    let supplier = supplier(&channel);
    supplier.push_structured_event(&event(-1)).unwrap();
    // What was stored before a connection is not for it.
    let proxy = structured(&channel);
    for number in 0..3 {
        supplier.push_structured_event(&event(number)).unwrap();
    }
    let dying = client();
    let of_dying = seen_by(&dying, &proxy);
    let first = marks(&of_dying.pull_structured_event().unwrap());
    let second = marks(&of_dying.pull_structured_event().unwrap());
    assert_eq!([(first.0, first.2), (second.0, second.2)], [(0, 1), (1, 1)]);
    // It has got a second one, and does not come back for more.
    dying.shutdown(true).unwrap();
    let mut got = [0; 2].map(|_| marks(&proxy.pull_structured_event().unwrap()));
    got.sort_unstable();
    assert_eq!(
        got.map(|it| (it.0, it.1)),
        [(1, second.1), (2, second.1 + 1)]
    );
    // On a loaded machine the server may have delivered it once more.
    assert!(got[0].2 > 1 && got[1].2 == 1, "{got:?}");
    assert!(!proxy.try_pull_structured_event().unwrap().has_event);
    await_acknowledged(&nats, || {});
}

/// Conformance: notification - consumers that pull from a stream - each event of a batch that was not acknowledged comes by itself
#[test]
fn events_of_a_batch_come_again_by_themselves() {
    let Some(nats) = nats() else { return };
    let (_connections, notified, orb) = stage(config(&nats));
    let channel = notified.seen_by(&orb);
    let (supplier, proxy) = (supplier(&channel), batches(&channel));
    for number in 0..5 {
        supplier.push_structured_event(&event(number)).unwrap();
    }
    let dying = client();
    let of_dying = seen_by(&dying, &proxy);
    let mut batch = Vec::new();
    eventually("a batch", || {
        // A smaller one is acknowledged.
        let tried = of_dying.try_pull_structured_events(3).unwrap();
        batch = tried.result.iter().map(marks).collect();
        batch.len() == 3 || batch.last().is_some_and(|it| it.0 == 4)
    });
    dying.shutdown(true).unwrap();
    let mut arrived = BTreeMap::new();
    let last = batch.last().unwrap().0.max(4);
    while !(batch[0].0..=last).all(|it| arrived.contains_key(&it)) {
        let events = proxy.pull_structured_events(100).unwrap();
        let is_repeated = |it: &StructuredEvent| marks(it).2 > 1;
        assert!(events.len() == 1 || !events.iter().any(is_repeated));
        arrived.extend(events.iter().map(marks).map(|it| (it.0, (it.1, it.2))));
    }
    for (number, place, _) in batch {
        let (of_next, delivery) = arrived[&number];
        assert!(of_next == place && delivery > 1, "{number}: {arrived:?}");
    }
    await_acknowledged(&nats, || drop(proxy.try_pull_structured_events(1).unwrap()));
}

/// Conformance: notification - consumers that pull from a stream - every form goes on after a restart of the channel
#[test]
fn consumers_of_every_form_go_on_when_the_channel_is_there_again() {
    let Some(nats) = nats() else { return };
    let (connections, notified, orb) = stage(config(&nats));
    let channel = notified.seen_by(&orb);
    let (supplier, plain) = (supplier(&channel), structured(&channel));
    let in_batches = batches(&channel);
    let cos: cos_admin::ConsumerAdmin = channel.for_consumers().unwrap().unwrap();
    let anys = cos.obtain_pull_supplier().unwrap().unwrap();
    anys.connect_pull_consumer(None).unwrap();
    for number in 0..2 {
        supplier.push_structured_event(&event(number)).unwrap();
    }
    assert_eq!(marks(&plain.pull_structured_event().unwrap()).0, 0);
    let port = notified.server.addresses().unwrap()[0].port;
    drop(notified);
    let _notified = Notified::at(port, config(&nats), &connections.limits());
    let number = |event: &StructuredEvent| marks(event).0;
    // The first call may meet the connection to the service of before.
    let mut of_plain = Vec::new();
    eventually("structured events", || {
        let pulled = plain.pull_structured_event();
        of_plain.extend(pulled.iter().map(number));
        of_plain.contains(&0) && of_plain.contains(&1)
    });
    let (mut of_batches, mut of_anys) = (Vec::new(), Vec::new());
    while of_batches.len() < 2 {
        let batch = in_batches.pull_structured_events(10).unwrap();
        of_batches.extend(batch.iter().map(number));
    }
    while of_anys.len() < 2 {
        let event: StructuredEvent = anys.pull().unwrap().extract().unwrap();
        of_anys.push(number(&event));
    }
    for mut numbers in [of_batches, of_anys] {
        // What is delivered again may come in another order.
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1]);
    }
}

/// Conformance: notification - consumers that pull from a stream - the NATS server is killed: no event is lost
#[test]
fn no_event_is_lost_to_a_pulling_consumer_when_the_nats_server_is_killed() {
    const EVENTS: i32 = 600;
    let Some(nats) = nats() else { return };
    let (_connections, notified, orb) = stage(config(&nats));
    let channel = notified.seen_by(&orb);
    let (supplier, proxy) = (supplier(&channel), structured(&channel));
    let mut log = BTreeMap::<i32, Vec<u64>>::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..EVENTS {
                let event = event(number);
                eventually("the event is stored", || {
                    supplier.push_structured_event(&event).is_ok()
                });
            }
        });
        let mut killed = 0;
        while i32::try_from(log.len()).unwrap() < EVENTS {
            let (number, place, _) = marks(&proxy.pull_structured_event().unwrap());
            log.entry(number).or_default().push(place);
            if number >= EVENTS / 3 * (killed + 1) && killed < 2 {
                killed += 1;
                nats.kill();
                nats.start_again();
            }
        }
    });
    for (number, deliveries) in &log {
        // A duplicate has the same place. The server that was killed may not know that it has delivered an event.
        let is_same = |it: &u64| *it == deliveries[0];
        assert!(deliveries.iter().all(is_same), "{number}: {deliveries:?}");
    }
    await_acknowledged(&nats, || drop(proxy.try_pull_structured_event().unwrap()));
}

/// Conformance: notification - consumers that pull from a stream - an event that a consumer dies with is a dead letter
#[test]
fn an_event_that_ends_its_pulling_consumer_is_a_dead_letter() {
    let Some(nats) = nats() else { return };
    let config = JetStreamConfig {
        dead_letters: Some(DeadLetters::new("NAV-DEAD", 2)),
        ..config(&nats)
    };
    let (_connections, notified, orb) = stage(config);
    let channel = notified.seen_by(&orb);
    let (supplier, proxy) = (supplier(&channel), structured(&channel));
    supplier.push_structured_event(&event(0)).unwrap();
    for delivery in 1..=2 {
        let dying = client();
        let pulled = seen_by(&dying, &proxy).pull_structured_event().unwrap();
        let (number, _, of_event) = marks(&pulled);
        assert!(number == 0 && of_event >= delivery, "{pulled:?}");
        dying.shutdown(true).unwrap();
    }
    supplier.push_structured_event(&event(1)).unwrap();
    assert_eq!(marks(&proxy.pull_structured_event().unwrap()).0, 1);
    eventually("the dead letter", || {
        proxy.try_pull_structured_event().unwrap();
        notified.journal.statistics().dead_letters == 1
    });
}

/// Conformance: notification - consumers that pull from a stream - filters; events that expired are counted with the next one
#[test]
fn a_pulled_event_has_the_number_of_those_that_expired() {
    let Some(nats) = nats() else { return };
    let (_connections, notified, orb) = stage(config(&nats));
    let channel = notified.seen_by(&orb);
    let (supplier, proxy) = (supplier(&channel), structured(&channel));
    let factory = channel.default_filter_factory().unwrap().unwrap();
    let filter = factory.create_filter("EXTENDED_TCL").unwrap().unwrap();
    let constraint = ConstraintExp {
        constraint_expr: "$number > 2".to_owned(),
        ..ConstraintExp::default()
    };
    filter.add_constraints(&[constraint]).unwrap();
    proxy.add_filter(Some(&filter)).unwrap();
    for number in 2..5 {
        let mut event = event(number);
        if number == 3 {
            // Of 100 ns.
            let fields = &mut event.header.variable_header;
            fields.push(property("Timeout", 1u64));
        }
        supplier.push_structured_event(&event).unwrap();
    }
    let pulled = proxy.pull_structured_event().unwrap();
    assert_eq!(marks(&pulled).0, 4);
    let fields = &pulled.header.variable_header;
    let dropped = fields.iter().find(|it| it.name == "EventsDropped");
    assert_eq!(dropped.unwrap().value.extract::<u64>(), Ok(1));
    let counts = &notified.service.statistics()[0].consumers[0];
    assert_eq!((counts.expired, counts.queued), (1, 0));
    // Its end is the end of its position.
    proxy.disconnect_structured_pull_supplier().unwrap();
    await_acknowledged(&nats, || {});
}

/// Conformance: notification - consumers that pull from a stream - a pull ends before its caller gives it up
#[test]
fn a_pull_that_has_timed_out_takes_no_event() {
    let Some(nats) = nats() else { return };
    let (_connections, notified, orb) = stage(config(&nats));
    let channel = notified.seen_by(&orb);
    let (supplier, proxy) = (supplier(&channel), structured(&channel));
    let hasty = proxy.with_timeout(Duration::from_millis(300));
    let error = hasty.pull_structured_event().unwrap_err();
    assert!(error.to_string().contains("TIMEOUT"), "{error}");
    supplier.push_structured_event(&event(0)).unwrap();
    let (number, _, delivery) = marks(&proxy.pull_structured_event().unwrap());
    assert_eq!((number, delivery), (0, 1));
}

/// Conformance: notification - consumers that pull from a stream - each connection has acknowledged what itself has got
#[test]
fn connections_acknowledge_their_own_events() {
    let Some(nats) = nats() else { return };
    let (_connections, notified, orb) = stage(config(&nats));
    let channel = notified.seen_by(&orb);
    let (supplier, proxy) = (supplier(&channel), structured(&channel));
    for number in 0..4 {
        supplier.push_structured_event(&event(number)).unwrap();
    }
    let other = client();
    let of_other = seen_by(&other, &proxy);
    let pull = |proxy: &StructuredProxyPullSupplier| {
        let (number, _, delivery) = marks(&proxy.pull_structured_event().unwrap());
        (number, delivery > 1)
    };
    assert_eq!(pull(&of_other), (0, false));
    assert_eq!(pull(&proxy), (1, false));
    assert_eq!(pull(&of_other), (2, false));
    assert_eq!(pull(&proxy), (3, false));
    other.shutdown(true).unwrap();
    // It had come back for more after the first one.
    assert_eq!(pull(&proxy), (2, true));
    await_acknowledged(&nats, || drop(proxy.try_pull_structured_event().unwrap()));
}
