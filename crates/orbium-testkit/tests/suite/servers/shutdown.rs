// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shutdown of an ORB.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use orbium::giop::{MessageKind, ReplyStatus, ResponseFlags, SystemException, minor};
use orbium::{
    Completion, Config, ExceptionKind, Interface, Orb,
    config::{Limits, ServerStrategy},
    transport::Transport,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Gate, Peer, RequestLine, Served, TargetState, client, descriptors, each_strategy,
    eventually, in_own_process, reach, reference, request, spawn_blocked, threads, within,
};
use orbium_transport::{
    Acceptor, Connector, Endpoint, EndpointError, ListenError, ProtocolProperties, StreamTransport,
    Tcp,
};

fn shut_down(orb: &Orb) {
    let orb = orb.clone();
    within("shutdown", move || orb.shutdown(true)).unwrap();
}

/// Conformance: connections - orderly end of a server
#[test]
fn a_request_in_flight_is_answered_before_the_end() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        let call = orbium_testkit::spawn(move || target.gate());
        served.state.gate.await_waiting(1);
        served.orb.shutdown(false).unwrap();
        served.state.gate.open();
        assert_eq!(within("the call", move || call.join().unwrap()), Ok(()));
        assert_eq!(served.state.calls(), 1);
        shut_down(&served.orb);
    });
}

/// Conformance: connections - orderly end of a server
/// Conformance: TAO 34 - shutdown from anywhere, with calls pending, again and again
#[test]
fn a_nested_request_in_flight_is_answered_before_the_end() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let behind = FakeServer::listen();
        let slow = reach(
            &served.orb,
            &reference(2, &[behind.port()], b"x", &[]).to_string(),
        );
        served.state.on_act(move |_, v| slow.echo_long(v));
        let (_client, target) = served.client();
        let call = orbium_testkit::spawn(move || target.act(3));
        let mut peer = behind.accept();
        let request = peer.expect_request("echo_long");
        served.orb.shutdown(false).unwrap();
        // The end has begun when no new connection is taken.
        thread::sleep(Duration::from_millis(50));
        peer.answer(&request, |w| w.write_u32(33));
        assert_eq!(within("the call", move || call.join().unwrap()), Ok(33));
        assert_eq!(served.state.calls(), 1, "the request was served twice");
        shut_down(&served.orb);
    });
}

/// Requests of one connection were refused as long as they arrived, even after its last reply.
#[test]
fn a_client_that_sends_on_and_on_does_not_keep_a_server_from_ending() {
    let served = Served::new(ServerStrategy::WorkerPool {
        workers: 1,
        queue: 1,
    });
    let mut peer = Peer::connect(served.port());
    peer.send(&request(RequestLine::new(2, "gate"), |_| {}));
    served.state.gate.await_waiting(1);
    let oneway = RequestLine {
        response: ResponseFlags::None,
        ..RequestLine::new(4, "post")
    };
    let some = request(oneway, |writer| writer.write_u32(1)).repeat(1000);
    let flood = thread::spawn(move || while peer.try_send(&some) {});
    served.orb.shutdown(false).unwrap();
    served.state.gate.open();
    shut_down(&served.orb);
    within("the flood", move || flood.join().unwrap());
}

/// Conformance: connections - orderly end of a server
#[test]
fn idle_connections_get_close_connection() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peers: Vec<Peer> = (0..10).map(|_| Peer::connect(served.port())).collect();
        for peer in &mut peers {
            peer.send(&request(RequestLine::new(2, "noop"), |_| {}));
            assert_eq!(peer.receive().reply().1, ReplyStatus::NoException);
        }
        shut_down(&served.orb);
        for peer in &mut peers {
            peer.expect(MessageKind::CloseConnection);
            peer.expect_end();
        }
    });
}

/// Conformance: connections - orderly end of a server
#[test]
fn calls_after_the_end_of_the_server_are_transient() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        target.noop().unwrap();
        shut_down(&served.orb);
        let exception = target.noop().unwrap_err();
        assert_eq!(exception.kind, ExceptionKind::Transient);
        assert_eq!(exception.completed, Completion::No);
        assert_eq!(served.state.calls(), 1);
    });
}

/// Conformance: ORB - `shutdown`
#[test]
fn an_orb_that_ended_refuses_whatever_is_asked_of_it() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (client, target) = served.client();
        target.noop().unwrap();
        shut_down(&client);
        let ended = SystemException::omg(ExceptionKind::BadInvOrder, 4, Completion::No);
        assert_eq!(target.noop(), Err(ended));
        assert_eq!(target.post(1), Err(ended));
        assert_eq!(client.run(), Err(ended));
        assert_eq!(client.work_pending(), Err(ended));
        assert_eq!(client.perform_work(), Err(ended));
        assert_eq!(client.addresses(), Err(ended));
        assert_eq!(client.shutdown(true), Ok(()));
        served.end();
    });
}

/// Conformance: ORB - `shutdown`
/// Conformance: TAO 34 - shutdown from anywhere, with calls pending, again and again
#[test]
fn waiting_for_the_end_from_within_a_request_is_refused_and_not_waiting_is_not() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        let orb = served.orb.clone();
        served.state.on_act(move |_, wait| {
            orb.shutdown(wait != 0)?;
            Ok(wait)
        });
        let deadlock = SystemException::omg(ExceptionKind::BadInvOrder, 3, Completion::No);
        assert_eq!(target.act(1), Err(deadlock));
        assert_eq!(target.echo_long(5), Ok(5));
        let orb = served.orb.clone();
        let (running, runs) = channel();
        let run = orbium_testkit::spawn(move || {
            running.send(()).unwrap();
            orb.run()
        });
        runs.recv().unwrap();
        assert_eq!(target.act(0), Ok(0));
        // The ORB may have ended before the thread came to run it.
        let _ = within("run", move || run.join().unwrap());
        shut_down(&served.orb);
    });
}

/// Conformance: ORB - `run`
#[test]
fn run_returns_at_the_end_on_every_thread() {
    let served = Served::new(ServerStrategy::default());
    let runs: Vec<_> = (0..4)
        .map(|_| {
            let orb = served.orb.clone();
            orbium_testkit::spawn(move || orb.run())
        })
        .collect();
    let (_client, target) = served.client();
    target.noop().unwrap();
    shut_down(&served.orb);
    for run in runs {
        // BAD_INV_ORDER if the thread started after the end.
        let _ = within("run", move || run.join().unwrap());
    }
}

/// The last reference to a servant is dropped by the request that it serves, once
/// the object is deactivated.
///
/// Conformance: TAO 34 - shutdown from anywhere, with calls pending, again and again - in a
/// servant's destructor
/// Conformance: complaint 27 - deadlocks and leaks at the end
/// Conformance: complaint 34 - a hidden lock is held during the user's callback
#[test]
fn the_destructor_of_a_servant_may_end_its_orb() {
    struct Ends(Orb);
    impl Drop for Ends {
        fn drop(&mut self) {
            let _ = self.0.shutdown(false);
        }
    }
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let ends = Ends(served.orb.clone());
        let state = TargetState::default();
        state.on_act(move |call, v| {
            let Ends(_) = &ends;
            call.poa().deactivate(call.object_id()).unwrap();
            Ok(v)
        });
        let object: Target = served.orb.root_poa().activate(Arc::new(state)).unwrap();
        let client = client();
        let target = reach(&client, &served.orb.object_to_string(&object));
        drop(object);
        assert_eq!(target.act(5), Ok(5));
        eventually("the ORB has ended", || served.orb.addresses().is_err());
        shut_down(&served.orb);
    });
}

/// The panic left the ORB ending for ever: threads in `run` and later calls of `shutdown` waited for
/// its end, and the other objects stayed.
#[test]
fn a_servant_that_panics_when_it_is_dropped_does_not_keep_its_orb_from_ending() {
    struct Panics(Arc<AtomicUsize>);
    impl Drop for Panics {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
            panic!("a destructor");
        }
    }
    let served = Served::new(ServerStrategy::default());
    let dropped = Arc::<AtomicUsize>::default();
    for _ in 0..2 {
        let panics = Panics(Arc::clone(&dropped));
        let state = TargetState::default();
        state.on_act(move |_, v| {
            let Panics(_) = &panics;
            Ok(v)
        });
        let activated = served.orb.root_poa().activate::<Target, _>(Arc::new(state));
        activated.unwrap();
    }
    let orb = served.orb.clone();
    let run = spawn_blocked(move || orb.run());
    shut_down(&served.orb);
    within("run", move || run.join().unwrap()).unwrap();
    assert_eq!(dropped.load(Ordering::SeqCst), 2);
}

/// Conformance: ORB - `shutdown`
/// Conformance: complaint 27 - deadlocks and leaks at the end
#[test]
fn shutdown_within_a_collocated_request_does_not_wait_for_itself() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let orb = served.orb.clone();
        served
            .state
            .on_act(move |_, _| orb.shutdown(true).map(|()| 0));
        let target = served.target.clone();
        let deadlock = SystemException::omg(ExceptionKind::BadInvOrder, 3, Completion::No);
        assert_eq!(
            within("the local call", move || target.act(1)),
            Err(deadlock)
        );
        shut_down(&served.orb);
    });
}

/// Conformance: ORB - `shutdown`
#[test]
fn callers_that_wait_for_a_free_connection_are_not_forgotten_at_the_end() {
    let server = FakeServer::listen();
    let client = Orb::new(Config {
        limits: Limits {
            connections_per_server: 1,
            ..Limits::default()
        },
        ..Config::default()
    })
    .unwrap();
    let target = reach(
        &client,
        &reference(2, &[server.port()], b"x", &[]).to_string(),
    );
    let calls: Vec<_> = (0..4)
        .map(|v| {
            let target = target.clone();
            spawn_blocked(move || target.echo_long(v))
        })
        .collect();
    let mut peer = server.accept();
    let request = peer.expect_request("echo_long");
    shut_down(&client);
    peer.answer(&request, |w| w.write_u32(1));
    drop(server);
    drop(peer);
    for call in calls {
        // One was answered; what the others are told is not the point.
        let _ = within("a waiting call", move || call.join().unwrap());
    }
}

/// Conformance: POA - managers: HOLDING, and how many are held - for how long
/// Conformance: ORB - `shutdown`
/// Conformance: TAO 34 - shutdown from anywhere, with calls pending, again and again
#[test]
fn held_requests_are_answered_at_the_end() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        target.noop().unwrap();
        served
            .orb
            .root_poa()
            .manager()
            .hold_requests(false)
            .unwrap();
        let call = orbium_testkit::spawn(move || target.noop());
        let manager = served.orb.root_poa().manager();
        eventually("the call is held", || manager.held_requests() == 1);
        shut_down(&served.orb);
        let exception = within("the held call", move || call.join().unwrap()).unwrap_err();
        assert_eq!(exception.completed, Completion::No);
        assert_eq!(served.state.calls(), 1);
    });
}

/// Conformance: ORB - nothing is left
/// Conformance: TAO 32 - connects and disconnects leave nothing
/// Conformance: TAO 34 - shutdown from anywhere, with calls pending, again and again
/// Conformance: complaint 27 - deadlocks and leaks at the end
#[test]
fn fifty_cycles_leave_no_thread_and_no_descriptor() {
    in_own_process!(|| {
        // What the process keeps for itself is there after one cycle.
        let cycle = |strategy| {
            let served = Served::new(strategy);
            let (client, target) = served.client();
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| target.noop().unwrap());
                }
            });
            let below = served.seen_by(&served.orb);
            target.nest(Some(&below), 1).unwrap();
            shut_down(&client);
            shut_down(&served.orb);
        };
        each_strategy(|strategy| {
            cycle(strategy);
            let mut threads_before = 0;
            let mut stable = 0;
            eventually("the threads of other tests have ended", || {
                let now = threads();
                stable = if now == threads_before { stable + 1 } else { 0 };
                threads_before = now;
                stable > 20
            });
            let before = descriptors();
            for _ in 0..50 {
                cycle(strategy);
            }
            eventually("no descriptor is left", || descriptors() <= before);
            eventually("no thread is left", || threads() <= threads_before);
        });
    });
}

/// Conformance: ORB - `destroy`
#[test]
fn an_orb_that_is_dropped_stops_listening() {
    in_own_process!(|| {
        each_strategy(|strategy| {
            let (port, weak) = {
                let orb = Orb::new(Config {
                    endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
                    strategy,
                    ..Config::default()
                })
                .unwrap();
                (orb.addresses().unwrap()[0].port, descriptors())
            };
            assert!(weak > 0);
            eventually("the port is free again", || {
                std::net::TcpListener::bind(("127.0.0.1", port)).is_ok()
            });
        });
    });
}

/// The initial reference held its own ORB, which went on listening without a way to reach it.
#[test]
fn an_orb_with_an_initial_reference_to_its_own_object_stops_listening_when_it_is_dropped() {
    let port = {
        let served = Served::new(ServerStrategy::default());
        let orb = &served.orb;
        orb.register_initial_reference("Own", &served.target)
            .unwrap();
        let found = orb.resolve_initial_references("Own").unwrap();
        assert_eq!(found.ior(), served.target.as_object().ior());
        orb.addresses().unwrap()[0].port
    };
    eventually("the port is free again", || {
        std::net::TcpListener::bind(("127.0.0.1", port)).is_ok()
    });
}

/// Conformance: connections - orderly end of a server
#[test]
fn calls_after_a_shutdown_are_refused_connections() {
    let served = Served::new(ServerStrategy::default());
    let client = client();
    let target = served.seen_by(&client);
    shut_down(&served.orb);
    let refused = SystemException::orbium(
        ExceptionKind::Transient,
        minor::CONNECT_REFUSED,
        Completion::No,
    );
    assert_eq!(target.noop(), Err(refused));
}

/// TCP that waits at a gate before it listens.
#[derive(Debug)]
struct Gated(Arc<Gate>);

impl StreamTransport for Gated {
    fn scheme(&self) -> &'static str {
        Tcp.scheme()
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError> {
        self.0.pass();
        Tcp.listen(endpoint, properties)
    }

    fn connector(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError> {
        Tcp.connector(address, properties)
    }
}

/// It listened on, with its threads, behind the end.
///
/// Conformance: ORB - `shutdown`
#[test]
fn an_orb_that_ends_before_it_listens_does_not_begin_to() {
    let gate = Arc::new(Gate::default());
    let gated = Transport::stream(Gated(Arc::clone(&gate)));
    let orb = Orb::builder().transport(gated).build().unwrap();
    let begins = orb.clone();
    let begins = orbium_testkit::spawn(move || begins.addresses());
    gate.await_waiting(1);
    shut_down(&orb);
    gate.open();
    let ended = SystemException::omg(ExceptionKind::BadInvOrder, 4, Completion::No);
    assert_eq!(begins.join().unwrap(), Err(ended));
    eventually("its threads end", || {
        let lanes = orb.lane_snapshots().entries;
        lanes.iter().all(|lane| lane.threads == 0)
    });
}
