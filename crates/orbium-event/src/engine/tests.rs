// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections while the channel is destroyed.

use std::sync::Arc;

use orbium_testkit::spawn_blocked;

use crate::delivery::consumer::Service;
use crate::peer::{Connection, Sink};
use crate::selection::ConsumerOptions;
use crate::{Channel, ChannelConfig, Pattern, SharedEvent};

/// Regression: it stayed connected for ever.
#[test]
fn a_consumer_that_connects_while_the_channel_is_destroyed_is_disconnected() {
    let channel = Channel::new(ChannelConfig::default());
    let [adding, destroying] = [&channel, &channel].map(|it| Arc::clone(&it.engine));
    // The consumer is permitted, and not connected yet.
    let ends = channel.engine.ends.lock();
    let adding = spawn_blocked(move || {
        let sink: Arc<dyn Sink> = Arc::new(|_: &[SharedEvent]| {});
        let connection = Connection {
            peer: sink,
            is_gateway: false,
            on_end: Box::new(|| {}),
        };
        let subscribed = (Pattern::Null, ConsumerOptions::default());
        adding.add_consumer(subscribed, Service::Pushed(None), connection)
    });
    let destroying = spawn_blocked(move || destroying.destroy());
    assert!(channel.engine.is_destroyed());
    drop(ends);
    destroying.join().unwrap();
    assert!(adding.join().unwrap().unwrap().is_closed());
    assert!(channel.engine.consumers.load().is_empty());
}
