// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options of `orbium events serve` by which peers connect, suspend their connections and disconnect.

use std::sync::mpsc::{self, Receiver, Sender};

use orbium::{Call, Interface as _, Orb, SystemException, policy::SyncScope};
use orbium_event::rtec::rtec_event_channel_admin::{
    AlreadyConnectedError, AlreadyConnectedOrTypeErrorError, EventChannel, ProxyPushConsumer,
    ProxyPushSupplier, SupplierQos,
};
use orbium_event::rtec::rtec_event_comm::{Event, PushConsumer, PushConsumerServant};
use orbium_event::{ANY, Pattern, new_event};
use orbium_testkit::PATIENCE;

use crate::program::Served;

/// What a consumer sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// An event of that type.
    Event(i32),
    Disconnected,
}

struct Consumer(Sender<Seen>);

impl PushConsumerServant for Consumer {
    fn push(&self, _: &Call<'_>, data: &[Event]) -> Result<(), SystemException> {
        for event in data {
            self.0.send(Seen::Event(event.header.r#type)).unwrap();
        }
        Ok(())
    }

    fn disconnect_push_consumer(&self, _: &Call<'_>) -> Result<(), SystemException> {
        self.0.send(Seen::Disconnected).unwrap();
        Ok(())
    }
}

/// A served channel, with the proxies of a consumer and a supplier.
struct Stage {
    _served: Served,
    orb: Orb,
    consumer: PushConsumer,
    seen: Receiver<Seen>,
    to_consumer: ProxyPushSupplier,
    from_supplier: ProxyPushConsumer,
}

impl Stage {
    /// Connects the consumer to events of all types, and the supplier.
    fn new<'a>(options: impl IntoIterator<Item = &'a str>) -> Self {
        let served = Served::new("events", options);
        let builder = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
        let orb = builder.call_timeout(PATIENCE).build().unwrap();
        orb.root_poa().manager().activate().unwrap();
        let channel: EventChannel = orb.resolve(served.reference()).unwrap();
        let consumers = channel.for_consumers().unwrap().unwrap();
        let suppliers = channel.for_suppliers().unwrap().unwrap();
        let (send, seen) = mpsc::channel();
        let stage = Self {
            _served: served,
            consumer: orb.root_poa().activate(Consumer(send)).unwrap(),
            seen,
            to_consumer: consumers.obtain_push_supplier().unwrap().unwrap(),
            from_supplier: suppliers.obtain_push_consumer().unwrap().unwrap(),
            orb,
        };
        stage.connect_consumer(ANY).unwrap();
        stage.connect_supplier().unwrap();
        stage
    }

    fn connect_consumer(&self, r#type: i32) -> Result<(), AlreadyConnectedOrTypeErrorError> {
        let qos = Pattern::of(r#type, 1).to_qos();
        self.to_consumer
            .connect_push_consumer(Some(&self.consumer), &qos)
    }

    fn connect_supplier(&self) -> Result<(), AlreadyConnectedError> {
        self.from_supplier
            .connect_push_supplier(None, &SupplierQos::default())
    }

    /// Pushes an event, and returns when the channel has it.
    fn push(&self, r#type: i32) {
        let waiting = self.from_supplier.with_sync_scope(SyncScope::WithTarget);
        waiting.push(&[new_event(r#type, 1)]).unwrap();
    }

    #[track_caller]
    fn assert_seen(&self, expected: Seen) {
        assert_eq!(self.seen.recv_timeout(PATIENCE).unwrap(), expected);
    }

    fn end(self) {
        self.orb.shutdown(true).unwrap();
    }
}

/// Conformance: events - reconnection replaces the subscription - `orbium events serve --consumer-reconnect --supplier-reconnect`
#[test]
fn peers_connect_again_if_serve_says_so() {
    let stage = Stage::new(["--consumer-reconnect", "--supplier-reconnect"]);
    stage.push(16);
    stage.assert_seen(Seen::Event(16));
    stage.connect_consumer(17).unwrap();
    stage.connect_supplier().unwrap();
    for r#type in [16, 17] {
        stage.push(r#type);
    }
    stage.assert_seen(Seen::Event(17));
    stage.end();
}

#[test]
fn peers_connect_once_by_default() {
    let stage = Stage::new([]);
    assert!(matches!(
        stage.connect_consumer(17),
        Err(AlreadyConnectedOrTypeErrorError::AlreadyConnected(_))
    ));
    assert!(matches!(
        stage.connect_supplier(),
        Err(AlreadyConnectedError::AlreadyConnected(_))
    ));
    stage.end();
}

#[test]
fn events_wait_for_a_suspended_consumer_if_serve_says_so() {
    for (options, first) in [(&["--suspension", "wait"][..], 16), (&[], 17)] {
        let stage = Stage::new(options.iter().copied());
        stage.to_consumer.suspend_connection().unwrap();
        stage.push(16);
        stage.to_consumer.resume_connection().unwrap();
        stage.push(17);
        for r#type in first..=17 {
            stage.assert_seen(Seen::Event(r#type));
        }
        stage.end();
    }
}

#[test]
fn a_consumer_that_disconnects_is_called_back_if_serve_says_so() {
    let stage = Stage::new(["--disconnect-callbacks"]);
    stage.to_consumer.disconnect_push_supplier().unwrap();
    stage.assert_seen(Seen::Disconnected);
    stage.end();
}
