// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servant activators.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use orbium::{
    Completion, ExceptionKind, Servant, SystemException,
    poa::{Poa, PoaError, Policies, ServantActivator, ServantError, ServantRetention},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    Gate, Served, TargetState, client, each_strategy, eventually, spawn_blocked, within,
};

use crate::fixture::{Record, child, managed, omg, refused, remote, servant};

fn retaining() -> Policies {
    managed(ServantRetention::Retain)
}

/// Makes a servant for every id, and notes what it is called for.
#[derive(Clone, Default)]
struct Noting {
    record: Record,
    last: Arc<Mutex<Option<Arc<TargetState>>>>,
}

fn text(id: &[u8]) -> String {
    String::from_utf8_lossy(id).into_owned()
}

impl ServantActivator for Noting {
    fn incarnate(&self, id: &[u8], poa: &Poa) -> Result<Arc<dyn Servant>, ServantError> {
        self.record
            .note(format!("incarnate {} in {}", text(id), poa.name()));
        let (servant, state) = servant();
        *self.last.lock().unwrap() = Some(state);
        Ok(servant)
    }

    fn etherealize(&self, id: &[u8], _: &Poa, _: Arc<dyn Servant>, cleanup: bool, more: bool) {
        self.record
            .note(format!("etherealize {} {cleanup} {more}", text(id)));
    }
}

impl Noting {
    fn state(&self) -> Arc<TargetState> {
        self.last.lock().unwrap().clone().expect("incarnated")
    }
}

/// Conformance: POA - USE_SERVANT_MANAGER, RETAIN: `incarnate`, `etherealize`
#[test]
fn an_object_is_incarnated_by_its_first_request_and_etherealized_after_its_last() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let client = client();
        let poa = child(&served, "managed", retaining());
        let noting = Noting::default();
        poa.set_servant_activator(noting.clone()).unwrap();
        let target = remote(&served, &client, &poa, b"a");
        assert_eq!(poa.deactivate(b"a"), Err(PoaError::ObjectNotActive));
        target.noop().unwrap();
        assert_eq!(target.echo_long(3), Ok(3));
        assert_eq!(noting.record.all(), ["incarnate a in managed"]);

        // While a request is served it is not etherealized.
        let state = noting.state();
        let busy = target.clone();
        let call = thread::spawn(move || busy.gate());
        state.gate.await_waiting(1);
        poa.deactivate(b"a").unwrap();
        assert_eq!(poa.deactivate(b"a"), Err(PoaError::ObjectNotActive));
        assert_eq!(noting.record.all().len(), 1);
        // A request that comes now waits for the end, and incarnates it anew.
        let again = {
            let target = target.clone();
            thread::spawn(move || target.echo_long(5))
        };
        state.gate.open();
        within("the call", move || call.join().unwrap()).unwrap();
        assert_eq!(within("the next", move || again.join().unwrap()), Ok(5));
        let calls = [
            "incarnate a in managed",
            "etherealize a false false",
            "incarnate a in managed",
        ];
        assert_eq!(noting.record.all(), calls);
        served.end();
        // The ORB's end cleans up.
        assert_eq!(noting.record.all()[3], "etherealize a true false");
    });
}

/// Conformance: POA - USE_SERVANT_MANAGER, RETAIN: `incarnate`, `etherealize`
#[test]
fn a_collocated_call_incarnates_too() {
    let served = Served::new(Default::default());
    let poa = child(&served, "managed", retaining());
    let noting = Noting::default();
    poa.set_servant_activator(noting.clone()).unwrap();
    let target: Target = poa.create_reference_with_id(b"a").unwrap();
    assert_eq!(target.echo_long(5), Ok(5));
    assert!(target.as_object_is_a());
    assert_eq!(noting.record.all(), ["incarnate a in managed"]);
    served.end();
}

trait IsA {
    fn as_object_is_a(&self) -> bool;
}

impl IsA for Target {
    /// By a request, not by what the stub knows.
    fn as_object_is_a(&self) -> bool {
        use orbium::Interface;
        !self.as_object().non_existent().unwrap()
    }
}

/// Conformance: POA - `etherealize`: `cleanup_in_progress`, `remaining_activations`
#[test]
fn the_flags_of_etherealize_say_why_and_whether_the_servant_is_another_object() {
    let served = Served::new(Default::default());
    let noting = Noting::default();
    let fresh = |name: &str| {
        let poa = child(&served, name, retaining());
        poa.set_servant_activator(noting.clone()).unwrap();
        let (one, _) = servant();
        for id in [b"1", b"2", b"3"] {
            poa.activate_servant_with_id(id, &one).unwrap();
        }
        poa
    };
    let poa = fresh("x");
    poa.deactivate(b"2").unwrap();
    poa.deactivate(b"3").unwrap();
    poa.deactivate(b"1").unwrap();
    assert_eq!(
        noting.record.all(),
        [
            "etherealize 2 false true",
            "etherealize 3 false true",
            "etherealize 1 false false"
        ]
    );
    fresh("y").destroy(true).unwrap();
    let calls = noting.record.all().split_off(3);
    assert_eq!(calls.len(), 3);
    assert!(calls[0].ends_with("true true") && calls[1].ends_with("true true"));
    assert!(calls[2].ends_with("true false"));
    // Without etherealization the activator is not called.
    fresh("z").destroy_without_etherealizing(true).unwrap();
    assert_eq!(noting.record.all().len(), 6);
    served.end();
}

/// Conformance: POA - `etherealize` by `deactivate` of the manager
#[test]
fn a_manager_that_is_deactivated_etherealizes_unless_it_is_not_to() {
    for etherealizes in [true, false] {
        let served = Served::new(Default::default());
        let root = served.orb.root_poa();
        let poa = root.create_poa("own", None, retaining()).unwrap();
        poa.manager().activate().unwrap();
        let noting = Noting::default();
        poa.set_servant_activator(noting.clone()).unwrap();
        let target: Target = poa.create_reference_with_id(b"a").unwrap();
        target.noop().unwrap();
        let manager = poa.manager();
        if etherealizes {
            manager.deactivate(true).unwrap();
        } else {
            manager.deactivate_without_etherealizing(true).unwrap();
        }
        let expected: &[&str] = if etherealizes {
            &["incarnate a in own", "etherealize a true false"]
        } else {
            &["incarnate a in own"]
        };
        assert_eq!(noting.record.all(), expected);
        assert_eq!(target.noop(), Err(omg(ExceptionKind::ObjectNotExist, 4)));
        assert_eq!(noting.record.all().len(), expected.len());
        served.end();
    }
}

/// It was activated at once, while the first servant served its last request.
///
/// Conformance: POA - `etherealize` by `deactivate` of the manager
#[test]
fn an_object_that_ends_with_its_manager_is_activated_again_once_it_is_etherealized() {
    let served = Served::new(Default::default());
    let root = served.orb.root_poa();
    let poa = root.create_poa("own", None, retaining()).unwrap();
    poa.manager().activate().unwrap();
    let noting = Noting::default();
    poa.set_servant_activator(noting.clone()).unwrap();
    let target: Target = poa.create_reference_with_id(b"x").unwrap();
    target.noop().unwrap();
    let state = noting.state();
    let call = thread::spawn(move || target.gate());
    state.gate.await_waiting(1);
    poa.manager().deactivate(false).unwrap();
    let (adapter, record) = (poa.clone(), noting.record.clone());
    let activating = spawn_blocked(move || {
        let activated = adapter.activate_servant_with_id(b"x", &servant().0);
        activated.map(|_| record.all())
    });
    assert!(!activating.is_finished());
    state.gate.open();
    let recorded = within("the activation", move || activating.join().unwrap()).unwrap();
    assert_eq!(recorded, ["incarnate x in own", "etherealize x true false"]);
    within("the call", move || call.join().unwrap()).unwrap();
    served.end();
}

/// Fails as it is calls.
struct Failing(Box<dyn Fn() -> Result<Arc<dyn Servant>, ServantError> + Send + Sync>);

impl ServantActivator for Failing {
    fn incarnate(&self, _: &[u8], _: &Poa) -> Result<Arc<dyn Servant>, ServantError> {
        (self.0)()
    }

    fn etherealize(&self, _: &[u8], _: &Poa, _: Arc<dyn Servant>, _: bool, _: bool) {
        panic!("etherealize");
    }
}

/// Conformance: POA - a servant manager that fails: its exception, UNKNOWN for a panic
#[test]
fn clients_get_the_exception_of_an_activator_and_a_panic_harms_nothing() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let client = client();
        let poa = child(&served, "managed", retaining());
        let tries = AtomicUsize::new(0);
        let busy = SystemException::new(ExceptionKind::NoResources, 7, Completion::No);
        poa.set_servant_activator(Failing(Box::new(move || {
            match tries.fetch_add(1, Ordering::SeqCst) {
                0 => Err(busy.into()),
                1 => panic!("incarnate"),
                _ => Ok(servant().0),
            }
        })))
        .unwrap();
        let target = remote(&served, &client, &poa, b"a");
        assert_eq!(target.noop(), Err(busy));
        assert_eq!(target.noop().unwrap_err().kind, ExceptionKind::Unknown);
        assert_eq!(target.echo_long(1), Ok(1));
        // A panic in etherealize is logged, and goes no further.
        poa.deactivate(b"a").unwrap();
        assert_eq!(target.echo_long(2), Ok(2));
        served.end();
    });
}

/// Conformance: POA - OBJ_ADAPTER 4: a servant manager is missing or of the wrong kind
/// Conformance: POA - BAD_INV_ORDER 6: the servant manager is set already
#[test]
fn a_servant_manager_is_set_once_and_fits_the_policies() {
    let served = Served::new(Default::default());
    let poa = child(&served, "managed", retaining());
    let target: Target = poa.create_reference_with_id(b"a").unwrap();
    assert_eq!(poa.has_servant_manager(), Ok(false));
    assert_eq!(target.noop(), Err(omg(ExceptionKind::ObjAdapter, 4)));
    poa.set_servant_activator(Noting::default()).unwrap();
    assert_eq!(poa.has_servant_manager(), Ok(true));
    let again = poa.set_servant_activator(Noting::default());
    assert_eq!(
        again,
        Err(PoaError::System(omg(ExceptionKind::BadInvOrder, 6)))
    );
    let wrong = PoaError::System(omg(ExceptionKind::ObjAdapter, 4));
    let passing = child(&served, "passing", managed(ServantRetention::NonRetain));
    assert_eq!(passing.set_servant_activator(Noting::default()), Err(wrong));
    assert_eq!(
        poa.set_servant_locator(crate::locators::Forwarding(None)),
        Err(wrong)
    );
    let root = served.orb.root_poa();
    assert_eq!(
        root.set_servant_activator(Noting::default()),
        Err(PoaError::WrongPolicy)
    );
    assert_eq!(root.has_servant_manager(), Err(PoaError::WrongPolicy));
    served.end();
}

/// Conformance: POA - OBJ_ADAPTER 5: `incarnate` gives a servant that is active
#[test]
fn with_unique_ids_an_activator_must_not_give_a_servant_twice() {
    let served = Served::new(Default::default());
    let policies = Policies {
        id_uniqueness: orbium::poa::IdUniqueness::Unique,
        ..retaining()
    };
    let poa = child(&served, "managed", policies);
    let (one, _) = servant();
    poa.set_servant_activator(Failing(Box::new(move || Ok(Arc::clone(&one)))))
        .unwrap();
    let [a, b]: [Target; 2] = [b"a", b"b"].map(|id| poa.create_reference_with_id(id).unwrap());
    a.noop().unwrap();
    assert_eq!(b.noop(), Err(omg(ExceptionKind::ObjAdapter, 5)));
    served.end();
}

struct Slow {
    gate: Arc<Gate>,
    inside: AtomicUsize,
    count: Arc<AtomicUsize>,
}

impl ServantActivator for Slow {
    fn incarnate(&self, _: &[u8], _: &Poa) -> Result<Arc<dyn Servant>, ServantError> {
        assert_eq!(self.inside.fetch_add(1, Ordering::SeqCst), 0, "overlap");
        self.count.fetch_add(1, Ordering::SeqCst);
        self.gate.pass();
        self.inside.fetch_sub(1, Ordering::SeqCst);
        Ok(servant().0)
    }

    fn etherealize(&self, _: &[u8], _: &Poa, _: Arc<dyn Servant>, _: bool, _: bool) {
        assert_eq!(self.inside.fetch_add(1, Ordering::SeqCst), 0, "overlap");
        thread::yield_now();
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Conformance: POA - `incarnate` and `etherealize` of an adapter never overlap
#[test]
fn two_requests_for_an_inactive_object_incarnate_it_once() {
    let served = Served::new(Default::default());
    let poa = child(&served, "managed", retaining());
    let (gate, count) = (Arc::<Gate>::default(), Arc::<AtomicUsize>::default());
    poa.set_servant_activator(Slow {
        gate: Arc::clone(&gate),
        inside: AtomicUsize::new(0),
        count: Arc::clone(&count),
    })
    .unwrap();
    let calls: Vec<_> = (0..4)
        .map(|number| {
            let client = client();
            let target = remote(&served, &client, &poa, b"a");
            thread::spawn(move || (target.echo_long(number), client))
        })
        .collect();
    gate.await_waiting(1);
    gate.open();
    for (number, call) in calls.into_iter().enumerate() {
        let (echoed, _client) = within("the call", move || call.join().unwrap());
        assert_eq!(echoed, Ok(number as i32));
    }
    assert_eq!(count.load(Ordering::SeqCst), 1);

    // Incarnations and ends of many objects at once.
    let poa = &poa;
    let barrier = &Barrier::new(4);
    thread::scope(|scope| {
        for worker in 0..4_u8 {
            scope.spawn(move || {
                barrier.wait();
                for round in 0..50_u8 {
                    let id = [b'x', round % 3];
                    let target: Target = poa.create_reference_with_id(&id).unwrap();
                    target.noop().unwrap();
                    if worker % 2 == 0 {
                        let _ = poa.deactivate(&id);
                    }
                }
            });
        }
    });
    served.end();
}

/// Conformance: POA - `activate_object_with_id` while the object ends: BAD_INV_ORDER 3 within its own request
#[test]
fn an_object_that_ends_within_its_own_request_is_not_activated_again_there() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let client = client();
        let poa = child(&served, "managed", retaining());
        let noting = Noting::default();
        poa.set_servant_activator(noting.clone()).unwrap();
        let target = remote(&served, &client, &poa, b"a");
        target.noop().unwrap();
        let own: Target = poa.create_reference_with_id(b"a").unwrap();
        let adapter = poa.clone();
        let seen = Record::default();
        let notes = seen.clone();
        noting.state().on_act(move |_, v| {
            adapter.deactivate(b"a").unwrap();
            let again = adapter.activate_servant_with_id(b"a", &servant().0);
            notes.note(format!("{:?}", refused(again)));
            notes.note(format!("{:?}", own.noop().unwrap_err().kind));
            Ok(v)
        });
        assert_eq!(within("the call", move || target.act(4)), Ok(4));
        let expected = PoaError::System(omg(ExceptionKind::BadInvOrder, 3));
        assert_eq!(
            seen.all(),
            [format!("{expected:?}"), "ObjectNotExist".to_owned()]
        );
        eventually("it is etherealized", || noting.record.all().len() == 2);
        // From elsewhere it may be.
        poa.activate_servant_with_id(b"a", &servant().0).unwrap();
        served.end();
    });
}
