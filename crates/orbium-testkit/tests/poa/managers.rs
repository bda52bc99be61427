// SPDX-License-Identifier: MIT OR Apache-2.0
//! POA managers by their ids, and ids of adapters.

use std::thread;

use orbium::{
    Config, ExceptionKind, Orb, SystemException,
    config::{ClientStrategy, Limits},
    poa::{Lifespan, ManagerAlreadyExists, ManagerState, PoaError, PoaManager, Policies},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, each_strategy, eventually, within};

use crate::fixture::{child, omg, user};

/// Conformance: POA - `POAManagerFactory`: `create_POAManager`, `find`, `list`, `get_id`
#[test]
fn managers_have_ids_by_which_the_factory_finds_them() {
    let served = Served::new(Default::default());
    let root = served.orb.root_poa();
    let factory = root.manager_factory().unwrap();
    assert_eq!(root.manager().id(), "RootPOAManager");
    assert_eq!(factory.find("RootPOAManager"), Some(root.manager()));
    let named = factory.create("devices").unwrap();
    assert_eq!(
        (named.id(), named.state()),
        ("devices", ManagerState::Holding)
    );
    assert_eq!(factory.create("devices"), Err(ManagerAlreadyExists));
    assert_eq!(factory.find("devices"), Some(named.clone()));
    assert_eq!(factory.find("others"), None);
    let unnamed = [(); 2].map(|()| factory.create("").unwrap());
    assert_ne!(unnamed[0].id(), unnamed[1].id());
    // Those of adapters made without one, too.
    let own = root.create_poa("own", None, user()).unwrap();
    assert_eq!(factory.find(own.manager().id()), Some(own.manager()));
    assert_eq!(factory.list().len(), 5);
    // An inactive one has its id as long as it exists.
    let poa = root
        .create_poa("devices", Some(named.clone()), user())
        .unwrap();
    named.deactivate(true).unwrap();
    drop(named);
    assert_eq!(factory.create("devices"), Err(ManagerAlreadyExists));
    poa.destroy(true).unwrap();
    drop(poa);
    assert_eq!(factory.create("devices").unwrap().id(), "devices");
    served.end();
}

/// Conformance: POA - `id` of an adapter
#[test]
fn an_adapter_has_an_id_which_is_that_of_the_next_process_if_it_is_persistent() {
    let durable = Policies {
        lifespan: Lifespan::Persistent,
        ..user()
    };
    let ids = [(); 2].map(|()| {
        let served = Served::with(Config::default());
        let poa = child(&served, "a", durable.clone());
        let below = child(&served, "b", durable.clone());
        assert_ne!(poa.id(), below.id());
        let passing = child(&served, "c", user());
        let id = passing.id();
        assert_eq!(passing.id(), id);
        passing.destroy(true).unwrap();
        assert_ne!(child(&served, "c", user()).id(), id);
        let _target: Target = poa.create_reference_with_id(b"x").unwrap();
        let id = poa.id();
        served.end();
        id
    });
    assert_eq!(ids[0], ids[1]);
}

/// A change of a manager.
type Change = fn(&PoaManager) -> Result<(), PoaError>;

/// Conformance: POA - waiting for completion ends when another thread changes the manager
#[test]
fn a_wait_for_completion_ends_when_another_thread_changes_the_manager() {
    let changes: [Change; 3] = [
        PoaManager::activate,
        |manager| manager.discard_requests(false),
        |manager| manager.deactivate(false),
    ];
    for change in changes {
        let served = Served::new(Default::default());
        let (_client, target) = served.client();
        let manager = served.orb.root_poa().manager();
        let call = thread::spawn(move || target.gate());
        served.state.gate.await_waiting(1);
        let waiting = {
            let manager = manager.clone();
            thread::spawn(move || manager.hold_requests(true))
        };
        eventually("the manager holds", || {
            manager.state() == ManagerState::Holding
        });
        change(&manager).unwrap();
        let held = within("hold_requests", move || waiting.join().unwrap());
        assert_eq!(held, Ok(()));
        assert_eq!(served.state.gate.waiting(), 1);
        served.state.gate.open();
        within("the call", move || call.join().unwrap()).unwrap();
        served.end();
    }
}

/// Requests that an inactive manager refuses counted as held: beyond the bound they were TRANSIENT, and clients tried
/// again for ever.
#[test]
fn an_inactive_manager_denies_objects_whatever_the_bound_of_held_requests_is() {
    let served = Served::with(Config {
        limits: Limits {
            held_requests: 0,
            ..Limits::default()
        },
        ..Config::default()
    });
    let (_client, target) = served.client();
    let manager = served.orb.root_poa().manager();
    manager.hold_requests(false).unwrap();
    assert_eq!(target.noop(), Err(omg(ExceptionKind::Transient, 1)));
    manager.deactivate(false).unwrap();
    assert_eq!(target.noop(), Err(omg(ExceptionKind::ObjectNotExist, 4)));
    served.end();
}

/// Waits for the end of the requests of an ORB.
type Wait = fn(&Orb) -> Result<(), SystemException>;

/// A thread that waits for another ORB kept its connection, or its reactor: calls over that were not served, of which
/// the other ORB's own requests may be waiting for one.
#[test]
fn a_request_that_waits_for_another_orb_does_not_keep_others_from_being_served() {
    let waits: [Wait; 3] = [
        |orb| Ok(orb.root_poa().manager().hold_requests(true)?),
        |orb| Ok(orb.root_poa().destroy(true)?),
        |orb| orb.shutdown(true),
    ];
    each_strategy(|strategy| {
        for wait in waits {
            let (served, other) = (Served::new(strategy), Served::new(strategy));
            let (_caller, busy) = other.client();
            let call = thread::spawn(move || busy.gate());
            other.state.gate.await_waiting(1);
            let orb = other.orb.clone();
            served.state.on_act(move |_, v| {
                wait(&orb)?;
                Ok(v)
            });
            // Over one connection.
            let client = Orb::new(Config {
                client_strategy: ClientStrategy::LeaderFollowers,
                ..Config::default()
            });
            let target = served.seen_by(&client.unwrap());
            let waiting = target.clone();
            let waiting = thread::spawn(move || waiting.act(1));
            eventually("the request runs", || served.state.calls() == 1);
            assert_eq!(within("another call", move || target.echo_long(5)), Ok(5));
            other.state.gate.open();
            within("the call", move || call.join().unwrap()).unwrap();
            assert_eq!(within("the wait", move || waiting.join().unwrap()), Ok(1));
            other.end();
            served.end();
        }
    });
}
