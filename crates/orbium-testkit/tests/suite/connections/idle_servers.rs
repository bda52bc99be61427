// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servers that close connections over which nothing comes.

use std::thread;
use std::time::Duration;

use orbium::giop::{MessageKind, ResponseFlags};
use orbium::{
    Config, Orb,
    config::{Limits, ServerStrategy},
};
use orbium_testkit::{
    Gate, Peer, RequestLine, Served, calling_by, each_client_strategy, each_strategy, eventually,
    request, with_time_enough, within,
};

const TIME: Duration = Duration::from_millis(40);

fn closing(strategy: ServerStrategy, time: Duration) -> Served {
    Served::with(Config {
        strategy,
        limits: Limits {
            server_idle_time: Some(time),
            // With a thread per connection only this one closed a connection over which
            // nothing had come: after 30 s in place of the idle time.
            initial_idle_time: None,
            ..Limits::default()
        },
        ..Config::default()
    })
}

/// Asks, and waits until the request is at the gate; not so if the connection was
/// idle for too long before.
fn waits_at(gate: &Gate, peer: &mut Peer, request: &[u8]) -> bool {
    let is_sent = peer.try_send(request);
    eventually("the request waits, or came too late", || {
        gate.waiting() == 1 || !is_sent || !peer.is_silent(Duration::ZERO)
    });
    gate.waiting() == 1
}

/// Calls; not answered if the connection was idle for too long before.
fn is_answered(peer: &mut Peer, id: u32) -> bool {
    let is_sent = peer.try_send(&request(RequestLine::new(id, "noop"), |_| {}));
    let answer = is_sent.then(|| peer.try_receive()).flatten();
    answer.is_some_and(|it| it.kind() == MessageKind::Reply && it.reply().0 == id)
}

/// Conformance: connections - servers that close what is idle, without notice to callers
/// Conformance: complaint 7 - idle connections: no time-out in servers, one timer for each
/// transport, oneways special
#[test]
fn idle_connections_are_closed_in_order() {
    each_strategy(|strategy| {
        with_time_enough(TIME, |time| {
            let served = closing(strategy, time);
            let mut never_used = Peer::connect(served.port());
            let mut peer = Peer::connect(served.port());
            let in_time = is_answered(&mut peer, 2) && is_answered(&mut peer, 4);
            if in_time {
                for peer in [&mut never_used, &mut peer] {
                    peer.expect(MessageKind::CloseConnection);
                    peer.expect_end();
                }
            }
            served.end();
            in_time
        });
    });
}

/// Conformance: connections - servers that close what is idle, without notice to callers
/// Conformance: complaint 7 - idle connections: no time-out in servers, one timer for each
/// transport, oneways special
#[test]
fn a_connection_that_is_owed_an_answer_is_not_idle() {
    each_strategy(|strategy| {
        with_time_enough(TIME, |time| {
            let served = closing(strategy, time);
            let mut peer = Peer::connect(served.port());
            let gated = request(RequestLine::new(2, "gate"), |_| {});
            let in_time = waits_at(&served.state.gate, &mut peer, &gated);
            if in_time {
                assert!(peer.is_silent(5 * time), "closed under a request");
                served.state.gate.open();
                assert_eq!(peer.receive().reply().0, 2);
                peer.expect(MessageKind::CloseConnection);
            }
            served.end();
            in_time
        });
    });
}

/// Conformance: connections - servers that close what is idle, without notice to callers
#[test]
fn an_answer_owed_by_a_nested_call_keeps_the_connection() {
    each_strategy(|strategy| {
        with_time_enough(TIME, |time| {
            let served = closing(strategy, time);
            let behind = Served::new(ServerStrategy::ThreadPerConnection);
            let gated = behind.seen_by(&served.orb);
            served.state.on_act(move |_, v| gated.gate().map(|()| v));
            let mut peer = Peer::connect(served.port());
            let act = request(RequestLine::new(2, "act"), |w| w.write_u32(7));
            let in_time = waits_at(&behind.state.gate, &mut peer, &act);
            if in_time {
                assert!(peer.is_silent(5 * time), "closed under a nested call");
                behind.state.gate.open();
                assert_eq!(peer.receive().reply().0, 2);
            }
            served.end();
            behind.end();
            in_time
        });
    });
}

/// Calls at about the time at which the server closes: some meet a connection
/// that is just being closed.
///
/// Conformance: connections - servers that close what is idle, without notice to callers
/// Conformance: complaint 8 - the server's orderly close is read too late, and the caller sees
/// COMM_FAILURE
#[test]
fn no_caller_sees_that_idle_connections_are_closed() {
    each_strategy(|strategy| {
        each_client_strategy(|client_strategy| {
            let served = closing(strategy, TIME);
            let client = Orb::new(calling_by(client_strategy)).unwrap();
            let target = served.seen_by(&client);
            const ROUNDS: i32 = 12;
            within("calls now and then", move || {
                thread::scope(|scope| {
                    for caller in 0..4u32 {
                        let target = &target;
                        scope.spawn(move || {
                            for v in 0..ROUNDS {
                                assert_eq!(target.echo_long(v), Ok(v));
                                let part = (caller * 7 + v.unsigned_abs() * 5) % 16;
                                thread::sleep(TIME + part * TIME / 32);
                            }
                        });
                    }
                });
            });
            assert_eq!(served.state.calls(), 4 * ROUNDS.unsigned_abs() as u64);
            client.shutdown(true).unwrap();
            served.end();
        });
    });
}

/// Who was told that the connection ends sends again what it has not been
/// answered: it must not be done twice.
#[test]
fn requests_after_the_end_are_not_begun() {
    each_strategy(|strategy| {
        let served = closing(strategy, TIME);
        let mut late = Peer::connect(served.port());
        late.expect(MessageKind::CloseConnection);
        let oneway = RequestLine {
            response: ResponseFlags::None,
            ..RequestLine::new(2, "post")
        };
        late.try_send(&request(oneway, |w| w.write_u32(7)));
        late.try_send(&request(RequestLine::new(4, "noop"), |_| {}));
        let (client, target) = served.client();
        for v in 0..10 {
            assert_eq!(target.echo_long(v), Ok(v));
        }
        assert_eq!(served.state.calls(), 10);
        assert!(served.state.posted().is_empty());
        client.shutdown(true).unwrap();
        served.end();
    });
}

#[test]
fn no_time_at_all_is_refused_with_a_sentence() {
    let limits = Limits {
        server_idle_time: Some(Duration::ZERO),
        ..Limits::default()
    };
    let refused = Orb::builder().limits(limits).build().unwrap_err();
    assert!(refused.to_string().contains("server_idle_time"));
}
