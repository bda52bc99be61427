// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants that call out while they serve.

use std::sync::Arc;
use std::thread;

use orbium::giop::ReplyStatus;
use orbium::{
    Config, Interface, SystemException,
    config::{Limits, ServerStrategy},
};
use orbium_testkit::{
    Peer, RequestLine, Served, each_strategy, eventually, in_own_process, request, threads, within,
};

/// A calls B calls A …, so deep.
fn chain(strategy: ServerStrategy, depth: i32) {
    let (a, b) = (Served::new(strategy), Served::new(strategy));
    let (a_in_b, b_in_a) = (a.seen_by(&b.orb), b.seen_by(&a.orb));
    // A's object, given to the object in B as an argument, travels back.
    let from_a = a.target.clone();
    assert_eq!(
        within("a chain", move || b_in_a.nest(Some(&from_a), depth)),
        Ok(depth)
    );
    let from_b = b.target.clone();
    assert_eq!(
        within("a chain back", move || a_in_b.nest(Some(&from_b), depth)),
        Ok(depth)
    );
    let expected = 2 * (depth as u64 + 1);
    assert_eq!(a.state.calls() + b.state.calls(), expected);
    a.end();
    b.end();
}

/// Conformance: TAO 2 - chains of nested calls from many threads complete
#[test]
fn a_chain_of_ten_completes() {
    each_strategy(|strategy| chain(strategy, 10));
}

/// Conformance: TAO 2 - chains of nested calls from many threads complete
#[test]
fn a_chain_of_fifty_completes() {
    each_strategy(|strategy| chain(strategy, 50));
}

/// Conformance: TAO 2 - chains of nested calls from many threads complete
#[test]
fn chains_from_many_threads_complete() {
    each_strategy(|strategy| {
        let (a, b) = (Served::new(strategy), Served::new(strategy));
        let b_in_a = b.seen_by(&a.orb);
        let from_a = a.target.clone();
        within("many chains", move || {
            thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        for depth in [1, 5, 10] {
                            assert_eq!(b_in_a.nest(Some(&from_a), depth), Ok(depth));
                        }
                    });
                }
            });
        });
        a.end();
        b.end();
    });
}

/// Conformance: TAO 2 - chains of nested calls from many threads complete
#[test]
fn a_chain_through_collocated_objects_completes() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        let own = served.target.clone();
        // The object calls itself within the process, from inside a request.
        let down = own.clone();
        served.state.on_act(move |_, depth| {
            if depth == 0 {
                return Ok(0);
            }
            Ok(down.act(depth - 1)? + 1)
        });
        assert_eq!(within("a local chain", move || target.act(20)), Ok(20));
        drop(own);
        served.end();
    });
}

/// The scripted client is both the caller and the object that is called back,
/// and it sends everything over one connection.
///
/// Conformance: TAO 4 - threads that call before the event loop starts - hand-over of a serving
/// thread's role
#[test]
fn requests_on_one_connection_are_served_while_an_earlier_one_waits() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        // A thread per connection there: its servant blocks without the ORB.
        let gated = Served::new(ServerStrategy::ThreadPerConnection);
        let behind = gated.seen_by(&served.orb);
        served.state.on_act(move |_, v| {
            // Blocks in a call until the test lets it go on.
            behind.gate()?;
            Ok(v)
        });
        let mut peer = Peer::connect(served.port());
        const DEPTH: u32 = 50;
        for id in 0..DEPTH {
            peer.send(&request(RequestLine::new(2 * id, "act"), |w| {
                w.write_u32(id);
            }));
        }
        // All of them wait in their nested calls, and yet:
        gated.state.gate.await_waiting(DEPTH.into());
        peer.send(&request(RequestLine::new(1000, "echo_long"), |w| {
            w.write_u32(7);
        }));
        let (id, status, body) = peer.receive().reply();
        assert_eq!((id, status), (1000, ReplyStatus::NoException));
        assert_eq!(body, 7u32.to_ne_bytes());
        gated.state.gate.open();
        let mut answered: Vec<u32> = (0..DEPTH)
            .map(|_| {
                let (id, status, body) = peer.receive().reply();
                assert_eq!(status, ReplyStatus::NoException);
                assert_eq!(body, (id / 2).to_ne_bytes());
                id / 2
            })
            .collect();
        answered.sort_unstable();
        assert_eq!(answered, (0..DEPTH).collect::<Vec<_>>());
        served.end();
        gated.end();
    });
}

/// Conformance: TAO 15 - different GIOP versions in parallel share no state - several requests at
/// once on one connection
/// Conformance: TAO 16 - several requests in one read, none lost
#[test]
fn many_pipelined_requests_each_with_a_nested_call_are_all_answered_once() {
    each_strategy(|strategy| {
        let (front, back) = (Served::new(strategy), Served::new(strategy));
        let behind = back.seen_by(&front.orb);
        front.state.on_act(move |_, v| behind.echo_long(v));
        let mut peer = Peer::connect(front.port());
        const COUNT: u32 = 300;
        let octets: Vec<u8> = (0..COUNT)
            .flat_map(|id| request(RequestLine::new(id, "act"), |w| w.write_u32(id)))
            .collect();
        peer.send(&octets);
        let mut answered: Vec<u32> = (0..COUNT)
            .map(|_| {
                let (id, status, body) = peer.receive().reply();
                assert_eq!(
                    (status, &body[..]),
                    (ReplyStatus::NoException, &id.to_ne_bytes()[..])
                );
                id
            })
            .collect();
        answered.sort_unstable();
        answered.dedup();
        assert_eq!(answered.len(), COUNT as usize);
        front.end();
        back.end();
    });
}

/// One client's pipelined requests took a thread each for as long as their servants waited, with a
/// thread per connection and with a reactor.
///
/// Conformance: ORB - serving strategies with bounds: threads in nested calls, TRANSIENT beyond
#[test]
fn threads_in_nested_calls_are_limited_and_requests_beyond_are_refused() {
    const REQUESTS: u32 = 100;
    const THREADS: u32 = 8;
    each_strategy(|strategy| {
        let limits = Limits {
            serving_threads: THREADS as usize,
            ..Limits::default()
        };
        let served = Served::with(Config {
            strategy,
            limits,
            ..Config::default()
        });
        let gated = Served::new(ServerStrategy::ThreadPerConnection);
        let behind = gated.seen_by(&served.orb);
        served.state.on_act(move |_, v| {
            behind.gate()?;
            Ok(v)
        });
        let act = |id| request(RequestLine::new(id, "act"), |w| w.write_u32(id));
        let mut peer = Peer::connect(served.port());
        let octets: Vec<u8> = (0..REQUESTS).flat_map(act).collect();
        peer.send(&octets);
        for _ in THREADS..REQUESTS {
            let (_, status, body) = peer.receive().reply();
            assert_eq!(status, ReplyStatus::SystemException);
            assert!(String::from_utf8_lossy(&body).contains("TRANSIENT"));
        }
        gated.state.gate.await_waiting(THREADS.into());
        // One that reads, and one that accepts.
        let threads = served.orb.lane_snapshots().entries[0].threads;
        assert!(threads <= THREADS as usize + 2, "{threads}");
        assert!(served.orb.refused_requests() >= u64::from(REQUESTS - THREADS));
        if strategy == ServerStrategy::ThreadPerConnection {
            let mut other = Peer::connect(served.port());
            other.send(&request(RequestLine::new(1, "noop"), |_| {}));
            assert_eq!(other.receive().reply().1, ReplyStatus::NoException);
        }
        gated.state.gate.open();
        for _ in 0..THREADS {
            let status = peer.receive().reply().1;
            assert_eq!(status, ReplyStatus::NoException);
        }
        // A thread is counted for a moment longer than its reply takes.
        eventually("requests are served again", || {
            peer.send(&act(REQUESTS));
            peer.receive().reply().1 == ReplyStatus::NoException
        });
        served.end();
        gated.end();
    });
}

/// Conformance: TAO 8 - oneways with upcalls that call back do not exhaust threads
#[test]
fn oneways_with_upcalls_that_call_back_do_not_pile_up_threads() {
    in_own_process!(|| {
        each_strategy(|strategy| {
            let (a, b) = (Served::new(strategy), Served::new(strategy));
            let b_in_a = b.seen_by(&a.orb);
            const COUNT: u64 = 500;
            for _ in 0..COUNT {
                b_in_a.post_nest(Some(&a.target)).unwrap();
            }
            eventually("every oneway called back", || a.state.calls() == COUNT);
            // At most one per connection of the bounded cache, and a few.
            assert!(threads() < 600, "{} threads", threads());
            a.end();
            b.end();
        });
    });
}

/// Conformance: robustness - a peer that dies in a nested call
/// Conformance: TAO 3 - a peer that dies in mid nested upcall harms no other call
/// Conformance: TAO 9 - a call-back to a dead peer is an exception, the server lives
#[test]
fn a_peer_that_dies_in_a_nested_call_costs_only_that_call() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let server = orbium_testkit::FakeServer::listen();
        let ior = orbium_testkit::reference(2, &[server.port()], b"x", &[]);
        let (_client, target) = served.client();
        let client = orbium_testkit::client();
        let dying = orbium_testkit::reach(&client, &ior.to_string());
        let caller = {
            let (target, dying) = (target.clone(), dying.clone());
            orbium_testkit::spawn(move || target.nest(Some(&dying), 1))
        };
        let mut peer = server.accept();
        peer.expect_request("nest");
        drop(peer);
        let exception: SystemException = caller.join().unwrap().unwrap_err();
        assert_eq!(exception.kind, orbium::ExceptionKind::CommFailure);
        assert_eq!(target.echo_long(1).unwrap(), 1);
        assert_eq!(dying.as_object().orb(), &client);
        served.end();
    });
}

/// Conformance: ORB - `run`
/// Conformance: TAO 1 - `run` within an upcall makes progress
/// Conformance: complaint 34 - a hidden lock is held during the user's callback
#[test]
fn run_may_be_called_within_a_request() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        let state = Arc::clone(&served.state);
        let orb = served.orb.clone();
        state.on_act(move |_, v| {
            orb.run()?;
            Ok(v)
        });
        let first = {
            let target = target.clone();
            orbium_testkit::spawn(move || target.act(1))
        };
        eventually("the request runs", || served.state.calls() == 1);
        // Others are served meanwhile.
        for i in 0..10 {
            assert_eq!(target.echo_long(i).unwrap(), i);
        }
        served.orb.shutdown(false).unwrap();
        // The request goes on and is answered before the ORB ends.
        assert_eq!(
            within("the outer request", move || first.join().unwrap()),
            Ok(1)
        );
        served.end();
    });
}
