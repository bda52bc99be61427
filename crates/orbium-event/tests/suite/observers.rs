// SPDX-License-Identifier: MIT OR Apache-2.0
//! Observers: what is subscribed to and published.

use std::sync::mpsc;
use std::time::Duration;

use orbium_event::rtec::rtec_event_channel_admin::ConsumerQos;
use orbium_event::{Channel, ChannelConfig, Pattern, SharedEvent, Sums};
use orbium_testkit::PATIENCE;

fn headers(qos: &ConsumerQos) -> Vec<(i32, i32)> {
    let elements = qos.dependencies.iter().map(|it| &it.event.header);
    elements.map(|it| (it.r#type, it.source)).collect()
}

/// Conformance: events - observers get the sums of subscriptions and publications - a channel
#[test]
fn an_observer_gets_the_sums_at_once_and_after_each_change() {
    let channel = Channel::new(ChannelConfig::default());
    let (send, received) = mpsc::channel();
    let observer = move |sums: &Sums| {
        let _ = send.send(sums.clone());
    };
    let handle = channel.append_observer(observer).unwrap();
    let first: Sums = received.try_recv().unwrap();
    assert_eq!(headers(&first.consumers), [(9, 0)]);
    assert!(first.suppliers.publications.is_empty());

    let sink = |_: &[SharedEvent]| {};
    let pattern = Pattern::Conjunction(vec![
        Pattern::of(17, 2),
        Pattern::Negation(Box::new(Pattern::of(18, 1))),
        Pattern::Interval(Duration::from_secs(60)),
    ]);
    let subscription = channel.subscribe(&pattern, sink).unwrap();
    let update = received.recv_timeout(PATIENCE).unwrap();
    assert_eq!(headers(&update.consumers), [(9, 2), (0, 0), (17, 2)]);
    let supplier = channel.connect_supplier(&[(16, 1), (16, 1)]).unwrap();
    let update = received.recv_timeout(PATIENCE).unwrap();
    let published = &update.suppliers.publications;
    assert_eq!(published.len(), 1);
    assert_eq!(published[0].event.header.r#type, 16);

    drop(subscription);
    let update = received.recv_timeout(PATIENCE).unwrap();
    assert_eq!(headers(&update.consumers), [(9, 0)]);
    assert!(channel.remove_observer(handle));
    assert!(!channel.remove_observer(handle));
    drop(supplier);
    assert!(received.recv().is_err());
}
