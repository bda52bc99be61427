// SPDX-License-Identifier: MIT OR Apache-2.0
//! Adapters, their managers, and the life of objects.

use std::sync::Arc;
use std::thread;

use orbium::codegen::{Servant, ServedBy};
use orbium::giop::SystemException;
use orbium::{
    Completion, Config, ExceptionKind, Interface, Orb,
    config::{Limits, ServerStrategy},
    poa::{
        IdAssignment, IdUniqueness, Lifespan, ManagerState, Poa, PoaError, Policies,
        RequestProcessing, ServantRetention, ThreadModel,
    },
};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    Served, TargetState, client, each_strategy, eventually, reach, spawn_blocked, within,
};

const USER: Policies = Policies {
    lifespan: Lifespan::Transient,
    id_assignment: IdAssignment::User,
    id_uniqueness: IdUniqueness::Unique,
    implicit_activation: false,
    servant_retention: ServantRetention::Retain,
    request_processing: RequestProcessing::ActiveObjectMapOnly,
    thread_model: ThreadModel::OrbControlled,
    current: false,
    protocols: None,
    lanes: Vec::new(),
    dispatch: None,
    extension: None,
    bidirectional: None,
    routers: orbium::policy::router_policies::RouterPolicies::NONE,
    defined: Vec::new(),
};

const DURABLE: Policies = Policies {
    lifespan: Lifespan::Persistent,
    id_assignment: IdAssignment::User,
    id_uniqueness: IdUniqueness::Unique,
    implicit_activation: false,
    servant_retention: ServantRetention::Retain,
    request_processing: RequestProcessing::ActiveObjectMapOnly,
    thread_model: ThreadModel::OrbControlled,
    current: false,
    protocols: None,
    lanes: Vec::new(),
    dispatch: None,
    extension: None,
    bidirectional: None,
    routers: orbium::policy::router_policies::RouterPolicies::NONE,
    defined: Vec::new(),
};

fn servant() -> Arc<TargetState> {
    Arc::default()
}

fn skeleton() -> Arc<dyn Servant> {
    Arc::new(<Target as ServedBy<TargetState>>::skeleton(
        TargetState::default(),
    ))
}

/// A child of the root adapter that serves at once.
fn child(served: &Served, name: &str, policies: Policies) -> Poa {
    let root = served.orb.root_poa();
    root.create_poa(name, Some(root.manager()), policies)
        .unwrap()
}

/// What `target` is for a client of its own.
fn remotely(served: &Served, client: &Orb, target: &Target) -> Target {
    reach(client, &served.orb.object_to_string(target))
}

fn kind_of<T: std::fmt::Debug>(result: Result<T, SystemException>) -> ExceptionKind {
    let exception = result.unwrap_err();
    assert_eq!(exception.completed, Completion::No);
    exception.kind
}

fn system_kind<T: std::fmt::Debug>(result: Result<T, PoaError>) -> ExceptionKind {
    match result {
        Err(PoaError::System(exception)) => exception.kind,
        other => panic!("{other:?}"),
    }
}

/// Conformance: POA - `create_POA`, `find_POA`, `the_name`, `the_parent`, `the_children`
#[test]
fn adapters_have_names_parents_and_children() {
    let served = Served::new(ServerStrategy::default());
    let root = served.orb.root_poa();
    assert_eq!(root.name(), "RootPOA");
    assert_eq!(root.parent(), None);
    let a = child(&served, "a", USER);
    assert_eq!(a.parent(), Some(root.clone()));
    assert_eq!(root.find_poa("a"), Ok(a.clone()));
    assert_eq!(root.the_children(), std::slice::from_ref(&a));
    assert_eq!(a.policies(), USER);
    assert_eq!(root.find_poa("b"), Err(PoaError::AdapterNonExistent));
    assert_eq!(
        root.create_poa("a", None, USER),
        Err(PoaError::AdapterAlreadyExists)
    );
    let own = root.create_poa("own", None, USER).unwrap();
    assert_eq!(own.manager().state(), ManagerState::Holding);
    assert_ne!(own.manager(), root.manager());
    assert_eq!(
        root.create_poa(&"x".repeat(70_000), None, USER),
        Err(PoaError::NameTooLong)
    );
    served.end();
}

/// Conformance: POA - SYSTEM_ID, USER_ID; UNIQUE_ID, MULTIPLE_ID
/// Conformance: POA - `activate_object`, `activate_object_with_id`
#[test]
fn ids_are_assigned_as_the_policy_says() {
    let served = Served::new(ServerStrategy::default());
    let (root, user) = (served.orb.root_poa(), child(&served, "user", USER));
    assert_eq!(
        user.activate::<Target, _>(servant()),
        Err(PoaError::WrongPolicy)
    );
    assert_eq!(
        user.create_reference::<Target>(),
        Err(PoaError::WrongPolicy)
    );
    let target: Target = user.activate_with_id(b"one", servant()).unwrap();
    assert_eq!(user.reference_to_id(&target).unwrap(), b"one");
    assert_eq!(
        user.activate_with_id::<Target, _>(b"one", servant()),
        Err(PoaError::ObjectAlreadyActive)
    );
    // An id that this adapter cannot have given.
    let foreign = root.activate_with_id::<Target, _>(b"foreign", servant());
    assert_eq!(system_kind(foreign), ExceptionKind::BadParam);
    served.end();
}

/// Conformance: POA - SYSTEM_ID, USER_ID; UNIQUE_ID, MULTIPLE_ID
#[test]
fn one_servant_is_one_object_unless_the_policy_says_otherwise() {
    let served = Served::new(ServerStrategy::default());
    let unique = child(&served, "unique", USER);
    let one = skeleton();
    unique.activate_servant_with_id(b"1", &one).unwrap();
    assert_eq!(
        unique.activate_servant_with_id(b"2", &one),
        Err(PoaError::ServantAlreadyActive)
    );
    assert_eq!(unique.servant_to_id(&one).unwrap(), b"1");
    assert_eq!(
        unique.servant_to_id(&skeleton()),
        Err(PoaError::ServantNotActive)
    );
    unique.deactivate(b"1").unwrap();
    unique.activate_servant_with_id(b"2", &one).unwrap();

    let policies = Policies {
        id_uniqueness: IdUniqueness::Multiple,
        ..USER
    };
    let multiple = child(&served, "multiple", policies);
    let many = skeleton();
    multiple.activate_servant_with_id(b"1", &many).unwrap();
    multiple.activate_servant_with_id(b"2", &many).unwrap();
    assert_eq!(multiple.servant_to_id(&many), Err(PoaError::WrongPolicy));
    served.end();
}

/// Conformance: POA - `id_to_reference`, `id_to_servant`, `servant_to_id`, `reference_to_id`
#[test]
fn references_servants_and_ids_lead_to_one_another() {
    let served = Served::new(ServerStrategy::default());
    let (a, b) = (child(&served, "a", USER), child(&served, "b", USER));
    let one = skeleton();
    let reference = a.activate_servant_with_id(b"1", &one).unwrap();
    assert_eq!(a.id_to_reference(b"1").unwrap(), reference);
    assert!(Arc::ptr_eq(&a.id_to_servant(b"1").unwrap(), &one));
    assert_eq!(a.id_to_reference(b"2"), Err(PoaError::ObjectNotActive));
    assert!(matches!(
        a.id_to_servant(b"2"),
        Err(PoaError::ObjectNotActive)
    ));
    assert_eq!(b.reference_to_id(&reference), Err(PoaError::WrongAdapter));
    let other = Served::new(ServerStrategy::default());
    assert_eq!(
        a.reference_to_id(&other.target),
        Err(PoaError::WrongAdapter)
    );
    other.end();
    served.end();
}

/// Conformance: POA - `create_reference`, `create_reference_with_id`
#[test]
fn a_reference_may_be_made_before_its_object_is_active() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let client = client();
        let user = child(&served, "user", USER);
        let early: Target = user.create_reference_with_id(b"later").unwrap();
        let early = remotely(&served, &client, &early);
        assert_eq!(kind_of(early.noop()), ExceptionKind::ObjectNotExist);
        user.activate_with_id::<Target, _>(b"later", servant())
            .unwrap();
        assert_eq!(early.echo_long(4), Ok(4));
        let unused: Target = served.orb.root_poa().create_reference().unwrap();
        let unused = remotely(&served, &client, &unused);
        assert_eq!(kind_of(unused.noop()), ExceptionKind::ObjectNotExist);
        served.end();
    });
}

/// Conformance: POA - `activate_object`, `activate_object_with_id`
#[test]
fn an_object_can_be_activated_again_under_the_id_that_the_adapter_gave() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let client = client();
        let root = served.orb.root_poa();
        for lifespan in [Lifespan::Transient, Lifespan::Persistent] {
            let policies = Policies {
                lifespan,
                ..Policies::default()
            };
            let poa = child(&served, &format!("{lifespan:?}"), policies);
            let target: Target = poa.activate(servant()).unwrap();
            let seen = remotely(&served, &client, &target);
            seen.noop().unwrap();
            let id = poa.reference_to_id(&target).unwrap();
            poa.deactivate(&id).unwrap();
            assert_eq!(kind_of(seen.noop()), ExceptionKind::ObjectNotExist);
            assert_eq!(poa.deactivate(&id), Err(PoaError::ObjectNotActive));
            poa.activate_with_id::<Target, _>(&id, servant()).unwrap();
            seen.noop().unwrap();
            // Not another object that took its place meanwhile.
            poa.deactivate(&id).unwrap();
            for _ in 0..10 {
                poa.activate::<Target, _>(servant()).unwrap();
            }
            assert_eq!(kind_of(seen.noop()), ExceptionKind::ObjectNotExist);
        }
        drop(root);
        served.end();
    });
}

/// Conformance: POA - `deactivate_object`, with requests in flight
#[test]
fn an_object_deactivated_while_it_serves_finishes_its_request() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let client = client();
        let user = child(&served, "user", USER);
        let state = servant();
        let target: Target = user.activate_with_id(b"x", Arc::clone(&state)).unwrap();
        let target = remotely(&served, &client, &target);
        let (adapter, weak) = (user.clone(), Arc::downgrade(&state));
        state.on_act(move |call, v| {
            adapter
                .deactivate(call.object_id())
                .map_err(|_| SystemException::new(ExceptionKind::Internal, 0, Completion::No))?;
            Ok(v)
        });
        drop(state);
        assert_eq!(target.act(8), Ok(8));
        assert_eq!(kind_of(target.noop()), ExceptionKind::ObjectNotExist);
        eventually("the servant is dropped", || weak.strong_count() == 0);
        served.end();
    });
}

/// Conformance: POA - managers: HOLDING, and how many are held
#[test]
fn a_holding_manager_holds_requests_until_it_is_activated() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        let manager = served.orb.root_poa().manager();
        manager.hold_requests(true).unwrap();
        assert_eq!(manager.state(), ManagerState::Holding);
        let calls: Vec<_> = (0..10)
            .map(|v| {
                let target = target.clone();
                orbium_testkit::spawn(move || target.echo_long(v))
            })
            .collect();
        // An object of another adapter is served meanwhile.
        let own = served.orb.root_poa().create_poa("own", None, USER).unwrap();
        own.manager().activate().unwrap();
        let other: Target = own.activate_with_id(b"x", servant()).unwrap();
        let client = client();
        assert_eq!(remotely(&served, &client, &other).echo_long(1), Ok(1));
        assert_eq!(served.state.calls(), 0);
        assert!(calls.iter().all(|call| !call.is_finished()));
        manager.activate().unwrap();
        for (call, v) in calls.into_iter().zip(0..) {
            assert_eq!(within("a held call", move || call.join().unwrap()), Ok(v));
        }
        served.end();
    });
}

/// Conformance: POA - managers: HOLDING, and how many are held
#[test]
fn no_more_requests_are_held_than_the_limit_says() {
    each_strategy(|strategy| {
        let served = Served::with(Config {
            strategy,
            limits: Limits {
                held_requests: 2,
                ..Limits::default()
            },
            ..Config::default()
        });
        let (_client, target) = served.client();
        let manager = served.orb.root_poa().manager();
        manager.hold_requests(false).unwrap();
        let calls: Vec<_> = (0..5)
            .map(|_| {
                let target = target.clone();
                orbium_testkit::spawn(move || target.noop())
            })
            .collect();
        let refused = || calls.iter().filter(|call| call.is_finished()).count();
        eventually("three are refused", || refused() == 3);
        manager.activate().unwrap();
        let results: Vec<_> = calls.into_iter().map(|call| call.join().unwrap()).collect();
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 2);
        let discarded = SystemException::omg(ExceptionKind::Transient, 1, Completion::No);
        assert_eq!(results.iter().filter(|r| **r == Err(discarded)).count(), 3);
        served.end();
    });
}

/// Conformance: POA - managers: DISCARDING, INACTIVE
#[test]
fn a_discarding_manager_answers_transient_and_an_inactive_one_refuses_for_good() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        let manager = served.orb.root_poa().manager();
        manager.discard_requests(true).unwrap();
        let discarded = SystemException::omg(ExceptionKind::Transient, 1, Completion::No);
        assert_eq!(target.noop(), Err(discarded));
        // Held ones are discarded too.
        manager.hold_requests(false).unwrap();
        let held = {
            let target = target.clone();
            orbium_testkit::spawn(move || target.noop())
        };
        eventually("a call is held", || manager.held_requests() == 1);
        manager.discard_requests(false).unwrap();
        assert_eq!(
            within("the held call", move || held.join().unwrap()),
            Err(discarded)
        );
        manager.activate().unwrap();
        target.noop().unwrap();

        manager.deactivate(true).unwrap();
        assert!(matches!(
            kind_of(target.noop()),
            ExceptionKind::ObjectNotExist | ExceptionKind::ObjAdapter
        ));
        assert_eq!(manager.state(), ManagerState::Inactive);
        assert_eq!(manager.activate(), Err(PoaError::AdapterInactive));
        assert_eq!(manager.hold_requests(false), Err(PoaError::AdapterInactive));
        assert_eq!(
            manager.discard_requests(false),
            Err(PoaError::AdapterInactive)
        );
        assert_eq!(served.state.calls(), 1);
        served.end();
    });
}

/// Conformance: POA - waiting for completion; for oneself: BAD_INV_ORDER
#[test]
fn waiting_for_completion_waits_for_the_requests_being_served() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        let manager = served.orb.root_poa().manager();
        let call = orbium_testkit::spawn(move || target.gate());
        served.state.gate.await_waiting(1);
        assert_eq!(manager.requests_in_progress(), 1);
        let waiting = {
            let manager = manager.clone();
            spawn_blocked(move || manager.hold_requests(true))
        };
        eventually("the manager holds", || {
            manager.state() == ManagerState::Holding
        });
        assert!(!waiting.is_finished());
        served.state.gate.open();
        within("hold_requests", move || waiting.join().unwrap()).unwrap();
        within("the call", move || call.join().unwrap()).unwrap();
        manager.activate().unwrap();
        served.end();
    });
}

/// Conformance: POA - waiting for completion; for oneself: BAD_INV_ORDER
#[test]
fn waiting_for_oneself_is_refused_remotely_and_within_the_process() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, remote) = served.client();
        let root = served.orb.root_poa();
        let adapter = child(&served, "other", USER);
        served.state.on_act(move |_, which| {
            let manager = root.manager();
            let refused = match which {
                0 => manager.hold_requests(true),
                1 => manager.discard_requests(true),
                2 => manager.deactivate(true),
                _ => adapter.destroy(true),
            };
            assert_eq!(manager.state(), ManagerState::Active);
            match refused {
                Err(PoaError::System(exception)) => Err(exception),
                other => panic!("{other:?}"),
            }
        });
        let deadlock = SystemException::omg(ExceptionKind::BadInvOrder, 3, Completion::No);
        for target in [remote, served.target.clone()] {
            for which in 0..4 {
                let target = target.clone();
                assert_eq!(
                    within("the upcall", move || target.act(which)),
                    Err(deadlock)
                );
            }
        }
        assert!(served.orb.root_poa().find_poa("other").is_ok());
        served.end();
    });
}

/// Conformance: POA - `destroy`, also with requests in flight or held
#[test]
fn a_destroyed_adapter_and_those_below_it_are_gone() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let client = client();
        let root = served.orb.root_poa();
        let a = child(&served, "a", USER);
        let b = a.create_poa("b", Some(root.manager()), USER).unwrap();
        let below: Target = b.activate_with_id(b"x", servant()).unwrap();
        let seen = remotely(&served, &client, &below);
        seen.noop().unwrap();
        a.destroy(true).unwrap();
        assert_eq!(kind_of(seen.noop()), ExceptionKind::ObjectNotExist);
        assert_eq!(root.find_poa("a"), Err(PoaError::AdapterNonExistent));
        let late = a.activate_with_id::<Target, _>(b"y", servant());
        assert_eq!(system_kind(late), ExceptionKind::ObjectNotExist);
        // A new adapter of that name is another one.
        let a = child(&served, "a", USER);
        let b = a.create_poa("b", Some(root.manager()), USER).unwrap();
        b.activate_with_id::<Target, _>(b"x", servant()).unwrap();
        assert_eq!(kind_of(seen.noop()), ExceptionKind::ObjectNotExist);
        served.end();
    });
}

/// Conformance: POA - `destroy`, also with requests in flight or held
#[test]
fn destroying_waits_for_the_requests_being_served() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let client = client();
        let a = child(&served, "a", USER);
        let state = servant();
        let target: Target = a.activate_with_id(b"x", Arc::clone(&state)).unwrap();
        let target = remotely(&served, &client, &target);
        let call = orbium_testkit::spawn(move || target.gate());
        state.gate.await_waiting(1);
        let destroying = spawn_blocked(move || a.destroy(true));
        assert!(!destroying.is_finished());
        state.gate.open();
        within("destroy", move || destroying.join().unwrap()).unwrap();
        assert_eq!(within("the call", move || call.join().unwrap()), Ok(()));
        served.end();
    });
}

/// Conformance: POA - `destroy`, also with requests in flight or held
#[test]
fn requests_to_an_adapter_that_is_being_destroyed_are_transient() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let client = client();
    let manager = served.orb.root_poa().manager();
    for policies in [USER, DURABLE, Policies::default()] {
        let a = child(&served, "a", policies.clone());
        let below = a
            .create_poa("below", Some(manager.clone()), policies.clone())
            .unwrap();
        let state = servant();
        let activate = |poa: &Poa| -> Target {
            let activated = match policies.id_assignment {
                IdAssignment::User => poa.activate_with_id(b"x", Arc::clone(&state)),
                IdAssignment::System => poa.activate(Arc::clone(&state)),
            };
            activated.unwrap()
        };
        let own = [activate(&a), activate(&below)];
        let targets = [
            remotely(&served, &client, &own[0]),
            remotely(&served, &client, &own[1]),
            own[0].clone(),
            own[1].clone(),
        ];
        let busy = targets[0].clone();
        let call = orbium_testkit::spawn(move || busy.gate());
        state.gate.await_waiting(1);
        let destroying = orbium_testkit::spawn(move || a.destroy(true));
        // It cannot be done as long as the gate is closed.
        let transient = SystemException::omg(ExceptionKind::Transient, 4, Completion::No);
        for target in &targets {
            eventually("requests are refused", || target.noop() == Err(transient));
        }
        state.gate.open();
        within("destroy", move || destroying.join().unwrap()).unwrap();
        assert_eq!(within("the call", move || call.join().unwrap()), Ok(()));
        for target in &targets {
            assert_eq!(kind_of(target.noop()), ExceptionKind::ObjectNotExist);
        }
    }
    served.end();
}

/// Conformance: POA - `destroy`, also with requests in flight or held
#[test]
fn destroying_does_not_wait_for_requests_that_are_held() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let client = client();
        let a = served.orb.root_poa().create_poa("a", None, USER).unwrap();
        let target: Target = a.activate_with_id(b"x", servant()).unwrap();
        let target = remotely(&served, &client, &target);
        let held = orbium_testkit::spawn(move || target.noop());
        eventually("a call is held", || a.manager().held_requests() == 1);
        within("destroy", move || a.destroy(true)).unwrap();
        let exception = within("the held call", move || held.join().unwrap()).unwrap_err();
        assert_eq!(exception.completed, Completion::No);
        served.end();
    });
}

/// Conformance: POA - `destroy`, also with requests in flight or held
#[test]
fn activation_and_destruction_may_race() {
    let served = Served::new(ServerStrategy::default());
    let root = served.orb.root_poa();
    for _ in 0..200 {
        let a = child(&served, "a", USER);
        let (activating, destroying) = (a.clone(), a);
        thread::scope(|scope| {
            scope.spawn(|| {
                for id in 0..20_u32 {
                    let _ = activating.activate_with_id::<Target, _>(&id.to_be_bytes(), servant());
                    let _ = activating.create_poa(&id.to_string(), None, USER);
                }
            });
            let destroying = destroying.clone();
            within("destroy", move || destroying.destroy(true)).unwrap();
        });
        assert_eq!(root.find_poa("a"), Err(PoaError::AdapterNonExistent));
    }
    served.end();
}

/// Conformance: POA - TRANSIENT, PERSISTENT
/// Conformance: complaint 26 - restarts race with an implementation repository
#[test]
fn persistent_references_are_served_again_by_a_later_orb_and_transient_ones_are_not() {
    each_strategy(|strategy| {
        let first = Served::new(strategy);
        let port = first.port();
        let durable = child(&first, "durable", DURABLE);
        let below = durable
            .create_poa("below", Some(durable.manager()), DURABLE)
            .unwrap();
        let kept: Target = below.activate_with_id(b"kept", servant()).unwrap();
        let client = client();
        let kept = remotely(&first, &client, &kept);
        let passing = first.seen_by(&client);
        kept.noop().unwrap();
        passing.noop().unwrap();
        first.end();

        let endpoint = format!("iiop://127.0.0.1:{port}").parse().unwrap();
        let second = Served::with(Config {
            endpoints: vec![endpoint],
            strategy,
            ..Config::default()
        });
        assert_eq!(kind_of(kept.noop()), ExceptionKind::ObjectNotExist);
        let durable = child(&second, "durable", DURABLE);
        let below = durable
            .create_poa("below", Some(durable.manager()), DURABLE)
            .unwrap();
        let again: Target = below.activate_with_id(b"kept", servant()).unwrap();
        assert_eq!(kept.echo_long(3), Ok(3));
        assert_eq!(below.reference_to_id(&again).unwrap(), b"kept");
        // There is an object in the same slot of the new ORB, but not this one.
        assert_eq!(kind_of(passing.noop()), ExceptionKind::ObjectNotExist);
        assert!(passing.as_object().non_existent().unwrap());
        second.end();
    });
}
