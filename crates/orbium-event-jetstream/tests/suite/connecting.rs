// SPDX-License-Identifier: MIT OR Apache-2.0
//! Consumers that connect while the NATS server does not answer.

use std::sync::Arc;
use std::thread::JoinHandle;

use orbium::{Call, ExceptionKind, Interface as _, Orb, SystemException};
use orbium_event::Pattern;
use orbium_event::rtec::orbium_event::{DurableConsumerAdmin, MonitoredChannel};
use orbium_event::rtec::rtec_event_channel_admin::{
    AlreadyConnectedOrTypeErrorError, EventChannel, ProxyPushSupplier,
};
use orbium_event::rtec::rtec_event_comm::{Event, PushConsumer, PushConsumerServant};
use orbium_event_jetstream::{JetStreamConfig, connect_supplier};
use orbium_testkit::{NatsServer, PATIENCE, Relay, eventually, spawn_blocked, within};

use crate::stage::{Log, Served, client, config, nats, numbered};

struct Consumer(Log);

impl PushConsumerServant for Consumer {
    fn push(&self, _: &Call<'_>, data: &[Event]) -> Result<(), SystemException> {
        data.iter().for_each(|it| self.0.add(it));
        Ok(())
    }

    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}

/// A channel of a server that can be made silent, and a consumer that is not connected yet.
struct Silent {
    relay: Relay,
    channel: EventChannel,
    monitored: MonitoredChannel,
    proxy: Arc<ProxyPushSupplier>,
    consumer: PushConsumer,
    log: Log,
    _served: Served,
    client: Orb,
}

type Connected = Result<(), AlreadyConnectedOrTypeErrorError>;

impl Silent {
    fn new(nats: &NatsServer) -> Self {
        let relay = Relay::new(&nats.url());
        let served = Served::new(JetStreamConfig {
            servers: relay.url().to_owned(),
            attempt_timeout: PATIENCE,
            ..config(nats)
        });
        let (orb, log) = (client(), Log::default());
        let channel = served.seen_by(&orb);
        let admin = channel.for_consumers().unwrap().unwrap();
        let admin: DurableConsumerAdmin = admin.as_object().narrow().unwrap();
        let proxy = admin.obtain_durable_push_supplier("display").unwrap();
        orb.root_poa().manager().activate().unwrap();
        let consumer = orb.root_poa().activate(Consumer(log.clone())).unwrap();
        Self {
            monitored: channel.as_object().narrow().unwrap(),
            relay,
            channel,
            proxy: Arc::new(proxy.unwrap()),
            consumer,
            log,
            _served: served,
            client: orb,
        }
    }

    /// Connects the consumer, and returns when the server has been asked for it.
    fn connect(&self) -> JoinHandle<Connected> {
        let (proxy, consumer) = (Arc::clone(&self.proxy), self.consumer.clone());
        let connecting = spawn_blocked(move || {
            let subscription = Pattern::of(16, 0).to_qos();
            proxy.connect_push_consumer(Some(&consumer), &subscription)
        });
        eventually("the question for the server", || self.relay.holds_bytes());
        connecting
    }

    fn consumers(&self) -> usize {
        let monitored = self.monitored.clone();
        within("the state", move || {
            monitored.state().unwrap().consumers.len()
        })
    }
}

/// The state, observers and the end of the channel waited for the server, too: a lock was held while it was asked.
#[test]
fn the_state_of_a_channel_does_not_wait_for_a_consumer_that_connects() {
    let Some(nats) = nats() else { return };
    let silent = Silent::new(&nats);
    silent.relay.cut();
    let connecting = silent.connect();
    assert_eq!(silent.consumers(), 0);
    silent.relay.heal();
    within("the connection", || connecting.join().unwrap().unwrap());
    assert_eq!(silent.consumers(), 1);
    let supplier = connect_supplier(&silent.channel).unwrap();
    supplier.push(&[numbered(1)]).unwrap();
    eventually("the event", || silent.log.numbers() == [1]);
}

/// The second call and the end waited for the first one; then the second one connected a proxy that had ended, or waited for
/// itself.
#[test]
fn a_proxy_that_ends_while_its_consumer_connects_stays_ended() {
    let Some(nats) = nats() else { return };
    let silent = Silent::new(&nats);
    silent.relay.cut();
    let connecting = silent.connect();
    let (proxy, consumer) = (Arc::clone(&silent.proxy), silent.consumer.clone());
    let again = within("the second call", move || {
        let subscription = Pattern::of(16, 0).to_qos();
        proxy.connect_push_consumer(Some(&consumer), &subscription)
    });
    assert!(matches!(
        again,
        Err(AlreadyConnectedOrTypeErrorError::AlreadyConnected(_))
    ));
    let proxy = Arc::clone(&silent.proxy);
    within("the end", move || proxy.disconnect_push_supplier().unwrap());
    silent.relay.heal();
    match within("the first call", || connecting.join().unwrap()) {
        Err(AlreadyConnectedOrTypeErrorError::System(exception)) => {
            assert_eq!(exception.kind, ExceptionKind::ObjectNotExist);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(silent.consumers(), 0);
    // The name is free.
    let _next = silent
        .log
        .connect(&silent.client, &silent.channel, "display");
    assert_eq!(silent.consumers(), 1);
}
