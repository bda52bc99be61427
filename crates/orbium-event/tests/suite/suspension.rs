// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers of other processes that suspend their connection.

use std::sync::mpsc;

use orbium_event::{ChannelConfig, Pattern, QueueLimits, Suspension, connect_consumer, new_event};
use orbium_testkit::PATIENCE;

use crate::served::Served;

/// Conformance: events - events wait for suspended consumers, on request - a served channel
#[test]
fn events_wait_for_a_suspended_consumer_if_the_channel_says_so() {
    let served = Served::new(ChannelConfig {
        suspension: Suspension::Wait,
        queue: QueueLimits {
            sets: 2,
            ..QueueLimits::default()
        },
        ..ChannelConfig::default()
    });
    let (send, received) = mpsc::channel();
    let consumer = connect_consumer(
        &served.orb,
        &served.channel,
        &Pattern::Null,
        move |events| {
            let sources = events.iter().map(|it| it.header.source);
            sources.for_each(|it| send.send(it).unwrap_or_default());
        },
    );
    let consumer = consumer.unwrap();
    let supplier = served.local.connect_supplier(&[]).unwrap();
    consumer.suspend().unwrap();
    for source in 1..4 {
        supplier.push(&[new_event(16, source)]);
    }
    let counts = served.local.statistics().consumers[0];
    assert_eq!(
        (counts.queued, counts.discarded, counts.suspended),
        (2, 1, 0)
    );
    assert!(counts.is_suspended && received.try_recv().is_err());
    consumer.resume().unwrap();
    let next = || received.recv_timeout(PATIENCE).unwrap();
    assert_eq!([next(), next()], [2, 3]);
    supplier.push(&[new_event(16, 4)]);
    assert_eq!(next(), 4);
    assert!(!served.local.statistics().consumers[0].is_suspended);
}
