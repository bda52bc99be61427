// SPDX-License-Identifier: MIT OR Apache-2.0
//! Thread models.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use orbium::{
    Completion, ExceptionKind,
    poa::{Poa, Policies, ThreadModel},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, TargetState, client, each_strategy, eventually, within};

use crate::fixture::{child, remote, servant, user};

/// Conformance: POA - SINGLE_THREAD_MODEL
#[test]
fn a_single_thread_adapter_serves_one_request_at_a_time() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let policies = Policies {
            thread_model: ThreadModel::SingleThread,
            ..user()
        };
        let poa = child(&served, "single", policies);
        let inside = Arc::<AtomicUsize>::default();
        let (one, state) = servant();
        for id in [b"0", b"1", b"2"] {
            poa.activate_servant_with_id(id, &one).unwrap();
        }
        let own: Target = poa.create_reference_with_id(b"2").unwrap();
        let count = Arc::clone(&inside);
        state.on_act(move |_, v| {
            // Within the process the servant may call its own adapter.
            if v > 0 {
                return own.act(v - 1).map(|it| it + 1);
            }
            assert_eq!(count.fetch_add(1, Ordering::SeqCst), 0, "two at once");
            thread::yield_now();
            count.fetch_sub(1, Ordering::SeqCst);
            Ok(0)
        });
        let calls: Vec<_> = [b"0", b"1"]
            .into_iter()
            .map(|id| {
                let client = client();
                let target = remote(&served, &client, &poa, id);
                thread::spawn(move || {
                    for depth in 0..200 {
                        assert_eq!(target.act(depth % 3), Ok(depth % 3));
                    }
                    client
                })
            })
            .collect();
        for call in calls {
            within("the calls", move || call.join().unwrap());
        }
        served.end();
    });
}

/// Conformance: POA - SINGLE_THREAD_MODEL
#[test]
fn a_request_waits_for_the_one_that_a_single_thread_adapter_serves() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let policies = Policies {
            thread_model: ThreadModel::SingleThread,
            ..user()
        };
        let poa = child(&served, "single", policies);
        let (one, state) = servant();
        poa.activate_servant_with_id(b"0", &one).unwrap();
        let (a, b) = (client(), client());
        let targets = [
            remote(&served, &a, &poa, b"0"),
            remote(&served, &b, &poa, b"0"),
        ];
        let [first, second] = targets.map(|target| {
            let call = thread::spawn(move || target.gate());
            state.gate.await_waiting(1);
            call
        });
        assert_eq!(state.gate.waiting(), 1);
        state.gate.open();
        within("the first", move || first.join().unwrap()).unwrap();
        within("the second", move || second.join().unwrap()).unwrap();
        served.end();
    });
}

/// An adapter of the main thread with one object, and its servant's state, which answers
/// whether the thread is this one.
pub(crate) fn of_main_thread(served: &Served, name: &str) -> (Poa, Arc<TargetState>) {
    let policies = Policies {
        thread_model: ThreadModel::MainThread,
        ..user()
    };
    let poa = child(served, name, policies);
    let (one, state) = servant();
    poa.activate_servant_with_id(b"0", &one).unwrap();
    let main = thread::current().id();
    state.on_act(move |_, v| {
        Ok(if thread::current().id() == main {
            v
        } else {
            -1
        })
    });
    (poa, state)
}

/// Conformance: POA - MAIN_THREAD_MODEL
#[test]
fn a_main_thread_adapter_is_served_by_the_thread_that_runs_the_orb() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        // This thread is the main one.
        assert_eq!(served.orb.work_pending(), Ok(false));
        let (poa, state) = of_main_thread(&served, "main");
        let local: Target = poa.create_reference_with_id(b"0").unwrap();
        assert_eq!(local.act(1), Ok(1));
        let calls: Vec<_> = [2, 3]
            .into_iter()
            .map(|v| {
                let (client, local) = (client(), local.clone());
                let target = remote(&served, &client, &poa, b"0");
                thread::spawn(move || {
                    for _ in 0..50 {
                        assert_eq!(target.act(v), Ok(v));
                        // From within the process, by another thread.
                        assert_eq!(local.act(v), Ok(v));
                    }
                    target.post(v).unwrap();
                    let failed = target.raise_system("NO_MEMORY").unwrap_err();
                    assert_eq!(failed.completed, Completion::No);
                    client
                })
            })
            .collect();
        let orb = served.orb.clone();
        let ending = thread::spawn(move || {
            for call in calls {
                within("the calls", move || call.join().unwrap());
            }
            eventually("the oneways", || state.posted().len() == 2);
            orb.shutdown(true).unwrap();
        });
        served.orb.run().unwrap();
        ending.join().unwrap();
        let ended = served.orb.perform_work().unwrap_err();
        assert_eq!(ended.kind, ExceptionKind::BadInvOrder);
        assert!(served.orb.work_pending().is_err());
    });
}

/// Conformance: POA - MAIN_THREAD_MODEL
/// Conformance: ORB - `work_pending`, `perform_work`
#[test]
fn perform_work_serves_one_request_of_the_main_thread() {
    let served = Served::new(Default::default());
    served.orb.perform_work().unwrap();
    let (poa, state) = of_main_thread(&served, "main");
    let client = client();
    let target = remote(&served, &client, &poa, b"0");
    let local: Target = poa.create_reference_with_id(b"0").unwrap();
    let mut calls = Vec::new();
    for target in [target.clone(), target, local] {
        calls.push(thread::spawn(move || target.act(7)));
    }
    eventually("work is there", || served.orb.work_pending().unwrap());
    assert_eq!(state.calls(), 0);
    // Another thread is not the main one.
    thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(served.orb.work_pending(), Ok(false));
            served.orb.perform_work().unwrap();
        });
    });
    assert_eq!(state.calls(), 0);
    served.orb.perform_work().unwrap();
    assert_eq!(state.calls(), 1);
    eventually("all is served", || {
        served.orb.perform_work().unwrap();
        state.calls() == 3
    });
    for call in calls {
        assert_eq!(within("the call", move || call.join().unwrap()), Ok(7));
    }
    assert_eq!(served.orb.work_pending(), Ok(false));
    served.end();
}

/// Conformance: POA - MAIN_THREAD_MODEL
#[test]
fn requests_not_begun_by_the_main_thread_at_the_end_are_refused() {
    let served = Served::new(Default::default());
    assert_eq!(served.orb.work_pending(), Ok(false));
    let (poa, state) = of_main_thread(&served, "main");
    let client = client();
    let targets = [
        remote(&served, &client, &poa, b"0"),
        poa.create_reference_with_id(b"0").unwrap(),
    ];
    let calls = targets.map(|target| thread::spawn(move || target.act(7)));
    eventually("work is there", || served.orb.work_pending().unwrap());
    served.end();
    for call in calls {
        let refused = within("the call", move || call.join().unwrap()).unwrap_err();
        assert_ne!(refused.completed, Completion::Yes);
    }
    assert_eq!(state.calls(), 0);
}
