// SPDX-License-Identifier: MIT OR Apache-2.0
//! The NATS server and channels are killed while events pass.

use std::thread;

use orbium_event_jetstream::connect_supplier;
use orbium_testkit::eventually;

use crate::stage::{Log, Served, client, config, nats, store};

const EVENTS: u32 = 2000;

/// Conformance: events - persistence by a stream - the NATS server is killed: no event is lost
#[test]
fn no_event_is_lost_when_the_nats_server_is_killed() {
    let Some(nats) = nats() else { return };
    let (served, orb, log) = (Served::new(config(&nats)), client(), Log::default());
    let channel = served.seen_by(&orb);
    let _consumer = log.connect(&orb, &channel, "display");
    let supplier = connect_supplier(&channel).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            (0..EVENTS).for_each(|number| store(&supplier, number));
        });
        for part in 1..=3 {
            eventually("a part arrives", || {
                log.numbers().len() >= (EVENTS / 4 * part) as usize
            });
            nats.kill();
            nats.start_again();
        }
    });
    eventually("all arrive", || log.numbers().len() == EVENTS as usize);
    for (number, deliveries) in log.deliveries() {
        let first = deliveries[0];
        assert!(
            deliveries.iter().all(|it| it.id == first.id),
            "{number}: {deliveries:?}"
        );
    }
}
