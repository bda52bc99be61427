// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nothing passes between a channel and its NATS server for a while, without an error.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use orbium::{ExceptionKind, Orb};
use orbium_event_jetstream::{
    JetStreamConfig, PersistentConsumer, PersistentSupplier, connect_supplier,
};
use orbium_testkit::{NatsServer, PATIENCE, Relay, eventually, within};

use crate::stage::{Log, Served, client, config, nats, numbered, store};

/// Events between two partitions.
const PART: usize = 150;
const MAX_EVENTS: u32 = 50_000;

/// A channel that reaches its server through a relay, a supplier, and a consumer of what it pushes.
struct Divided {
    relay: Relay,
    served: Served,
    supplier: PersistentSupplier,
    log: Log,
    _consumer: PersistentConsumer,
    _client: Orb,
}

impl Divided {
    /// Its suppliers get an early exception if nothing is stored.
    fn new(nats: &NatsServer) -> Self {
        let relay = Relay::new(&nats.url());
        let served = Served::new(JetStreamConfig {
            servers: relay.url().to_owned(),
            publish_timeout: Duration::from_millis(600),
            attempt_timeout: Duration::from_millis(200),
            ..config(nats)
        });
        let (orb, log) = (client(), Log::default());
        let channel = served.seen_by(&orb);
        Self {
            supplier: connect_supplier(&channel).unwrap(),
            _consumer: log.connect(&orb, &channel, "display"),
            relay,
            served,
            log,
            _client: orb,
        }
    }
}

/// Conformance: events - persistence by a stream - a partition between channel and NATS server: TIMEOUT, no event is lost
#[test]
fn no_event_is_lost_in_a_partition() {
    let Some(nats) = nats() else { return };
    let divided = Divided::new(&nats);
    let (is_over, stored) = (AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        // However far the consumer is behind, each partition meets a push.
        scope.spawn(|| {
            let mut numbers = 0..MAX_EVENTS;
            while let Some(number) = numbers.next().filter(|_| !is_over.load(Ordering::Acquire)) {
                store(&divided.supplier, number);
                stored.store(number + 1, Ordering::Release);
            }
        });
        for part in 1..=3 {
            eventually("a part arrives", || {
                divided.log.numbers().len() >= PART * part
            });
            let refused = divided.served.channel.statistics().refused;
            divided.relay.cut();
            eventually("the exception of a supplier", || {
                divided.served.channel.statistics().refused > refused
            });
            divided.relay.heal();
        }
        is_over.store(true, Ordering::Release);
    });
    eventually("all arrive", || {
        divided.log.numbers().len() == stored.load(Ordering::Acquire) as usize
    });
    divided.log.assert_stored_once();
}

/// Conformance: events - persistence by a stream - a connection that the network has forgotten is made anew
#[test]
fn a_connection_that_the_network_has_forgotten_is_made_anew() {
    let Some(nats) = nats() else { return };
    let divided = Divided::new(&nats);
    store(&divided.supplier, 1);
    eventually("the first event", || divided.log.numbers() == [1]);
    divided.relay.forget();
    let refused = divided.supplier.push(&[numbered(2)]).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::Timeout);
    // With what the client does by itself this lasts three minutes.
    store(&divided.supplier, 3);
    eventually("the events after it", || {
        divided.log.numbers().ends_with(&[3])
    });
    divided.log.assert_stored_once();
}

/// Conformance: events - persistence by a stream - a connection that ends: an event without acknowledgement is published again at once
#[test]
fn an_event_without_acknowledgement_is_published_again_when_its_connection_ends() {
    let Some(nats) = nats() else { return };
    let relay = Relay::new(&nats.url());
    let never = 10 * PATIENCE;
    let served = Served::new(JetStreamConfig {
        servers: relay.url().to_owned(),
        publish_timeout: never,
        attempt_timeout: never,
        ..config(&nats)
    });
    let (orb, log) = (client(), Log::default());
    let channel = served.seen_by(&orb);
    let supplier = connect_supplier(&channel).unwrap();
    relay.cut();
    let pushed = thread::spawn(move || supplier.push(&[numbered(1)]));
    eventually("the event is sent", || relay.holds_bytes());
    nats.kill();
    relay.heal();
    nats.start_again();
    within("the push", || pushed.join().unwrap().unwrap());
    let _consumer = log.connect(&orb, &channel, "display");
    eventually("the event", || log.numbers() == [1]);
    log.assert_stored_once();
}
