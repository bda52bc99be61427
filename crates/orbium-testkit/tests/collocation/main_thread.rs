// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of objects that the main thread serves, from other threads: they wait for it, and it is
//! lent the arguments.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use orbium::interceptor::Interceptors;
use orbium::{
    CancellationToken, Completion, Config, ExceptionKind, Interface, SystemException,
    config::Collocation,
    poa::{Poa, Policies, ThreadModel},
    policy::SyncScope,
};
use orbium_testkit::probe::{RefusedError, Target};
use orbium_testkit::{
    Recorder as Spans, Served, TargetState, eventually, in_own_process, spawn_blocked_in, within,
};
use tracing::level_filters::LevelFilter;

use super::adapters::{Counting, Turns};
use super::answered::{Answering, Answers};
use super::observed::{Seeing, counted};
use super::under_policies::{Notebook, Notes, SCOPES};
use super::{ALL, Places, Recorder, config, place_of};

/// An adapter of the main thread, which is this one.
fn of_main_thread(served: &Served) -> Poa {
    assert_eq!(served.orb.work_pending(), Ok(false));
    let root = served.orb.root_poa();
    let policies = Policies {
        thread_model: ThreadModel::MainThread,
        ..Policies::default()
    };
    root.create_poa("main", Some(root.manager()), policies)
        .unwrap()
}

/// Makes calls on another thread while this one serves.
fn serving<R: Send>(served: &Served, calls: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let calling = scope.spawn(calls);
        eventually("the calls are over", || {
            served.orb.perform_work().unwrap();
            calling.is_finished()
        });
        calling.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Runs a test with and without messages; `Direct` calls pass over thread models.
fn each_way(test: impl Fn(Collocation, &Served)) {
    for way in [Collocation::ThroughPoa, Collocation::Marshalled] {
        let served = Served::with(config(way));
        test(way, &served);
        served.end();
    }
}

fn place(data: &[u8]) -> u64 {
    data.as_ptr().addr() as u64
}

/// Conformance: POA - MAIN_THREAD_MODEL: collocated calls of other threads are lent their arguments
#[test]
fn the_main_thread_is_lent_the_arguments_of_other_threads() {
    each_way(|way, served| {
        let recorder = Arc::new(Recorder::default());
        let places: Places = of_main_thread(served)
            .activate(Arc::clone(&recorder))
            .unwrap();
        let other = served.target.as_object();
        let is_lent = way != Collocation::Marshalled;
        serving(served, || {
            let data = vec![5; 64 * 1024];
            let patient = places.with_timeout(Duration::from_secs(60));
            for places in [&places, &patient] {
                assert_eq!(places.put(&data).unwrap() == place(&data), is_lent);
            }
            let many = places.many(64 * 1024).unwrap();
            assert_eq!(many, [7; 64 * 1024]);
            let moved = many.as_ptr().addr() == recorder.made.load(Ordering::SeqCst);
            assert!(moved || !is_lent);
            let mut value = vec![1];
            places.change(false, &mut value).unwrap();
            assert_eq!(value, [1, 9]);
            let failed = places.change(true, &mut value).unwrap_err();
            assert_eq!(
                (failed.kind, &*value),
                (ExceptionKind::NoResources, &[1, 9][..])
            );
            let kept = places.keep(&[Some(other.clone())]).unwrap();
            assert_eq!(kept == place_of(other), is_lent);
            // A reference with policies is copied, and nothing else.
            let hasty = other.with_timeout(Duration::from_secs(60));
            let place_of_data = places.relay(&data, Some(&hasty)).unwrap();
            assert_eq!(place_of_data == place(&data), is_lent);
        });
    });
}

/// Conformance: POA - MAIN_THREAD_MODEL: collocated calls of other threads - exceptions, and
/// servants that panic
#[test]
fn exceptions_of_the_main_thread_reach_its_callers() {
    each_way(|_, served| {
        let state = Arc::<TargetState>::default();
        let main = thread::current().id();
        state.on_act(move |_, value| {
            assert_eq!(thread::current().id(), main);
            assert!(value != 0, "on purpose");
            Ok(value)
        });
        let target: Target = of_main_thread(served).activate(Arc::clone(&state)).unwrap();
        serving(served, || {
            assert_eq!(target.act(7), Ok(7));
            let unknown = target.act(0).unwrap_err();
            let expected = (ExceptionKind::Unknown, Completion::Maybe);
            assert_eq!((unknown.kind, unknown.completed), expected);
            match target.refuse(5) {
                Err(RefusedError::Refused(refused)) => assert_eq!(refused.code, 5),
                other => panic!("{other:?}"),
            }
            let raised = target.raise_system("NO_MEMORY").unwrap_err();
            assert_eq!(raised.kind, ExceptionKind::NoMemory);
            let story = orbium::diagnostics::last_failure().expect("the story of the call");
            assert_eq!(story.operation, "raise_system");
            assert_eq!(target.act(8), Ok(8));
        });
    });
}

/// Conformance: POA - MAIN_THREAD_MODEL: collocated calls of other threads - oneways of every
/// SyncScope
#[test]
fn the_main_thread_is_lent_the_arguments_of_oneways() {
    each_way(|way, served| {
        let notebook = Arc::new(Notebook::default());
        let notes: Notes = of_main_thread(served)
            .activate(Arc::clone(&notebook))
            .unwrap();
        let data = vec![5; 64 * 1024];
        for scope in SCOPES {
            let scoped = notes.with_sync_scope(scope);
            let raised = serving(served, || {
                scoped.note(&data, false).unwrap();
                scoped.note(&data, true)
            });
            let lent = notebook.place.load(Ordering::SeqCst) == data.as_ptr().addr();
            assert_eq!(lent, way != Collocation::Marshalled, "{scope:?}");
            assert_eq!(raised.is_err(), scope == SyncScope::WithTarget, "{scope:?}");
        }
    });
}

/// Conformance: POA - MAIN_THREAD_MODEL: collocated calls of other threads - reply slots and
/// servants that answer later
#[test]
fn servants_of_the_main_thread_answer_through_slots_or_later() {
    each_way(|way, served| {
        let servant = Arc::new(Answering::default());
        let poa = of_main_thread(served);
        let answers: Answers = poa.activate(Arc::clone(&servant)).unwrap();
        let is_lent = way != Collocation::Marshalled;
        serving(served, || {
            let data = vec![5; 64 * 1024];
            let patient = answers.with_timeout(Duration::from_secs(60));
            for answers in [&answers, &patient] {
                assert_eq!(answers.slot(&data, false).unwrap() == place(&data), is_lent);
                assert_eq!(
                    answers.moment(&data, false).unwrap() == place(&data),
                    is_lent
                );
                assert!(matches!(
                    answers.slot(&data, true),
                    Err(RefusedError::Refused(_))
                ));
                answers.moment(&data, true).unwrap_err();
                answers.note(&data, false).unwrap();
                assert_eq!(*servant.place.lock().unwrap() == place(&data), is_lent);
            }
        });
    });
}

/// Conformance: POA - MAIN_THREAD_MODEL: collocated calls of other threads are served one at a time
#[test]
fn the_main_thread_serves_one_lent_call_at_a_time() {
    let served = Served::with(config(Collocation::ThroughPoa));
    let counting = Arc::new(Counting::default());
    let turns: Turns = of_main_thread(&served)
        .activate(Arc::clone(&counting))
        .unwrap();
    serving(&served, || {
        thread::scope(|callers| {
            for _ in 0..4 {
                callers.spawn(|| {
                    let data = vec![5; 100];
                    for _ in 0..50 {
                        assert_eq!(turns.take(&data), Ok(place(&data)));
                    }
                });
            }
        });
    });
    assert_eq!(counting.most.load(Ordering::SeqCst), 1);
    served.end();
}

/// A servant of the main thread that calls itself, and one that waits in a call of its own.
///
/// Conformance: POA - MAIN_THREAD_MODEL: collocated calls of other threads are served while the main
/// thread waits in a call of its own
#[test]
fn lent_calls_are_served_while_the_main_thread_waits() {
    let served = Served::with(config(Collocation::ThroughPoa));
    let back = Served::new(Default::default());
    let poa = of_main_thread(&served);
    let (state, behind) = (Arc::<TargetState>::default(), back.seen_by(&served.orb));
    let target: Target = poa.activate(Arc::clone(&state)).unwrap();
    let places: Places = poa.activate(Arc::new(Recorder::default())).unwrap();
    let own = target.clone();
    state.on_act(move |_, depth| match depth {
        0 => behind.gate().map(|()| 0),
        _ => own.act(depth - 1).map(|it| it + 1),
    });
    serving(&served, || {
        thread::scope(|scope| {
            let waiting = scope.spawn(|| target.act(3));
            back.state.gate.await_waiting(1);
            // The main thread waits at the gate.
            let data = vec![5; 100];
            assert_eq!(places.put(&data), Ok(place(&data)));
            back.state.gate.open();
            assert_eq!(waiting.join().unwrap(), Ok(3));
        });
    });
    served.end();
    back.end();
}

/// A call that waits for the main thread, and what its caller gets.
fn withdrawn(end: impl FnOnce(&Served, &CancellationToken)) -> (SystemException, Arc<Notebook>) {
    let served = Served::with(config(Collocation::ThroughPoa));
    let notebook = Arc::new(Notebook::default());
    let notes: Notes = of_main_thread(&served)
        .activate(Arc::clone(&notebook))
        .unwrap();
    let token = CancellationToken::new();
    let raised = thread::scope(|scope| {
        let notes = notes.with_cancellation(&token);
        let data = vec![5; 100];
        let call = spawn_blocked_in(scope, move || notes.note(&data, false));
        eventually("the call waits", || served.orb.work_pending().unwrap());
        end(&served, &token);
        call.join().unwrap().unwrap_err()
    });
    let _ = served.orb.shutdown(true);
    (raised, notebook)
}

/// Conformance: POA - MAIN_THREAD_MODEL: collocated calls of other threads are withdrawn at the end
/// of the ORB, and when they are cancelled
#[test]
fn calls_that_the_main_thread_has_not_begun_are_withdrawn() {
    let ends = within("calls withdrawn", || {
        [
            withdrawn(|served, _| served.orb.shutdown(false).unwrap()),
            withdrawn(|served, token| {
                token.cancel();
                eventually("it is withdrawn", || !served.orb.work_pending().unwrap());
                served.orb.perform_work().unwrap();
            }),
        ]
    });
    for ((raised, notebook), minor) in ends.iter().zip([1, 3]) {
        let expected = SystemException::omg(ExceptionKind::Transient, minor, Completion::No);
        assert_eq!(*raised, expected);
        assert_eq!(notebook.place.load(Ordering::SeqCst), 0);
    }
}

/// Its servant has the arguments: beyond its deadline a caller waits for the end of it.
///
/// Conformance: POA - MAIN_THREAD_MODEL: collocated calls of other threads - deadlines
#[test]
fn a_deadline_ends_the_wait_for_the_main_thread_but_not_for_its_servant() {
    let served = Served::with(config(Collocation::ThroughPoa));
    let recorder = Arc::new(Recorder::default());
    let places: Places = of_main_thread(&served)
        .activate(Arc::clone(&recorder))
        .unwrap();
    let hasty = places.with_timeout(Duration::from_millis(50));
    let data = vec![5; 1024];
    let timeout = |late: SystemException| {
        assert_eq!(late.kind, ExceptionKind::Timeout);
        late.completed
    };
    // Nothing serves it.
    let late = thread::scope(|scope| scope.spawn(|| hasty.put(&data)).join().unwrap());
    assert_eq!(timeout(late.unwrap_err()), Completion::No);
    assert_eq!(served.orb.work_pending(), Ok(false));
    // The servant returns once the deadline has passed.
    let patient = places.with_timeout(Duration::from_secs(2));
    let late = serving(&served, || patient.until_late(&data));
    assert_eq!(timeout(late.unwrap_err()), Completion::Maybe);
    assert_eq!(recorder.made.load(Ordering::SeqCst), data.as_ptr().addr());
    served.end();
}

/// Conformance: POA - MAIN_THREAD_MODEL: collocated calls of other threads - measured, with
/// interceptors
#[test]
fn calls_of_the_main_thread_are_seen_on_both_sides() {
    for way in ALL {
        let mut interceptors = Interceptors::new();
        interceptors.add_client(Seeing).unwrap();
        interceptors.add_server(Seeing).unwrap();
        let served = Served::with(Config {
            metrics: true,
            interceptors,
            ..config(way)
        });
        let places: Places = of_main_thread(&served)
            .activate(Arc::new(Recorder::default()))
            .unwrap();
        let data = vec![5; 1024];
        for _ in 0..3 {
            let lent = serving(&served, || places.put(&data)).unwrap() == place(&data);
            assert_eq!(lent, way != Collocation::Marshalled, "{way}");
        }
        for it in counted(&served.orb, "Places/put") {
            assert_eq!((it.ok, it.ended(), it.in_flight), (3, 3, 0), "{way}");
        }
        served.end();
    }
}

/// Conformance: POA - MAIN_THREAD_MODEL: collocated calls of other threads - traced
#[test]
fn calls_of_the_main_thread_have_spans_within_those_of_their_callers() {
    in_own_process!(|| {
        let log = Spans::install(LevelFilter::DEBUG);
        let served = Served::with(config(Collocation::ThroughPoa));
        let places: Places = of_main_thread(&served)
            .activate(Arc::new(Recorder::default()))
            .unwrap();
        let data = vec![5; 1024];
        assert_eq!(serving(&served, || places.put(&data)), Ok(place(&data)));
        let [calls, requests] = ["call", "request"].map(|it| log.ended(it, 1));
        assert_eq!(requests[0].parent, Some(calls[0].id));
        served.end();
    });
}
