// SPDX-License-Identifier: MIT OR Apache-2.0
//! Nothing passes between a channel and its NATS server for a while, without an error.

use std::thread;
use std::time::Duration;

use orbium::ExceptionKind;
use orbium_event_jetstream::{JetStreamConfig, connect_supplier};
use orbium_testkit::eventually;

use crate::relay::Relay;
use crate::stage::{Log, Served, client, config, nats, numbered, store};

const EVENTS: u32 = 600;

/// A channel of that network, with an early exception for suppliers if nothing is stored.
fn through(relay: &Relay, config: JetStreamConfig) -> JetStreamConfig {
    JetStreamConfig {
        servers: relay.url.clone(),
        publish_timeout: Duration::from_millis(600),
        attempt_timeout: Duration::from_millis(200),
        ..config
    }
}

/// Conformance: events - persistence by a stream - a partition between channel and NATS server: TIMEOUT, no event is lost
#[test]
fn no_event_is_lost_in_a_partition() {
    let Some(nats) = nats() else { return };
    let relay = Relay::new(&nats.url());
    let served = Served::new(through(&relay, config(&nats)));
    let (orb, log) = (client(), Log::default());
    let channel = served.seen_by(&orb);
    let _consumer = log.connect(&orb, &channel, "display");
    let supplier = connect_supplier(&channel).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| (0..EVENTS).for_each(|number| store(&supplier, number)));
        for part in 1..=3 {
            eventually("a part arrives", || {
                log.numbers().len() >= (EVENTS / 4 * part) as usize
            });
            let refused = served.channel.statistics().refused;
            relay.cut();
            eventually("the exception of a supplier", || {
                served.channel.statistics().refused > refused
            });
            relay.heal();
        }
    });
    eventually("all arrive", || log.numbers().len() == EVENTS as usize);
    log.assert_stored_once();
}

/// Conformance: events - persistence by a stream - a connection that the network has forgotten is made anew
#[test]
fn a_connection_that_the_network_has_forgotten_is_made_anew() {
    let Some(nats) = nats() else { return };
    let relay = Relay::new(&nats.url());
    let served = Served::new(through(&relay, config(&nats)));
    let (orb, log) = (client(), Log::default());
    let channel = served.seen_by(&orb);
    let _consumer = log.connect(&orb, &channel, "display");
    let supplier = connect_supplier(&channel).unwrap();
    store(&supplier, 1);
    eventually("the first event", || log.numbers() == [1]);
    relay.forget();
    let refused = supplier.push(&[numbered(2)]).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::Timeout);
    // With what the client does by itself this lasts three minutes.
    store(&supplier, 3);
    eventually("the events after it", || log.numbers().ends_with(&[3]));
    log.assert_stored_once();
}
