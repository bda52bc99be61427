// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections while the channel is destroyed, and pings without the thread that waits for their
//! times.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use orbium::lock::Mutex;
use orbium_testkit::{PATIENCE, eventually, spawn_blocked};

use crate::delivery::consumer::{Consumer, Service};
use crate::delivery::health::{DeliveryError, FailurePolicy};
use crate::engine::Engine;
use crate::peer::{Connection, Peer, Sink};
use crate::selection::ConsumerOptions;
use crate::{Channel, ChannelConfig, Pattern, SharedEvent, Sums};

fn add(engine: &Engine, peer: Arc<dyn Sink>) -> Arc<Consumer> {
    let connection = Connection {
        peer,
        is_gateway: false,
        on_end: Box::new(|| {}),
    };
    let subscribed = (Pattern::Null, ConsumerOptions::default());
    let added = engine.add_consumer(subscribed, Service::Pushed(None), connection);
    added.unwrap()
}

/// Regression: it stayed connected for ever.
#[test]
fn a_consumer_that_connects_while_the_channel_is_destroyed_is_disconnected() {
    let channel = Channel::new(ChannelConfig::default());
    let [adding, destroying] = [&channel, &channel].map(|it| Arc::clone(&it.engine));
    // The consumer is permitted, and not connected yet.
    let ends = channel.engine.ends.lock();
    let adding = spawn_blocked(move || add(&adding, Arc::new(|_: &[SharedEvent]| {})));
    let destroying = spawn_blocked(move || destroying.destroy());
    assert!(channel.engine.is_destroyed());
    drop(ends);
    destroying.join().unwrap();
    assert!(adding.join().unwrap().is_closed());
    assert!(channel.engine.consumers.load().is_empty());
}

/// A consumer that counts its pings.
struct Pinged(AtomicU32, Result<(), DeliveryError>);

impl Peer for Pinged {
    fn ping(&self) -> Result<(), DeliveryError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        self.1
    }
}

impl Sink for Pinged {
    fn push(&self, _: &[SharedEvent]) -> Result<(), DeliveryError> {
        self.1
    }
}

/// Regression: while one was suspect, every peer was pinged each second.
#[test]
fn a_suspect_consumer_is_pinged_more_often_than_others() {
    let channel = Channel::new(ChannelConfig {
        failure: FailurePolicy::NEVER,
        ..ChannelConfig::default()
    });
    let failed = Err(DeliveryError::Failed);
    let [well, suspect] = [Ok(()), failed].map(|it| Arc::new(Pinged(AtomicU32::new(0), it)));
    add(&channel.engine, Arc::clone(&well) as _);
    add(&channel.engine, Arc::clone(&suspect) as _).checked(failed);
    let pings = || [&well, &suspect].map(|it| it.0.load(Ordering::Relaxed));
    let period = Duration::from_secs(3600);
    let ping = |period, all_due: &mut Option<Instant>| {
        Engine::ping(&channel.engine, period, all_due);
        eventually("the end of the pings", || channel.engine.pings.are_over());
    };
    let mut all_due = Some(Instant::now() + period);
    for _ in 0..3 {
        ping(Some(period), &mut all_due);
    }
    assert_eq!(pings(), [0, 3]);
    all_due = Some(Instant::now());
    for _ in 0..3 {
        ping(Some(period), &mut all_due);
    }
    assert_eq!(pings(), [1, 6]);
    ping(None, &mut None);
    assert_eq!(pings(), [1, 7]);
}

/// A peer that answers a ping once the lock is free.
struct Silent(Arc<Mutex<()>>);

impl Peer for Silent {
    fn ping(&self) -> Result<(), DeliveryError> {
        drop(self.0.lock());
        Err(DeliveryError::Failed)
    }
}

impl Sink for Silent {
    fn push(&self, _: &[SharedEvent]) -> Result<(), DeliveryError> {
        Ok(())
    }
}

/// Regression: peers were pinged one after the other, by the thread that notifies observers. Each
/// silent one delayed all others by its time-out.
#[test]
fn silent_peers_delay_no_pings_of_others_and_no_observers() {
    let channel = Channel::new(ChannelConfig {
        ping_period: Some(Duration::from_millis(1)),
        ..ChannelConfig::default()
    });
    let silence = Arc::new(Mutex::new(()));
    let silent = silence.lock();
    let (mut consumers, mut suppliers) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        let peer = Silent(Arc::clone(&silence));
        consumers.push(channel.subscribe(&Pattern::Null, peer).unwrap());
        let peer = Connection {
            peer: Arc::new(Silent(Arc::clone(&silence))) as Arc<dyn Peer>,
            is_gateway: false,
            on_end: Box::new(|| {}),
        };
        suppliers.push(channel.connect_publisher(Vec::new(), peer).unwrap());
    }
    let gone = Pinged(AtomicU32::new(0), Err(DeliveryError::Gone));
    let gone = channel.subscribe(&Pattern::Null, gone).unwrap();
    eventually("the end of a consumer", || {
        channel.statistics().dropped_consumers == 1
    });
    let (updates, observed) = mpsc::channel();
    let observer = move |_: &Sums| {
        let _ = updates.send(());
    };
    channel.append_observer(observer).unwrap();
    observed.recv_timeout(PATIENCE).unwrap();
    drop(channel.connect_supplier(&[(16, 1)]).unwrap());
    observed.recv_timeout(PATIENCE).unwrap();
    drop(silent);
    drop((consumers, suppliers, gone));
}
