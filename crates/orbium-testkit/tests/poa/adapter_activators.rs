// SPDX-License-Identifier: MIT OR Apache-2.0
//! Adapter activators.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

use orbium::{
    Completion, Config, ExceptionKind, Orb, SystemException,
    config::{Limits, ServerStrategy},
    interceptor::{AdapterState, Interceptors, IorInterceptor},
    poa::{AdapterActivator, Lifespan, ManagerState, Poa, PoaError, Policies},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Gate, Served, client, each_strategy, eventually, reach, within};

use crate::fixture::{Record, omg, refused, servant, user};

fn durable() -> Policies {
    Policies {
        lifespan: Lifespan::Persistent,
        ..user()
    }
}

/// Creates every adapter, with one object, and an activator for those below.
#[derive(Clone)]
struct Creating(Record);

impl AdapterActivator for Creating {
    fn unknown_adapter(&self, parent: &Poa, name: &str) -> Result<bool, SystemException> {
        self.0.note(format!("{}/{name}", parent.name()));
        let poa = parent.create_poa(name, Some(parent.manager()), durable())?;
        poa.activate_servant_with_id(b"x", &servant().0)?;
        poa.set_adapter_activator(self.clone())?;
        Ok(true)
    }
}

/// A reference to an object below `a/b` of an ORB that has ended, and its port.
fn early(client: &Orb) -> (Target, u16) {
    let first = Served::new(Default::default());
    let port = first.port();
    let root = first.orb.root_poa();
    let a = root
        .create_poa("a", Some(root.manager()), durable())
        .unwrap();
    let b = a.create_poa("b", Some(root.manager()), durable()).unwrap();
    let target: Target = b.create_reference_with_id(b"x").unwrap();
    let target = reach(client, &first.orb.object_to_string(&target));
    first.end();
    (target, port)
}

fn at(port: u16, config: Config) -> Served {
    Served::with(Config {
        endpoints: vec![format!("iiop://127.0.0.1:{port}").parse().unwrap()],
        ..config
    })
}

/// Conformance: POA - `the_activator`: adapters on the path of a request are created
#[test]
fn a_request_has_the_adapters_on_its_path_created_one_after_the_other() {
    each_strategy(|strategy| {
        let client = client();
        let (target, port) = early(&client);
        let served = at(
            port,
            Config {
                strategy,
                ..Config::default()
            },
        );
        let no_adapter = omg(ExceptionKind::ObjectNotExist, 2);
        assert_eq!(target.noop(), Err(no_adapter));
        let record = Record::default();
        let root = served.orb.root_poa();
        root.set_adapter_activator(Creating(record.clone()))
            .unwrap();
        assert_eq!(target.echo_long(3), Ok(3));
        assert_eq!(target.echo_long(4), Ok(4));
        assert_eq!(record.all(), ["RootPOA/a", "a/b"]);
        // Once it was destroyed it may come back.
        root.find_poa("a").unwrap().destroy(true).unwrap();
        assert_eq!(target.echo_long(5), Ok(5));
        assert_eq!(record.all().len(), 4);
        root.find_poa("a").unwrap().destroy(true).unwrap();
        root.clear_adapter_activator().unwrap();
        assert_eq!(target.noop(), Err(no_adapter));
        served.end();
    });
}

/// Conformance: POA - `find_POA` with activation; AdapterNonExistent, OBJ_ADAPTER 1
#[test]
fn find_poa_creates_what_is_missing_if_it_is_to() {
    let served = Served::new(Default::default());
    let root = served.orb.root_poa();
    let missing = PoaError::AdapterNonExistent;
    assert_eq!(root.find_or_activate_poa("a"), Err(missing));
    let record = Record::default();
    root.set_adapter_activator(Creating(record.clone()))
        .unwrap();
    assert_eq!(root.find_poa("a"), Err(missing));
    let a = root.find_or_activate_poa("a").unwrap();
    assert_eq!(root.find_or_activate_poa("a"), Ok(a.clone()));
    assert_eq!(record.all(), ["RootPOA/a"]);
    a.set_adapter_activator(|parent: &Poa, name: &str| match name {
        "no" => Ok(false),
        // It says so, but there is none.
        "lie" => Ok(true),
        "itself" => match parent.find_or_activate_poa(name) {
            Err(PoaError::AdapterNonExistent) => Ok(false),
            other => panic!("{other:?}"),
        },
        "fail" => Err(SystemException::new(
            ExceptionKind::NoMemory,
            3,
            Completion::No,
        )),
        _ => panic!("an activator"),
    })
    .unwrap();
    for name in ["no", "lie", "itself"] {
        assert_eq!(a.find_or_activate_poa(name), Err(missing), "{name}");
    }
    let failed = PoaError::System(omg(ExceptionKind::ObjAdapter, 1));
    for name in ["fail", "panic", "panic"] {
        assert_eq!(a.find_or_activate_poa(name), Err(failed));
    }
    a.destroy(true).unwrap();
    let gone = refused(a.find_or_activate_poa("no"));
    assert!(matches!(gone, PoaError::System(it) if it.kind == ExceptionKind::ObjectNotExist));
    served.end();
}

/// Conformance: POA - `the_activator`: one that fails: OBJ_ADAPTER 1
#[test]
fn an_adapter_activator_that_fails_has_requests_answered_with_obj_adapter_1() {
    let client = client();
    let (target, port) = early(&client);
    let served = at(port, Config::default());
    let root = served.orb.root_poa();
    let panics = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&panics);
    root.set_adapter_activator(move |_: &Poa, _: &str| -> Result<bool, SystemException> {
        match count.fetch_add(1, Ordering::SeqCst) {
            0 => Err(ExceptionKind::NoMemory.into()),
            _ => panic!("an activator"),
        }
    })
    .unwrap();
    for _ in 0..2 {
        assert_eq!(target.noop(), Err(omg(ExceptionKind::ObjAdapter, 1)));
    }
    assert_eq!(panics.load(Ordering::SeqCst), 2);
    served.end();
}

/// Conformance: POA - `the_activator`: called once for many requests, which wait until it returns
#[test]
fn many_requests_at_once_have_an_adapter_created_once() {
    let first = client();
    let (target, port) = early(&first);
    let text = first.object_to_string(&target);
    let served = at(port, Config::default());
    let root = served.orb.root_poa();
    let (record, gate) = (Record::default(), Arc::<Gate>::default());
    let (create, inside) = (Creating(record.clone()), Arc::clone(&gate));
    root.set_adapter_activator(move |parent: &Poa, name: &str| {
        let created = create.unknown_adapter(parent, name)?;
        // It is there already, but the activator is not done with it.
        inside.pass();
        Ok(created)
    })
    .unwrap();
    let calls: Vec<_> = (0..4)
        .map(|number| {
            let text = text.clone();
            thread::spawn(move || {
                let client = client();
                (reach(&client, &text).echo_long(number), client)
            })
        })
        .collect();
    let finding = {
        let root = root.clone();
        thread::spawn(move || root.find_or_activate_poa("a").map(drop))
    };
    gate.await_waiting(1);
    assert!(calls.iter().all(|call| !call.is_finished()));
    gate.open();
    for (number, call) in calls.into_iter().enumerate() {
        let (echoed, _client) = within("the call", move || call.join().unwrap());
        assert_eq!(echoed, Ok(number as i32));
    }
    within("find_poa", move || finding.join().unwrap()).unwrap();
    assert_eq!(record.all(), ["RootPOA/a", "a/b"]);
    served.end();
}

/// Conformance: POA - `the_activator`: not called while the parent's manager holds, discards or is inactive
#[test]
fn an_adapter_is_not_created_before_the_manager_of_its_parent_serves() {
    let client = client();
    let (target, port) = early(&client);
    let served = at(port, Config::default());
    let root = served.orb.root_poa();
    let record = Record::default();
    root.set_adapter_activator(Creating(record.clone()))
        .unwrap();
    let manager = root.manager();
    manager.discard_requests(true).unwrap();
    assert_eq!(target.noop(), Err(omg(ExceptionKind::Transient, 1)));
    manager.hold_requests(true).unwrap();
    assert_eq!(manager.state(), ManagerState::Holding);
    let held = {
        let target = target.clone();
        thread::spawn(move || target.echo_long(5))
    };
    eventually("the request waits", || manager.held_requests() == 1);
    assert!(record.all().is_empty());
    manager.activate().unwrap();
    assert_eq!(within("the call", move || held.join().unwrap()), Ok(5));
    assert_eq!(record.all().len(), 2);
    root.find_poa("a").unwrap().destroy(true).unwrap();
    manager.deactivate(true).unwrap();
    assert_eq!(target.noop(), Err(omg(ExceptionKind::ObjectNotExist, 4)));
    assert_eq!(record.all().len(), 2);
    served.end();
}

/// Conformance: POA - `destroy` with `wait_for_completion` within `unknown_adapter`: BAD_INV_ORDER 3
#[test]
fn an_adapter_activator_does_not_wait_for_the_end_of_its_adapter() {
    let client = client();
    let (target, port) = early(&client);
    let served = at(port, Config::default());
    let root = served.orb.root_poa();
    let a = root
        .create_poa("a", Some(root.manager()), durable())
        .unwrap();
    let record = Record::default();
    let refusals = record.clone();
    a.set_adapter_activator(move |parent: &Poa, _: &str| {
        let refused = parent.destroy(true).unwrap_err();
        refusals.note(format!("{refused:?}"));
        Ok(false)
    })
    .unwrap();
    let oneself = omg(ExceptionKind::BadInvOrder, 3);
    assert_eq!(target.noop(), Err(omg(ExceptionKind::ObjectNotExist, 2)));
    // By a thread of the program, too.
    let finding = a.clone();
    let found = within("find_poa", move || finding.find_or_activate_poa("b"));
    assert_eq!(refused(found), PoaError::AdapterNonExistent);
    assert_eq!(
        record.all(),
        [(); 2].map(|()| format!("{:?}", PoaError::System(oneself)))
    );
    a.destroy(true).unwrap();
    served.end();
}

/// An adapter that an activator created with a manager of its own held the request, for which the
/// shutdown waited.
///
/// Conformance: POA - shutdown while an adapter activator runs
#[test]
fn an_orb_that_shuts_down_while_an_adapter_activator_runs_ends() {
    each_strategy(|strategy| {
        for shares_manager in [true, false] {
            ends_while_activating(strategy, shares_manager, Interceptors::new(), |_| ());
        }
    });
}

/// Lists the adapters when the state of a manager changes.
struct Listing(Arc<OnceLock<Poa>>);

impl IorInterceptor for Listing {
    fn adapter_manager_state_changed(&self, _: &str, _: AdapterState) {
        let _ = self.0.get().map(|root| root.subtree().count());
    }
}

/// It was called under the lock of the adapters that it lists, and waited for ever.
///
/// Conformance: POA - shutdown while an adapter activator runs
#[test]
fn an_interceptor_lists_adapters_while_an_adapter_activator_of_an_ending_orb_runs() {
    let (listed, mut interceptors) = (Arc::<OnceLock<Poa>>::default(), Interceptors::new());
    interceptors.add_ior(Listing(Arc::clone(&listed))).unwrap();
    let list = |root: &Poa| listed.set(root.clone()).unwrap();
    ends_while_activating(ServerStrategy::default(), false, interceptors, list);
}

fn ends_while_activating(
    strategy: ServerStrategy,
    shares_manager: bool,
    interceptors: Interceptors,
    before: impl Fn(&Poa),
) {
    let client = client();
    let (target, port) = early(&client);
    let limits = Limits {
        hold_time: None,
        ..Limits::default()
    };
    let served = at(
        port,
        Config {
            strategy,
            limits,
            interceptors,
            ..Config::default()
        },
    );
    let gate = Arc::<Gate>::default();
    let inside = Arc::clone(&gate);
    let root = served.orb.root_poa();
    before(&root);
    root.set_adapter_activator(move |parent: &Poa, name: &str| {
        inside.pass();
        let manager = shares_manager.then(|| parent.manager());
        let a = parent.create_poa(name, manager.clone(), durable())?;
        let b = a.create_poa("b", manager, durable())?;
        b.activate_servant_with_id(b"x", &servant().0)?;
        Ok(true)
    })
    .unwrap();
    let call = thread::spawn(move || target.noop());
    gate.await_waiting(1);
    let ending = {
        let orb = served.orb.clone();
        thread::spawn(move || orb.shutdown(true))
    };
    // Before, the request would be served yet.
    eventually("the manager is inactive", || {
        root.manager().state() == ManagerState::Inactive
    });
    gate.open();
    let refused = within("the call", move || call.join().unwrap()).unwrap_err();
    assert_ne!(refused.completed, Completion::Yes);
    within("shutdown", move || ending.join().unwrap()).unwrap();
    // What was created in the meantime has ended with the ORB.
    let created = root.find_poa("a").and_then(|it| it.manager_factory());
    assert!(created.is_err());
}
