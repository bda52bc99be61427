// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servant activators at the end of their adapter, and in each state of its manager.

use std::sync::Arc;
use std::thread;

use orbium::{
    ExceptionKind, Servant,
    poa::{Poa, PoaError, ServantActivator, ServantError, ServantRetention},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Gate, Served, client, each_strategy, eventually, spawn_blocked, within};

use crate::fixture::{Record, child, managed, omg, refused, remote, servant, user};

type Step = dyn Fn(&[u8], &Poa, &Arc<dyn Servant>) + Send + Sync;

/// Notes its calls, and does what a test says in each.
#[derive(Clone)]
struct Doing {
    record: Record,
    incarnate: Arc<Step>,
    etherealize: Arc<Step>,
}

impl Doing {
    fn new(
        incarnate: impl Fn(&[u8], &Poa, &Arc<dyn Servant>) + Send + Sync + 'static,
        etherealize: impl Fn(&[u8], &Poa, &Arc<dyn Servant>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            record: Record::default(),
            incarnate: Arc::new(incarnate),
            etherealize: Arc::new(etherealize),
        }
    }
}

fn nothing(_: &[u8], _: &Poa, _: &Arc<dyn Servant>) {}

impl ServantActivator for Doing {
    fn incarnate(&self, id: &[u8], poa: &Poa) -> Result<Arc<dyn Servant>, ServantError> {
        self.record.note("incarnate");
        let (servant, _) = servant();
        (self.incarnate)(id, poa, &servant);
        Ok(servant)
    }

    fn etherealize(
        &self,
        id: &[u8],
        poa: &Poa,
        servant: Arc<dyn Servant>,
        cleanup: bool,
        more: bool,
    ) {
        self.record.note(format!("etherealize {cleanup} {more}"));
        (self.etherealize)(id, poa, &servant);
    }
}

fn managed_by(served: &Served, doing: &Doing) -> Poa {
    let poa = child(served, "managed", managed(ServantRetention::Retain));
    poa.set_servant_activator(doing.clone()).unwrap();
    poa
}

/// Waits until an adapter is being destroyed.
fn until_it_ends(poa: &Poa) {
    let ending = PoaError::System(omg(ExceptionKind::BadInvOrder, 17));
    let mut number = 0;
    eventually("the adapter ends", || {
        number += 1;
        poa.create_poa(&number.to_string(), None, user()) == Err(ending)
    });
}

/// Conformance: POA - `etherealize` of a servant that was made while its adapter was destroyed
#[test]
fn a_servant_that_is_made_while_its_adapter_ends_is_etherealized_at_once() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let gate = Arc::<Gate>::default();
        let closed = Arc::clone(&gate);
        let doing = Doing::new(move |_, _, _| closed.pass(), nothing);
        let poa = managed_by(&served, &doing);
        let client = client();
        let target = remote(&served, &client, &poa, b"a");
        let call = thread::spawn(move || target.noop());
        gate.await_waiting(1);
        let dying = poa.clone();
        let destroying = thread::spawn(move || dying.destroy(true));
        until_it_ends(&poa);
        gate.open();
        within("destroy", move || destroying.join().unwrap()).unwrap();
        let outcome = within("the call", move || call.join().unwrap());
        assert_eq!(outcome, Err(omg(ExceptionKind::Transient, 4)));
        assert_eq!(doing.record.all(), ["incarnate", "etherealize true false"]);
        served.end();
    });
}

/// Conformance: POA - requests to an adapter at its end, while its objects are etherealized: TRANSIENT 4
#[test]
fn requests_do_not_wait_for_the_etherealization_at_the_end_of_their_adapter() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let gate = Arc::<Gate>::default();
        let closed = Arc::clone(&gate);
        let doing = Doing::new(nothing, move |_, _, _| closed.pass());
        let poa = managed_by(&served, &doing);
        poa.activate_servant_with_id(b"a", &servant().0).unwrap();
        let client = client();
        let target = remote(&served, &client, &poa, b"a");
        let destroying = thread::spawn(move || poa.destroy(true));
        gate.await_waiting(1);
        let refused = within("the call", move || target.noop());
        assert_eq!(refused, Err(omg(ExceptionKind::Transient, 4)));
        gate.open();
        within("destroy", move || destroying.join().unwrap()).unwrap();
        assert_eq!(doing.record.all(), ["etherealize true false"]);
        served.end();
    });
}

/// Conformance: POA - `destroy` with `wait_for_completion` within `incarnate` and `etherealize`: BAD_INV_ORDER 3
#[test]
fn a_servant_activator_does_not_wait_for_the_end_of_its_adapter() {
    let served = Served::new(Default::default());
    let seen = Record::default();
    let wait = |seen: Record| {
        move |_: &[u8], poa: &Poa, _: &Arc<dyn Servant>| {
            seen.note(format!("{:?}", refused(poa.destroy(true))));
        }
    };
    let doing = Doing::new(wait(seen.clone()), wait(seen.clone()));
    let poa = managed_by(&served, &doing);
    let client = client();
    let target = remote(&served, &client, &poa, b"a");
    within("the call", move || target.noop()).unwrap();
    let ending = poa.clone();
    within("deactivate", move || ending.deactivate(b"a")).unwrap();
    eventually("it is etherealized", || seen.all().len() == 2);
    let expected = PoaError::System(omg(ExceptionKind::BadInvOrder, 3));
    assert_eq!(seen.all(), [(); 2].map(|()| format!("{expected:?}")));
    assert!(served.orb.root_poa().find_poa("managed").is_ok());
    served.end();
}

/// Conformance: POA - servant managers are not called while the POA manager holds or discards
#[test]
fn a_servant_activator_is_not_called_before_its_manager_serves() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let doing = Doing::new(nothing, nothing);
        let poa = managed_by(&served, &doing);
        let manager = poa.manager();
        manager.hold_requests(false).unwrap();
        let client = client();
        let target = remote(&served, &client, &poa, b"a");
        let held = target.clone();
        let call = thread::spawn(move || held.noop());
        eventually("the call is held", || manager.held_requests() == 1);
        manager.discard_requests(false).unwrap();
        let discarded = Err(omg(ExceptionKind::Transient, 1));
        let outcome = within("the call", move || call.join().unwrap());
        assert_eq!(outcome, discarded);
        assert_eq!(target.noop(), discarded);
        assert!(doing.record.all().is_empty());
        manager.activate().unwrap();
        target.noop().unwrap();
        assert_eq!(doing.record.all(), ["incarnate"]);
        served.end();
    });
}

/// Conformance: POA - `incarnate` that has activated the object itself
#[test]
fn an_object_that_its_activator_has_activated_is_served() {
    let served = Served::new(Default::default());
    let activating = |id: &[u8], poa: &Poa, servant: &Arc<dyn Servant>| {
        poa.activate_servant_with_id(id, servant).unwrap();
        let again = poa.activate_servant_with_id(id, servant);
        assert_eq!(refused(again), PoaError::ObjectAlreadyActive);
    };
    let doing = Doing::new(activating, nothing);
    let poa = managed_by(&served, &doing);
    let client = client();
    let target = remote(&served, &client, &poa, b"a");
    assert_eq!(within("the call", move || target.echo_long(6)), Ok(6));
    assert_eq!(doing.record.all(), ["incarnate"]);
    served.end();
    assert_eq!(doing.record.all(), ["incarnate", "etherealize true false"]);
}

/// Conformance: POA - an activator that calls the object that it incarnates: OBJECT_NOT_EXIST, not a deadlock
#[test]
fn an_activator_that_calls_its_own_object_finds_none() {
    let served = Served::new(Default::default());
    let seen = Record::default();
    let notes = seen.clone();
    let calling = move |id: &[u8], poa: &Poa, _: &Arc<dyn Servant>| {
        let own: Target = poa.create_reference_with_id(id).unwrap();
        notes.note(format!("{:?}", own.noop().unwrap_err().kind));
    };
    let doing = Doing::new(calling, nothing);
    let poa = managed_by(&served, &doing);
    let client = client();
    let target = remote(&served, &client, &poa, b"a");
    assert_eq!(within("the call", move || target.echo_long(7)), Ok(7));
    assert_eq!(seen.all(), ["ObjectNotExist"]);
    served.end();
}

/// The last request to a deactivated object ends on another thread, which hands its servant back once
/// the activator has returned: an activator that waited for that waited for ever.
#[test]
fn an_activator_does_not_wait_for_the_end_of_another_object() {
    let served = Served::new(Default::default());
    let seen = Record::default();
    let notes = seen.clone();
    let replacing = move |id: &[u8], poa: &Poa, servant: &Arc<dyn Servant>| {
        if id == b"a" {
            poa.deactivate(b"b").unwrap();
            let again = refused(poa.activate_servant_with_id(b"b", servant));
            notes.note(format!("{again:?}"));
            let ending: Target = poa.create_reference_with_id(b"b").unwrap();
            notes.note(format!("{:?}", PoaError::from(ending.noop().unwrap_err())));
        }
    };
    let doing = Doing::new(replacing, nothing);
    let poa = managed_by(&served, &doing);
    let (busy, state) = servant();
    poa.activate_servant_with_id(b"b", &busy).unwrap();
    let client = client();
    let [a, b] = [b"a", b"b"].map(|id| remote(&served, &client, &poa, id));
    let gated = b.clone();
    let call = thread::spawn(move || gated.gate());
    state.gate.await_waiting(1);
    within("the incarnation", move || a.noop()).unwrap();
    let expected = PoaError::System(omg(ExceptionKind::BadInvOrder, 3));
    assert_eq!(seen.all(), [(); 2].map(|()| format!("{expected:?}")));
    state.gate.open();
    within("the call", move || call.join().unwrap()).unwrap();
    // From elsewhere it may be incarnated again.
    within("the next call", move || b.noop()).unwrap();
    let calls = ["incarnate", "etherealize false false", "incarnate"];
    assert_eq!(doing.record.all(), calls);
    served.end();
}

/// A thread that came to a manager which another one was deactivating returned before the objects were
/// etherealized.
#[test]
fn waiting_for_a_manager_that_is_deactivated_waits_for_etherealize() {
    let served = Served::new(Default::default());
    let (gate, seen) = (Arc::<Gate>::default(), Record::default());
    let (closed, notes) = (Arc::clone(&gate), seen.clone());
    let doing = Doing::new(nothing, move |_, _, _| {
        closed.pass();
        notes.note("etherealized");
    });
    let root = served.orb.root_poa();
    let policies = managed(ServantRetention::Retain);
    let poa = root.create_poa("managed", None, policies).unwrap();
    poa.set_servant_activator(doing).unwrap();
    for id in [b"a", b"b"] {
        poa.activate_servant_with_id(id, &servant().0).unwrap();
    }
    let manager = poa.manager();
    let deactivating = {
        let manager = manager.clone();
        thread::spawn(move || manager.deactivate(false))
    };
    gate.await_waiting(1);
    let notes = seen.clone();
    let waiting = spawn_blocked(move || {
        let deactivated = manager.deactivate(true);
        notes.note("returned");
        deactivated
    });
    gate.open();
    within("deactivate", move || deactivating.join().unwrap()).unwrap();
    within("the wait", move || waiting.join().unwrap()).unwrap();
    assert_eq!(seen.all(), ["etherealized", "etherealized", "returned"]);
    served.end();
}
