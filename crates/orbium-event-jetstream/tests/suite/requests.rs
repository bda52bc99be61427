// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests of a channel for events: what the server sends while a push is slow, and while a request ends.

use std::sync::{Mutex, mpsc};
use std::time::Duration;

use orbium_event_jetstream::{JetStreamConfig, connect_supplier};
use orbium_testkit::{NatsServer, PATIENCE, eventually};

use crate::stage::{Log, Served, client, config, connect, nats, numbered};

/// Longer than the server may be silent.
const SLOW: Duration = Duration::from_secs(3);

/// An event that the server has sent, and the channel not received, would come too late.
fn patient(nats: &NatsServer) -> JetStreamConfig {
    JetStreamConfig {
        ack_wait: PATIENCE * 2,
        push_timeout: PATIENCE,
        ..config(nats)
    }
}

/// The channel took the server for dead after a push of two seconds, before it looked at what it had received: all of that was
/// delivered again after the time of an acknowledgement.
#[test]
fn events_that_arrive_while_a_push_is_slow_are_delivered_after_it() {
    let Some(nats) = nats() else { return };
    let (served, orb, log) = (Served::new(patient(&nats)), client(), Log::default());
    let channel = served.seen_by(&orb);
    let (begin, begun) = mpsc::channel();
    let (_never, held) = mpsc::channel::<()>();
    let (begin, held, delivered) = (Mutex::new(begin), Mutex::new(held), log.clone());
    let _consumer = connect(&orb, &channel, "display", move |event| {
        if event.data.pad1 == 2 {
            let _ = begin.lock().unwrap().send(());
            let _ = held.lock().unwrap().recv_timeout(SLOW);
        }
        delivered.add(event);
        Ok(())
    });
    let supplier = connect_supplier(&channel).unwrap();
    // Quick ones: the sets that follow have more than one event.
    for number in 0..2 {
        supplier.push(&[numbered(number)]).unwrap();
        eventually("a quick event", || log.numbers().len() > number as usize);
    }
    supplier.push(&[numbered(2)]).unwrap();
    begun.recv_timeout(PATIENCE).unwrap();
    let behind: Vec<_> = (3..13).map(numbered).collect();
    supplier.push(&behind).unwrap();
    eventually("all arrive", || log.numbers().len() == 13);
    let deliveries = log.deliveries();
    let is_first = |it: &Vec<orbium_event_jetstream::Delivery>| it.len() == 1 && it[0].number == 1;
    assert!(deliveries.values().all(is_first), "{deliveries:?}");
}

/// Events that the server had sent, and that were not received when a consumer was suspended, were dropped: they came again after
/// the time of an acknowledgement.
#[test]
fn no_event_is_dropped_when_a_consumer_is_suspended() {
    const ROUNDS: u32 = 20;
    const EVENTS: u32 = 20;
    let Some(nats) = nats() else { return };
    let (served, orb, log) = (Served::new(patient(&nats)), client(), Log::default());
    let channel = served.seen_by(&orb);
    let consumer = log.connect(&orb, &channel, "display");
    let supplier = connect_supplier(&channel).unwrap();
    for round in 0..ROUNDS {
        let events = EVENTS * round..EVENTS * (round + 1);
        let events: Vec<_> = events.map(numbered).collect();
        supplier.push(&events).unwrap();
        consumer.suspend().unwrap();
        consumer.resume().unwrap();
    }
    eventually("all arrive", || {
        log.numbers().len() == (ROUNDS * EVENTS) as usize
    });
    log.assert_stored_once();
}
