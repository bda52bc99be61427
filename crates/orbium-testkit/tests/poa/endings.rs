// SPDX-License-Identifier: MIT OR Apache-2.0
//! Adapters and ORBs that end while requests are in progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use orbium::{ExceptionKind, SystemException, poa::PoaError};
use orbium_testkit::{Served, client, eventually, spawn_blocked, within};

use crate::fixture::{child, omg, refused, remote, servant, user};

/// Long enough for a thread to end that does not wait.
const SHORT: Duration = Duration::from_millis(100);

/// The name is that of the new adapter once the old one is gone (`create_POA` in CORBA 3.3 Part 1,
/// clause 15.3.9). It was refused with AdapterAlreadyExists.
///
/// Conformance: POA - `create_POA` with the name of an adapter that is being destroyed waits for its end
#[test]
fn an_adapter_waits_for_the_end_of_the_one_that_has_its_name() {
    let served = Served::new(Default::default());
    let old = child(&served, "name", user());
    let (busy, state) = servant();
    old.activate_servant_with_id(b"busy", &busy).unwrap();
    let target = remote(&served, &client(), &old, b"busy");
    let gated = target.clone();
    let call = thread::spawn(move || gated.gate());
    state.gate.await_waiting(1);
    let dying = old.clone();
    let destroying = thread::spawn(move || dying.destroy(true));
    let transient = omg(ExceptionKind::Transient, 4);
    eventually("requests are refused", || target.noop() == Err(transient));
    let root = served.orb.root_poa();
    let is_made = Arc::<AtomicBool>::default();
    let made = Arc::clone(&is_made);
    let creating = spawn_blocked(move || {
        let created = root.create_poa("name", None, user());
        made.store(true, Ordering::SeqCst);
        created
    });
    assert!(!is_made.load(Ordering::SeqCst));
    state.gate.open();
    within("destroy", move || destroying.join().unwrap()).unwrap();
    let new = within("create_POA", move || creating.join().unwrap()).unwrap();
    assert_eq!(within("the call", move || call.join().unwrap()), Ok(()));
    assert!(new != old);
    assert!(served.orb.root_poa().find_poa("name").unwrap() == new);
    served.end();
}

/// The destruction was complete at once: requests were OBJECT_NOT_EXIST, and the name was free.
///
/// Conformance: POA - `destroy` without waiting completes after the last request in progress
#[test]
fn an_adapter_destroyed_without_waiting_has_its_name_until_its_last_request_ends() {
    let served = Served::new(Default::default());
    let old = child(&served, "name", user());
    let (busy, state) = servant();
    old.activate_servant_with_id(b"busy", &busy).unwrap();
    let target = remote(&served, &client(), &old, b"busy");
    let gated = target.clone();
    let call = thread::spawn(move || gated.gate());
    state.gate.await_waiting(1);
    let dying = old.clone();
    within("destroy", move || {
        dying.destroy(false).unwrap();
        dying.destroy(false).unwrap();
    });
    assert_eq!(target.noop(), Err(omg(ExceptionKind::Transient, 4)));
    let root = served.orb.root_poa();
    let creating = spawn_blocked(move || root.create_poa("name", None, user()));
    assert!(!creating.is_finished());
    state.gate.open();
    let new = within("create_POA", move || creating.join().unwrap()).unwrap();
    assert_eq!(within("the call", move || call.join().unwrap()), Ok(()));
    assert!(new != old);
    // Nothing is in progress: it is complete at once.
    new.destroy(false).unwrap();
    let missing = served.orb.root_poa().find_poa("name");
    assert_eq!(refused(missing), PoaError::AdapterNonExistent);
    served.end();
}

/// A thread that serves a request of the ORB may be the one that the end waits for.
///
/// Conformance: POA - `create_POA` with the name of an adapter that is being destroyed waits for its end
#[test]
fn a_request_does_not_wait_for_the_end_of_an_adapter() {
    let served = Served::new(Default::default());
    let old = child(&served, "name", user());
    let (busy, state) = servant();
    old.activate_servant_with_id(b"busy", &busy).unwrap();
    let root = served.orb.root_poa();
    let dying = old.clone();
    state.on_act(move |_, v| {
        let ended = dying.clone();
        thread::spawn(move || ended.destroy(true));
        eventually("the destruction has begun", || {
            matches!(dying.deactivate(b"none"), Err(PoaError::System(_)))
        });
        match refused(root.create_poa("name", None, user())) {
            PoaError::System(exception) => Err(exception),
            _ => Ok(v),
        }
    });
    let target = remote(&served, &client(), &old, b"busy");
    let waits = omg(ExceptionKind::BadInvOrder, 3);
    assert_eq!(within("the call", move || target.act(1)), Err(waits));
    served.end();
}

/// Those that came over connections were waited for. Servants of the others ran on when the ORB had ended.
///
/// Conformance: ORB - `shutdown` waits for requests that threads of the program make without a connection
#[test]
fn shutdown_waits_for_requests_that_the_program_serves_itself() {
    let served = Served::new(Default::default());
    let (own, state) = (served.target.clone(), Arc::clone(&served.state));
    let call = thread::spawn(move || own.gate());
    state.gate.await_waiting(1);
    let (orb, root) = (served.orb.clone(), served.orb.root_poa());
    let (done, is_done) = std::sync::mpsc::channel();
    let ending = thread::spawn(move || {
        let ended = orb.shutdown(true);
        done.send(()).unwrap();
        ended
    });
    let gone = SystemException::from(ExceptionKind::ObjectNotExist);
    eventually(
        "the adapters end",
        || matches!(root.deactivate(b"none"), Err(PoaError::System(it)) if it == gone),
    );
    assert!(
        is_done.recv_timeout(SHORT).is_err(),
        "a request is in progress"
    );
    state.gate.open();
    assert_eq!(within("the call", move || call.join().unwrap()), Ok(()));
    within("the end", move || ending.join().unwrap()).unwrap();
    served.end();
}

/// It would wait for its own request.
///
/// Conformance: ORB - `shutdown`
#[test]
fn a_request_that_the_program_serves_itself_ends_the_orb_without_waiting() {
    let served = Served::new(Default::default());
    let orb = served.orb.clone();
    served.state.on_act(move |_, wait| {
        orb.shutdown(wait != 0)?;
        Ok(wait)
    });
    let waits = omg(ExceptionKind::BadInvOrder, 3);
    assert_eq!(served.target.act(1), Err(waits));
    assert_eq!(served.target.act(0), Ok(0));
    let orb = served.orb.clone();
    within("the end", move || orb.shutdown(true)).unwrap();
    served.end();
}
