// SPDX-License-Identifier: MIT OR Apache-2.0
//! COS suppliers from which a channel pulls.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use orbium::{Any, Call, ExceptionKind, Interface, SystemException};
use orbium_event::cos_event::cos_event_channel_admin::{
    AlreadyConnectedOrTypeErrorError, EventChannel, ProxyPullConsumer, SupplierAdmin,
};
use orbium_event::cos_event::cos_event_comm::{
    Disconnected, DisconnectedError, PullSupplier, PullSupplierServant, PullSupplierTryPullResults,
};
use orbium_event::{ChannelConfig, CosHeader, Pattern, SharedEvent, Subscription};
use orbium_testkit::{PATIENCE, eventually};

use crate::served::{Served, patient};

const HEADER: CosHeader = CosHeader {
    r#type: 20,
    source: 3,
};

/// What a supplier does when it is pulled from.
enum Behaviour {
    Supplies,
    /// Each call waits until the sender is dropped.
    Stalls(Mutex<Receiver<()>>),
    /// Raises Disconnected.
    HasLeft,
    Raises(ExceptionKind),
}

/// A supplier with events, that reports its disconnection.
pub(crate) struct Supplier {
    events: Mutex<VecDeque<Any>>,
    behaviour: Behaviour,
    disconnected: Sender<()>,
}

impl Supplier {
    fn new(behaviour: Behaviour) -> (Arc<Self>, Receiver<()>) {
        let (disconnected, reported) = mpsc::channel();
        let supplier = Self {
            events: Mutex::default(),
            behaviour,
            disconnected,
        };
        (Arc::new(supplier), reported)
    }

    /// One that has the numbers from 0.
    pub(crate) fn of_numbers(count: i32) -> (Arc<Self>, Receiver<()>) {
        let (supplier, reported) = Self::new(Behaviour::Supplies);
        supplier.add(0..count);
        (supplier, reported)
    }

    fn add(&self, numbers: impl Iterator<Item = i32>) {
        self.events.lock().unwrap().extend(numbers.map(Any::from));
    }
}

impl PullSupplierServant for Supplier {
    fn pull(&self, call: &Call<'_>) -> Result<Any, DisconnectedError> {
        let tried = self.try_pull(call)?;
        if tried.has_event {
            Ok(tried.result)
        } else {
            Err(SystemException::from(ExceptionKind::Timeout).into())
        }
    }

    fn try_pull(&self, _: &Call<'_>) -> Result<PullSupplierTryPullResults, DisconnectedError> {
        match &self.behaviour {
            Behaviour::Supplies => {}
            Behaviour::Stalls(released) => drop(released.lock().unwrap().recv()),
            Behaviour::HasLeft => return Err(Disconnected {}.into()),
            Behaviour::Raises(kind) => return Err(SystemException::from(*kind).into()),
        }
        let event = self.events.lock().unwrap().pop_front();
        Ok(PullSupplierTryPullResults {
            has_event: event.is_some(),
            result: event.unwrap_or_default(),
        })
    }

    fn disconnect_pull_supplier(&self, _: &Call<'_>) -> Result<(), SystemException> {
        let _ = self.disconnected.send(());
        Ok(())
    }
}

/// The admin of suppliers of a COS channel, as another process has it.
pub(crate) fn supplier_admin(served: &Served) -> SupplierAdmin {
    let channel = served.local.serve_cos(&served.server, "Cos", HEADER);
    let text = served.server.object_to_string(&channel.unwrap());
    let channel: EventChannel = served.orb.resolve(&text).unwrap();
    channel.for_suppliers().unwrap().unwrap()
}

fn activated(served: &Served, supplier: &Arc<Supplier>) -> PullSupplier {
    let root = served.orb.root_poa();
    root.activate(Arc::clone(supplier)).unwrap()
}

/// Connects a supplier to a proxy of its own.
fn connected(
    served: &Served,
    admin: &SupplierAdmin,
    supplier: &Arc<Supplier>,
) -> ProxyPullConsumer {
    let proxy = admin.obtain_pull_consumer().unwrap().unwrap();
    let supplier = activated(served, supplier);
    proxy.connect_pull_supplier(Some(&supplier)).unwrap();
    proxy
}

/// The numbers that a consumer of the real-time channel gets.
pub(crate) fn numbers(served: &Served) -> (Subscription, Receiver<i32>) {
    let (send, seen) = mpsc::channel();
    let sink = move |events: &[SharedEvent]| {
        for event in events {
            let _ = send.send(event.data.any_value.extract::<i32>().unwrap());
        }
    };
    let pattern = Pattern::of(HEADER.r#type, HEADER.source);
    (served.local.subscribe(&pattern, sink).unwrap(), seen)
}

fn is_gone(proxy: &ProxyPullConsumer) -> bool {
    proxy.as_object().non_existent().unwrap()
}

/// Conformance: events - COS Event: suppliers that the channel pulls from - in order, whenever they have events
#[test]
fn a_supplier_is_pulled_from_until_it_is_disconnected() {
    let served = Served::new(patient());
    let admin = supplier_admin(&served);
    let (_subscription, seen) = numbers(&served);
    let (supplier, disconnected) = Supplier::of_numbers(50);
    let proxy = connected(&served, &admin, &supplier);
    let next = || seen.recv_timeout(PATIENCE).unwrap();
    assert_eq!(
        (0..50).map(|_| next()).collect::<Vec<_>>(),
        (0..50).collect::<Vec<_>>()
    );
    // It had no event for a time.
    supplier.add(50..60);
    assert_eq!(
        (50..60).map(|_| next()).collect::<Vec<_>>(),
        (50..60).collect::<Vec<_>>()
    );
    assert_eq!(served.local.statistics().suppliers, 1);

    proxy.disconnect_pull_consumer().unwrap();
    disconnected.recv_timeout(PATIENCE).unwrap();
    assert!(is_gone(&proxy));
    assert_eq!(served.local.statistics().suppliers, 0);
}

/// Conformance: events - COS Event: suppliers that the channel pulls from - nil, second connection, limit, destroyed channel
#[test]
fn connections_of_pull_suppliers_are_checked_and_bounded() {
    let served = Served::new(ChannelConfig {
        suppliers: 2,
        ..patient()
    });
    let admin = supplier_admin(&served);
    let (supplier, disconnected) = Supplier::of_numbers(0);
    let proxy = admin.obtain_pull_consumer().unwrap().unwrap();
    let nil = proxy.connect_pull_supplier(None).unwrap_err();
    assert!(
        matches!(nil, AlreadyConnectedOrTypeErrorError::System(it) if it.kind == ExceptionKind::BadParam)
    );
    let reference = activated(&served, &supplier);
    proxy.connect_pull_supplier(Some(&reference)).unwrap();
    let again = proxy.connect_pull_supplier(Some(&reference)).unwrap_err();
    assert!(matches!(
        again,
        AlreadyConnectedOrTypeErrorError::AlreadyConnected(_)
    ));
    let _pushing = admin.obtain_push_consumer().unwrap().unwrap();
    let third = admin.obtain_pull_consumer().unwrap_err();
    assert_eq!(third.kind, ExceptionKind::ImpLimit);

    served.local.destroy();
    disconnected.recv_timeout(PATIENCE).unwrap();
    eventually("the proxy ends", || is_gone(&proxy));
}

/// Conformance: events - COS Event: suppliers that the channel pulls from - disconnected when they stall
#[test]
fn a_supplier_that_stalls_is_disconnected() {
    let served = Served::new(ChannelConfig {
        ping_timeout: Duration::from_millis(100),
        ..ChannelConfig::default()
    });
    let admin = supplier_admin(&served);
    let (release, released) = mpsc::channel();
    let (stalling, _) = Supplier::new(Behaviour::Stalls(Mutex::new(released)));
    let proxy = connected(&served, &admin, &stalling);
    eventually("it is disconnected", || is_gone(&proxy));
    assert_eq!(served.local.statistics().suppliers, 0);
    drop(release);
}

/// Conformance: events - COS Event: suppliers that the channel pulls from - disconnected when they raise exceptions, have left or are gone
#[test]
fn suppliers_that_fail_are_disconnected_and_others_are_not() {
    let served = Served::new(patient());
    let admin = supplier_admin(&served);
    let (_subscription, seen) = numbers(&served);
    let (well, _disconnected) = Supplier::of_numbers(1);
    let _proxy = connected(&served, &admin, &well);
    let behaviours = [
        Behaviour::HasLeft,
        Behaviour::Raises(ExceptionKind::Internal),
        Behaviour::Raises(ExceptionKind::ObjectNotExist),
    ];
    for behaviour in behaviours {
        let (failing, _) = Supplier::new(behaviour);
        let proxy = connected(&served, &admin, &failing);
        eventually("it is disconnected", || is_gone(&proxy));
    }
    let (gone, _) = Supplier::of_numbers(0);
    let proxy = admin.obtain_pull_consumer().unwrap().unwrap();
    let reference = activated(&served, &gone);
    proxy.connect_pull_supplier(Some(&reference)).unwrap();
    let root = served.orb.root_poa();
    let id = root.reference_to_id(reference.as_object()).unwrap();
    root.deactivate(&id).unwrap();
    eventually("it is disconnected", || is_gone(&proxy));
    assert_eq!(served.local.statistics().suppliers, 1);

    well.add(1..3);
    let pulled: Vec<_> = (0..3).map(|_| seen.recv_timeout(PATIENCE)).collect();
    assert_eq!(pulled, [Ok(0), Ok(1), Ok(2)]);
}
