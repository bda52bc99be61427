// SPDX-License-Identifier: MIT OR Apache-2.0
//! A thread that serves others while its own call waits.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use orbium::{
    Completion, Config, ExceptionKind, Interface, Orb, SystemException,
    config::{ClientStrategy, ServerStrategy},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, each_strategy, eventually, spawn_blocked, within};

fn reacting() -> Served {
    Served::with(Config {
        strategy: ServerStrategy::Reactive,
        client_strategy: ClientStrategy::Reactor,
        ..Config::default()
    })
}

/// The threads that served the requests of a test.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<HashSet<ThreadId>>>);

impl Seen {
    fn note(&self) {
        self.0.lock().unwrap().insert(thread::current().id());
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// Two servers, of which the second calls the first back.
struct Chain {
    a: Served,
    b: Served,
    a_in_b: Target,
    seen: Seen,
}

impl Chain {
    /// A serves by its reactor; `act(n)` there and back goes n deep.
    fn new(b: Served) -> Self {
        let a = reacting();
        let (b_in_a, a_in_b) = (b.seen_by(&a.orb), a.seen_by(&b.orb));
        let seen = Seen::default();
        let noted = seen.clone();
        a.state.on_act(move |_, v| {
            noted.note();
            match v {
                0 => Ok(0),
                v => Ok(b_in_a.act(v - 1)? + 1),
            }
        });
        let back = a_in_b.clone();
        b.state.on_act(move |_, v| back.act(v));
        Self { a, b, a_in_b, seen }
    }

    fn run(&self, depth: i32) {
        let target = self.a_in_b.clone();
        assert_eq!(within("a chain", move || target.act(depth)), Ok(depth));
    }

    fn end(self) {
        self.a.end();
        self.b.end();
    }
}

/// Conformance: TAO 2 - chains of nested calls from many threads complete - on one thread
#[test]
fn calls_within_calls_are_served_by_one_thread() {
    each_strategy(|strategy| {
        let chain = Chain::new(Served::new(strategy));
        for depth in [1, 2, 10] {
            chain.run(depth);
        }
        assert_eq!(chain.seen.count(), 1);
        chain.end();
    });
}

#[test]
fn both_sides_serve_by_one_thread() {
    let chain = Chain::new(reacting());
    chain.run(20);
    assert_eq!(chain.seen.count(), 1);
    chain.end();
}

/// Stacks do not grow with what clients do: every 32 waits another thread goes on.
///
/// Conformance: TAO 2 - chains of nested calls from many threads complete - on one thread
#[test]
fn a_thousand_calls_within_one_another_are_bounded() {
    let chain = Chain::new(reacting());
    chain.run(1_000);
    let count = chain.seen.count();
    assert!((31..=40).contains(&count), "{count} threads");
    chain.end();
}

/// The thread keeps the reactor for its call, and then waits for something else.
#[test]
fn threads_that_block_otherwise_let_another_thread_serve() {
    let (served, behind) = (reacting(), Served::new(ServerStrategy::Reactive));
    let inner = behind.seen_by(&served.orb);
    let orb = served.orb.clone();
    served.state.on_act(move |_, v| {
        let echoed = inner.echo_long(v)?;
        orb.run()?;
        Ok(echoed)
    });
    let (client, target) = served.client();
    let first = {
        let target = target.clone();
        orbium_testkit::spawn(move || target.act(1))
    };
    for v in 0..20 {
        let target = target.clone();
        assert_eq!(within("others", move || target.echo_long(v)), Ok(v));
    }
    eventually("the first waits", || behind.state.calls() == 1);
    served.orb.shutdown(false).unwrap();
    let first = within("the first", move || first.join().unwrap());
    assert_eq!(first, Ok(1));
    client.shutdown(true).unwrap();
    served.end();
    behind.end();
}

/// A request that is held must not be so on the stack of the one who lets it go.
///
/// Conformance: TAO 2 - chains of nested calls from many threads complete - on one thread
#[test]
fn requests_held_until_a_waiting_request_goes_on_are_served() {
    let (served, behind) = (reacting(), reacting());
    let (inner, root) = (behind.seen_by(&served.orb), served.orb.root_poa());
    served.state.on_act(move |_, v| {
        root.manager().hold_requests(false).unwrap();
        let answer = inner.act(v);
        root.manager().activate().unwrap();
        answer
    });
    let held = served.seen_by(&behind.orb);
    let calls = Mutex::new(Vec::new());
    let calls = Arc::new(calls);
    let begun = Arc::clone(&calls);
    behind.state.on_act(move |_, v| {
        let held = held.clone();
        // Until it has come to where it is held.
        let call = spawn_blocked(move || held.echo_long(v));
        begun.lock().unwrap().push(call);
        Ok(v)
    });
    let (client, target) = served.client();
    for v in 0..5 {
        let target = target.clone();
        assert_eq!(within("who holds", move || target.act(v)), Ok(v));
    }
    for call in calls.lock().unwrap().drain(..) {
        let echoed = within("who was held", move || call.join().unwrap());
        assert!(echoed.is_ok(), "{echoed:?}");
    }
    client.shutdown(true).unwrap();
    served.end();
    behind.end();
}

/// Whoever waits is in time, and serves others until then.
#[test]
fn time_that_is_over_ends_a_wait() {
    let (served, behind) = (reacting(), Served::new(ServerStrategy::ThreadPerConnection));
    const SHORT: Duration = Duration::from_millis(150);
    let inner = behind.seen_by(&served.orb).with_timeout(SHORT);
    served.state.on_act(move |_, _| match inner.gate() {
        Err(late) if late.kind == ExceptionKind::Timeout => Ok(0),
        other => panic!("{other:?}"),
    });
    let (client, target) = served.client();
    let first = {
        let target = target.clone();
        orbium_testkit::spawn(move || {
            let begun = Instant::now();
            (target.act(1), begun.elapsed())
        })
    };
    behind.state.gate.await_waiting(1);
    for v in 0..20 {
        let target = target.clone();
        assert_eq!(within("others", move || target.echo_long(v)), Ok(v));
    }
    let (answer, took) = within("the first", move || first.join().unwrap());
    assert_eq!(answer, Ok(0));
    assert!(took >= SHORT, "{took:?}");
    behind.state.gate.open();
    client.shutdown(true).unwrap();
    served.end();
    behind.end();
}

/// An outer call comes back when the inner one has, with the truth about its time.
#[test]
fn a_wait_below_another_ends_after_it() {
    // On a busy machine the first may be over before the second has come.
    let seconds = [0.05, 1.0, 10.0].map(Duration::from_secs_f32);
    assert!(seconds.into_iter().any(is_late_below_another));
}

/// Whether a call of so much time is late below another; not if it ended before.
fn is_late_below_another(time: Duration) -> bool {
    let (served, behind) = (reacting(), Served::new(ServerStrategy::ThreadPerConnection));
    let short = behind.seen_by(&served.orb).with_timeout(time);
    let long = behind.seen_by(&served.orb);
    let order = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&order);
    served.state.on_act(move |_, v| {
        let answer = match v {
            0 => short.gate(),
            _ => long.gate(),
        };
        noted.lock().unwrap().push(v);
        answer.map(|()| v)
    });
    let (client, target) = served.client();
    let calls: Vec<_> = (0..2)
        .map(|v| {
            let own = target.clone();
            let call = orbium_testkit::spawn(move || own.act(v));
            let gate = &behind.state.gate;
            let is_there = || gate.waiting() == v as u64 + 1;
            eventually("it waits, or was over before", || {
                is_there() || !order.lock().unwrap().is_empty()
            });
            call
        })
        .collect();
    thread::sleep(2 * time);
    behind.state.gate.open();
    let mut answers = calls.into_iter().map(|call| call.join().unwrap());
    let late = answers.next().unwrap().unwrap_err();
    assert_eq!(late.kind, ExceptionKind::Timeout);
    assert_eq!(answers.next(), Some(Ok(1)));
    let is_below = *order.lock().unwrap() == [1, 0];
    assert!(!is_below || late.completed == Completion::Maybe);
    client.shutdown(true).unwrap();
    served.end();
    behind.end();
    is_below
}

#[test]
fn a_server_that_dies_is_noticed_by_waiting_callers() {
    let served = reacting();
    let dying = orbium_testkit::FakeServer::listen();
    let text = orbium_testkit::reference(2, &[dying.port()], b"x", &[]).to_string();
    let inner = orbium_testkit::reach(&served.orb, &text);
    served.state.on_act(move |_, v| inner.echo_long(v));
    let (client, target) = served.client();
    for round in 0..3 {
        let own = target.clone();
        let call = orbium_testkit::spawn(move || own.act(round));
        let mut peer = dying.accept();
        peer.expect_request("echo_long");
        let other = target.clone();
        assert_eq!(within("another", move || other.echo_long(7)), Ok(7));
        drop(peer);
        let lost = within("the call", move || call.join().unwrap()).unwrap_err();
        assert_eq!(lost.kind, ExceptionKind::CommFailure);
    }
    client.shutdown(true).unwrap();
    served.end();
}

/// What waits for one that ends is told so, and not left with a reactor that
/// nobody runs.
#[test]
fn an_orb_ends_while_its_thread_waits() {
    for _ in 0..10 {
        let (served, behind) = (reacting(), reacting());
        let (inner, own) = (behind.seen_by(&served.orb), served.target.clone());
        let (client, target) = served.client();
        let callers: Vec<_> = (0..4)
            .map(|_| {
                let (target, inner, own) = (target.clone(), inner.clone(), own.clone());
                orbium_testkit::spawn(move || {
                    loop {
                        if let Err(exception) = target.nest(Some(&inner), 5) {
                            return exception;
                        }
                        let _ = inner.nest(Some(&own), 3);
                    }
                })
            })
            .collect();
        eventually("calls go on", || served.state.calls() > 50);
        let orb = served.orb.clone();
        within("shutdown", move || orb.shutdown(true)).unwrap();
        for caller in callers {
            let exception: SystemException = within("a caller", move || caller.join().unwrap());
            assert!(exception.kind.name().len() > 1);
        }
        client.shutdown(true).unwrap();
        served.end();
        behind.end();
    }
}

/// Many that wait cost no processor time: no reply that has come for a wait
/// further down keeps those above it busy.
#[test]
fn no_thread_spins_while_replies_wait_for_their_turn() {
    let (served, behind) = (reacting(), Served::new(ServerStrategy::ThreadPerConnection));
    let (gated, quick) = (behind.seen_by(&served.orb), behind.seen_by(&served.orb));
    let first = Arc::new(Mutex::new(Some(quick)));
    let state = Arc::downgrade(&behind.state);
    behind.state.on_act(move |_, v| {
        let state = state.upgrade().unwrap();
        eventually("the other waits above", || state.gate.waiting() == 1);
        Ok(v)
    });
    let thread = Arc::new(Mutex::new(None));
    let own = Arc::clone(&thread);
    served.state.on_act(move |_, v| {
        *own.lock().unwrap() = fs::read_link("/proc/thread-self").ok();
        // Taken out of the lock before it waits.
        let quick = first.lock().unwrap().take();
        match quick {
            Some(quick) => quick.act(v),
            None => gated.gate().map(|()| v),
        }
    });
    let (client, target) = served.client();
    let calls: Vec<_> = (0..2)
        .map(|v| {
            let own = target.clone();
            let call = orbium_testkit::spawn(move || own.act(v));
            eventually("it has come", || behind.state.calls() == v as u64 + 1);
            call
        })
        .collect();
    behind.state.gate.await_waiting(1);
    // What the thread has used so far, where the system tells.
    let path = thread.lock().unwrap().take().unwrap_or_default();
    let path = Path::new("/proc").join(path).join("schedstat");
    let spent = || -> Option<u64> {
        let text = fs::read_to_string(&path).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    let before = spent();
    thread::sleep(Duration::from_millis(400));
    if let (Some(before), Some(after)) = (before, spent()) {
        assert!(after - before < 200_000_000, "{} ns", after - before);
    }
    behind.state.gate.open();
    for (v, call) in calls.into_iter().enumerate() {
        assert_eq!(call.join().unwrap(), Ok(v as i32));
    }
    client.shutdown(true).unwrap();
    served.end();
    behind.end();
}

#[test]
fn a_combination_without_a_reactor_is_refused_with_a_sentence() {
    each_strategy(|strategy| {
        let built = Orb::builder()
            .strategy(strategy)
            .client_strategy(ClientStrategy::Reactor)
            .build();
        match strategy {
            ServerStrategy::Reactive => assert!(built.is_ok()),
            _ => assert!(built.unwrap_err().to_string().contains("reactor")),
        }
    });
}
