// SPDX-License-Identifier: MIT OR Apache-2.0
//! The main thread while it waits in a call of its own, and callers that wait for it.

use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use orbium::{
    CancellationToken, Completion, Config, ExceptionKind, Interface, Orb, SystemException,
    asynchronous::Asynchronous, poa::Poa,
};
use orbium_cdr::{Decode, Encode};
use orbium_core::Operation;
use orbium_testkit::probe::Target;
use orbium_testkit::{
    Served, TargetState, calling_by, client, each_client_strategy, each_strategy, eventually,
    within,
};

use crate::fixture::{omg, remote};
use crate::threads::of_main_thread;

static ACT: Operation = Operation::new("act");

/// Fails with NO_PERMISSION elsewhere than on the thread.
fn check_thread(expected: ThreadId) -> Result<(), SystemException> {
    if thread::current().id() == expected {
        Ok(())
    } else {
        Err(ExceptionKind::NoPermission.into())
    }
}

/// An ORB of which this thread is the main one, with its object there, and one that calls that
/// back.
struct Pair {
    front: Served,
    poa: Poa,
    state: Arc<TargetState>,
    back: Served,
    /// The object of `back`, as `front` sees it.
    behind: Target,
}

impl Pair {
    fn new(config: Config) -> Self {
        let front = Served::with(config);
        assert_eq!(front.orb.work_pending(), Ok(false));
        let (poa, state) = of_main_thread(&front, "main");
        let back = Served::new(Default::default());
        let behind = back.seen_by(&front.orb);
        let called_back = remote(&front, &back.orb, &poa, b"0");
        back.state.on_act(move |_, v| match v {
            0 => Ok(0),
            v => Ok(called_back.act(v - 1)? + 1),
        });
        Self {
            front,
            poa,
            state,
            back,
            behind,
        }
    }

    /// Runs the main thread while another one makes calls from an ORB of its own.
    fn run_while(self, calls: impl FnOnce(&Orb, Target) + Send + 'static) {
        let client = client();
        let target = remote(&self.front, &client, &self.poa, b"0");
        let orb = self.front.orb.clone();
        let calling = thread::spawn(move || {
            calls(&client, target);
            orb.shutdown(true).unwrap();
        });
        self.front.orb.run().unwrap();
        calling.join().unwrap();
        self.back.end();
    }
}

/// The main thread and the other ORB call each other in turn, so deep.
fn chain(config: Config) {
    within("a chain of calls", move || {
        let pair = Pair::new(config);
        let (main, behind) = (thread::current().id(), pair.behind.clone());
        pair.state.on_act(move |_, v| {
            check_thread(main)?;
            match v {
                0 => Ok(0),
                v => Ok(behind.act(v - 1)? + 1),
            }
        });
        pair.run_while(|_, target| {
            for depth in [0, 1, 2, 20] {
                assert_eq!(target.act(depth), Ok(depth));
            }
        });
    });
}

/// The main thread waited for its reply alone: the call back was in its queue for ever.
///
/// Conformance: POA - MAIN_THREAD_MODEL
#[test]
fn the_main_thread_is_called_back_while_it_waits_for_a_reply() {
    each_strategy(|strategy| {
        chain(Config {
            strategy,
            ..Config::default()
        });
    });
    each_client_strategy(|strategy| chain(calling_by(strategy)));
}

/// Conformance: POA - MAIN_THREAD_MODEL
#[test]
fn the_main_thread_is_called_back_while_it_waits_for_an_asynchronous_call() {
    within("a call back", || {
        let pair = Pair::new(Config::default());
        let (main, behind) = (thread::current().id(), pair.behind.clone());
        pair.state.on_act(move |_, v| {
            check_thread(main)?;
            if v == 0 {
                return Ok(0);
            }
            let object = behind.as_object();
            let call: Asynchronous<i32> =
                object.call_async(&ACT, v - 1, Encode::encode, i32::decode);
            Ok(call.wait()? + 1)
        });
        pair.run_while(|_, target| assert_eq!(target.act(20), Ok(20)));
    });
}

/// While the main thread waits in one call it serves others, and work is pending for it no more.
///
/// Conformance: POA - MAIN_THREAD_MODEL
/// Conformance: ORB - `work_pending`, `perform_work`
#[test]
fn a_call_made_from_within_perform_work_serves_what_else_there_is() {
    within("calls of two clients", || {
        let pair = Pair::new(Config::default());
        let behind = pair.behind.clone();
        pair.state.on_act(move |_, v| match v {
            0 => Ok(0),
            _ => behind.gate().map(|()| v),
        });
        let (client, gate) = (client(), Arc::clone(&pair.back.state));
        let target = remote(&pair.front, &client, &pair.poa, b"0");
        let first = {
            let target = target.clone();
            thread::spawn(move || target.act(1))
        };
        let second = thread::spawn(move || {
            gate.gate.await_waiting(1);
            // The main thread waits at the gate.
            let served = target.act(0);
            gate.gate.open();
            served
        });
        let orb = &pair.front.orb;
        eventually("work is there", || orb.work_pending().unwrap());
        orb.perform_work().unwrap();
        assert_eq!(pair.state.calls(), 2);
        assert_eq!(orb.work_pending(), Ok(false));
        assert_eq!(
            (first.join().unwrap(), second.join().unwrap()),
            (Ok(1), Ok(0))
        );
        pair.front.end();
        pair.back.end();
    });
}

/// An ORB of which this thread is the main one, which runs nothing, and its object there.
fn idle() -> (Served, Arc<TargetState>, Target) {
    let served = Served::new(Default::default());
    assert_eq!(served.orb.work_pending(), Ok(false));
    let (poa, state) = of_main_thread(&served, "main");
    let local = poa.create_reference_with_id(b"0").unwrap();
    (served, state, local)
}

/// The caller waited for ever, whatever its deadline.
///
/// Conformance: POA - MAIN_THREAD_MODEL
#[test]
fn a_call_within_the_orb_does_not_wait_for_the_main_thread_beyond_its_deadline() {
    let (served, state, local) = idle();
    let hurried = local.with_timeout(Duration::from_millis(20));
    let call = thread::spawn(move || hurried.act(7));
    let late = within("the call", move || call.join().unwrap()).unwrap_err();
    assert_eq!(
        (late.kind, late.completed),
        (ExceptionKind::Timeout, Completion::No)
    );
    // A call that has been given up is not served.
    assert_eq!(served.orb.work_pending(), Ok(false));
    served.orb.perform_work().unwrap();
    assert_eq!(state.calls(), 0);
    served.end();
}

/// Conformance: POA - MAIN_THREAD_MODEL
#[test]
fn a_call_within_the_orb_that_waits_for_the_main_thread_is_cancelled() {
    let (served, state, local) = idle();
    let token = CancellationToken::new();
    let tokened = local.with_cancellation(&token);
    let call = thread::spawn(move || tokened.act(7));
    eventually("work is there", || served.orb.work_pending().unwrap());
    token.cancel();
    let cancelled = within("the call", move || call.join().unwrap());
    assert_eq!(cancelled, Err(omg(ExceptionKind::Transient, 3)));
    assert_eq!(served.orb.work_pending(), Ok(false));
    served.orb.perform_work().unwrap();
    assert_eq!(state.calls(), 0);
    served.end();
}
