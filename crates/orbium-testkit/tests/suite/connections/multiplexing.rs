// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that share a connection, against a scripted server.

use std::thread::JoinHandle;
use std::time::Duration;

use orbium::giop::{CancelRequest, MessageKind, ReplyStatus, Version, message_error, minor};
use orbium::{
    Completion, Config, ExceptionKind, Interface, Orb, SystemException,
    config::{ClientStrategy, GiopMinor, Limits},
    diagnostics::last_failure,
};
use orbium_cdr::ByteOrder;
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Peer, Request, each_client_strategy, reach, reference, reply, within,
};

/// Enough to begin to send, on a machine with much else to do.
const SHORT: Duration = Duration::from_millis(300);

fn each_shared(test: impl Fn(ClientStrategy)) {
    each_client_strategy(|strategy| {
        if strategy.is_multiplexed() {
            test(strategy);
        }
    });
}

struct Scripted {
    server: FakeServer,
    client: Orb,
    target: Target,
}

impl Scripted {
    fn new(strategy: ClientStrategy) -> Self {
        Self::with(Config {
            client_strategy: strategy,
            ..Config::default()
        })
    }

    fn with(config: Config) -> Self {
        let server = FakeServer::listen();
        let minor = config.giop_minor.number();
        let client = Orb::new(config).unwrap();
        let text = reference(minor, &[server.port()], b"x", &[]).to_string();
        let target = reach(&client, &text);
        Self {
            server,
            client,
            target,
        }
    }

    /// Connected in advance, so that a short time is left for the call itself.
    fn connected(strategy: ClientStrategy) -> Self {
        let scripted = Self::new(strategy);
        scripted.target.as_object().connect().unwrap();
        scripted
    }

    fn call(&self, v: i32) -> Call {
        call(&self.target, v)
    }

    /// The connection over which so many calls that were begun have come, by
    /// their arguments.
    fn take(&self, count: usize) -> (Peer, Vec<Request>) {
        let mut peer = self.server.accept();
        let requests = (0..count).map(|_| peer.expect_request("echo_long"));
        let mut requests: Vec<_> = requests.collect();
        requests.sort_by_key(argument);
        (peer, requests)
    }

    fn end(self) {
        let client = self.client;
        within("the client's end", move || client.shutdown(true)).unwrap();
    }
}

type Call = JoinHandle<Result<i32, SystemException>>;

fn call(target: &Target, v: i32) -> Call {
    let target = target.clone();
    orbium_testkit::spawn(move || target.echo_long(v))
}

fn argument(request: &Request) -> u32 {
    u32::from_ne_bytes(*request.body.first_chunk().unwrap())
}

#[track_caller]
fn result(call: Call) -> Result<i32, SystemException> {
    within("the call", move || call.join().unwrap())
}

fn lost(completed: Completion) -> SystemException {
    SystemException::orbium(
        ExceptionKind::CommFailure,
        minor::CONNECTION_LOST,
        completed,
    )
}

/// Conformance: connections - connections shared by calls: each its own reply, in any order, in
/// fragments that are mixed, in GIOP 1.0 to 1.2
#[test]
fn calls_share_one_connection_and_each_gets_its_own_reply() {
    each_shared(|strategy| {
        let scripted = Scripted::new(strategy);
        let calls: Vec<_> = (0..20).map(|v| scripted.call(v)).collect();
        let (mut peer, requests) = scripted.take(20);
        for request in requests.iter().rev() {
            peer.answer(request, |w| w.write_u32(argument(request) + 100));
        }
        for (v, call) in (100..).zip(calls) {
            assert_eq!(result(call), Ok(v));
        }
        assert!(scripted.server.accept_at_once().is_none());
        scripted.end();
        peer.expect(MessageKind::CloseConnection);
        peer.expect_end();
    });
}

/// Conformance: connections - connections shared by calls: each its own reply, in any order, in
/// fragments that are mixed, in GIOP 1.0 to 1.2
#[test]
fn replies_in_one_piece_and_in_many_reach_their_callers() {
    for minor in 0..=2 {
        each_shared(|strategy| {
            let scripted = Scripted::with(Config {
                client_strategy: strategy,
                giop_minor: GiopMinor::new(minor).unwrap(),
                ..Config::default()
            });
            let calls: Vec<_> = (0..8).map(|v| scripted.call(v)).collect();
            let (mut peer, requests) = scripted.take(8);
            let replies: Vec<u8> = requests
                .iter()
                .flat_map(|request| {
                    let id = request.id;
                    reply(minor, ByteOrder::Big, id, ReplyStatus::NoException, |w| {
                        w.write_u32(argument(request));
                    })
                })
                .collect();
            let (whole, trickled) = replies.split_at(replies.len() / 2);
            peer.send(whole);
            trickled.iter().for_each(|octet| peer.send(&[*octet]));
            for (v, call) in (0..).zip(calls) {
                assert_eq!(result(call), Ok(v));
            }
            scripted.end();
        });
    }
}

/// Conformance: connections - shared: a call that is given up leaves the connection to the others
#[test]
fn a_call_that_is_given_up_leaves_the_connection_to_the_others() {
    each_shared(|strategy| {
        let scripted = Scripted::connected(strategy);
        let hurried = call(&scripted.target.with_timeout(SHORT), 0);
        let patient = scripted.call(1);
        let (mut peer, requests) = scripted.take(2);
        let passed = SystemException::orbium(
            ExceptionKind::Timeout,
            minor::DEADLINE_PASSED,
            Completion::Maybe,
        );
        assert_eq!(result(hurried), Err(passed));
        let cancelled = peer.expect(MessageKind::CancelRequest).cancelled();
        assert_eq!(cancelled, requests[0].id);
        // A late reply, and one that was never asked for, are discarded.
        peer.answer(&requests[0], |w| w.write_u32(666));
        let stray = reply(2, ByteOrder::NATIVE, 4711, ReplyStatus::NoException, |_| {});
        peer.send(&stray);
        peer.answer(&requests[1], |w| w.write_u32(7));
        assert_eq!(result(patient), Ok(7));
        for v in 0..3 {
            let call = scripted.call(v);
            let request = peer.expect_request("echo_long");
            assert_ne!(request.id, requests[0].id);
            peer.answer(&requests[0], |w| w.write_u32(667));
            peer.answer(&request, |w| w.write_u32(8));
            assert_eq!(result(call), Ok(8));
        }
        scripted.end();
    });
}

/// Conformance: connections - shared: a call that is given up leaves the connection to the others
#[test]
fn many_that_give_up_while_one_waits_cost_it_nothing() {
    each_shared(|strategy| {
        let scripted = Scripted::new(strategy);
        let patient = scripted.call(0);
        let (mut peer, first) = scripted.take(1);
        for round in 0..3 {
            let hurried: Vec<_> = (0..10)
                .map(|v| call(&scripted.target.with_timeout(SHORT / 3), v))
                .collect();
            for call in hurried {
                assert_eq!(result(call).unwrap_err().kind, ExceptionKind::Timeout);
            }
            assert!(!patient.is_finished(), "round {round}");
        }
        peer.answer(&first[0], |w| w.write_u32(5));
        assert_eq!(result(patient), Ok(5));
        scripted.end();
    });
}

/// Conformance: connections - shared: its end reaches every caller
#[test]
fn a_peer_that_dies_ends_all_calls_and_the_next_connect_anew() {
    each_shared(|strategy| {
        let scripted = Scripted::new(strategy);
        let calls: Vec<_> = (0..10).map(|v| scripted.call(v)).collect();
        let (peer, _) = scripted.take(10);
        drop(peer);
        for call in calls {
            assert_eq!(result(call), Err(lost(Completion::Maybe)));
        }
        assert!(scripted.server.accept_at_once().is_none(), "sent again");
        let call = scripted.call(1);
        let (mut peer, requests) = scripted.take(1);
        peer.answer(&requests[0], |w| w.write_u32(2));
        assert_eq!(result(call), Ok(2));
        scripted.end();
    });
}

/// Conformance: connections - shared: its end reaches every caller
#[test]
fn a_peer_that_dies_within_a_reply_ends_all_calls() {
    each_shared(|strategy| {
        let scripted = Scripted::new(strategy);
        let calls: Vec<_> = (0..4).map(|v| scripted.call(v)).collect();
        let (mut peer, requests) = scripted.take(4);
        let id = requests[0].id;
        let whole = reply(2, ByteOrder::NATIVE, id, ReplyStatus::NoException, |w| {
            w.write_u32(1);
        });
        peer.send(&whole[..whole.len() - 1]);
        drop(peer);
        for call in calls {
            assert_eq!(result(call), Err(lost(Completion::Maybe)));
        }
        scripted.end();
    });
}

/// Conformance: connections - shared: its end reaches every caller
#[test]
fn an_orderly_close_sends_all_unanswered_requests_again() {
    each_shared(|strategy| {
        let scripted = Scripted::new(strategy);
        let calls: Vec<_> = (0..10).map(|v| scripted.call(v)).collect();
        let (mut first, requests) = scripted.take(10);
        for request in &requests[..3] {
            first.answer(request, |w| w.write_u32(argument(request)));
        }
        first.close();
        let (mut second, again) = scripted.take(7);
        assert_eq!(
            again.iter().map(argument).collect::<Vec<_>>(),
            (3..10).collect::<Vec<_>>()
        );
        for request in &again {
            second.answer(request, |w| w.write_u32(argument(request)));
        }
        for (v, call) in (0..).zip(calls) {
            assert_eq!(result(call), Ok(v));
        }
        scripted.end();
    });
}

/// Conformance: connections - shared: its end reaches every caller
#[test]
fn a_connection_closed_in_order_while_idle_is_replaced_without_notice() {
    each_shared(|strategy| {
        let scripted = Scripted::new(strategy);
        for round in 0..3 {
            let calls: Vec<_> = (0..4).map(|v| scripted.call(v)).collect();
            // Those that met the old connection come to the new one too.
            let (mut peer, requests) = scripted.take(4);
            for request in &requests {
                peer.answer(request, |w| w.write_u32(round));
            }
            for call in calls {
                assert_eq!(result(call), Ok(round.cast_signed()));
            }
            peer.close();
        }
        scripted.end();
    });
}

/// Conformance: connections - shared: its end reaches every caller
#[test]
fn malformed_messages_and_message_error_end_all_calls() {
    let garbage = (&b"HTTP/1.1 200 OK\r\n\r\n"[..], minor::PROTOCOL_ERROR);
    let error = &message_error(Version::V1_2)[..];
    for (octets, code) in [garbage, (error, minor::MESSAGE_ERROR)] {
        each_shared(|strategy| {
            let scripted = Scripted::new(strategy);
            let calls: Vec<_> = (0..5).map(|v| scripted.call(v)).collect();
            let (mut peer, _) = scripted.take(5);
            peer.send(octets);
            let ended =
                SystemException::orbium(ExceptionKind::CommFailure, code, Completion::Maybe);
            for call in calls {
                assert_eq!(result(call), Err(ended));
            }
            if code == minor::PROTOCOL_ERROR {
                peer.expect(MessageKind::MessageError);
            }
            peer.expect_end();
            scripted.end();
        });
    }
}

/// Conformance: connections - shared: its end reaches every caller
#[test]
fn a_server_that_asks_is_refused() {
    each_shared(|strategy| {
        let scripted = Scripted::new(strategy);
        let call = scripted.call(1);
        let (mut peer, requests) = scripted.take(1);
        let id = requests[0].id;
        peer.send(&CancelRequest { request_id: id }.message(Version::V1_2, ByteOrder::NATIVE));
        assert_eq!(result(call), Err(lost(Completion::Maybe)));
        peer.expect(MessageKind::MessageError);
        peer.expect_end();
        scripted.end();
    });
}

/// Conformance: connections - connections shared by calls: each its own reply, in any order, in
/// fragments that are mixed, in GIOP 1.0 to 1.2
#[test]
fn fragments_of_several_replies_may_be_mixed() {
    each_shared(|strategy| {
        let scripted = Scripted::new(strategy);
        let calls: Vec<_> = (0..3)
            .map(|_| {
                let target = scripted.target.clone();
                orbium_testkit::spawn(move || target.make(1))
            })
            .collect();
        let mut peer = scripted.server.accept();
        let requests: Vec<_> = calls.iter().map(|_| peer.expect_request("make")).collect();
        let parts: Vec<[Vec<u8>; 2]> = (1..)
            .zip(&requests)
            .map(|(v, request)| in_fragments(request.id, v))
            .collect();
        parts.iter().for_each(|[first, _]| peer.send(first));
        parts.iter().rev().for_each(|[_, second]| peer.send(second));
        let mut made: Vec<_> = calls
            .into_iter()
            .map(|call| within("the call", move || call.join().unwrap()).unwrap())
            .collect();
        made.sort_unstable();
        assert_eq!(made, [vec![1; 100], vec![2; 100], vec![3; 100]]);
        scripted.end();
    });
}

/// A reply with a hundred octets of one value, in two fragments.
fn in_fragments(id: u32, v: u8) -> [Vec<u8>; 2] {
    let whole = reply(2, ByteOrder::NATIVE, id, ReplyStatus::NoException, |w| {
        w.write_octets(&[v; 100]);
    });
    let cut = 48;
    let part = |kind: u8, more: u8, head: &[u8], body: &[u8]| {
        let mut part = whole[..8].to_vec();
        part[6] |= more;
        part[7] = kind;
        part.extend(((head.len() + body.len()) as u32).to_ne_bytes());
        part.extend(head);
        part.extend(body);
        part
    };
    [
        part(MessageKind::Reply as u8, 2, &[], &whole[12..cut]),
        part(
            MessageKind::Fragment as u8,
            0,
            &id.to_ne_bytes(),
            &whole[cut..],
        ),
    ]
}

/// Conformance: connections - shared: a call that is given up leaves the connection to the others
#[test]
fn one_that_cannot_send_all_leaves_the_rest_to_the_connection() {
    each_shared(|strategy| {
        let scripted = Scripted::connected(strategy);
        // More than the kernel takes.
        let hurried = scripted.target.with_timeout(SHORT);
        let big = orbium_testkit::spawn(move || hurried.echo_octets(&vec![1; 32 << 20]));
        let mut peer = scripted.server.accept();
        let ended = within("the call", move || big.join().unwrap()).unwrap_err();
        assert_eq!(ended.kind, ExceptionKind::Timeout);
        assert_eq!(ended.completed, Completion::Maybe);
        // Another's request goes behind it, whole, once the server reads on.
        let call = scripted.call(3);
        assert_eq!(
            peer.expect_request("echo_octets").body.len(),
            (32 << 20) + 4
        );
        let mut message = peer.receive();
        if message.kind() == MessageKind::CancelRequest {
            message = peer.receive();
        }
        let request = message.request();
        assert_eq!(request.operation, "echo_long");
        peer.answer(&request, |w| w.write_u32(3));
        assert_eq!(result(call), Ok(3));
        scripted.end();
    });
}

/// Conformance: connections - shared: a call that is given up leaves the connection to the others
#[test]
fn a_call_that_finds_no_room_has_not_begun() {
    each_shared(|strategy| {
        let scripted = Scripted::connected(strategy);
        let hurried = scripted.target.with_timeout(SHORT);
        let big = orbium_testkit::spawn(move || hurried.pour(&vec![1; 32 << 20]));
        let peer = scripted.server.accept();
        let passed = |completed| {
            let (kind, code) = (ExceptionKind::Timeout, minor::DEADLINE_PASSED);
            SystemException::orbium(kind, code, completed)
        };
        // Regression: it succeeded, and its rest was perhaps never sent.
        let oneway = within("the oneway", move || big.join().unwrap());
        assert_eq!(oneway, Err(passed(Completion::Maybe)));
        let hurried = call(&scripted.target.with_timeout(SHORT), 1);
        assert_eq!(result(hurried), Err(passed(Completion::No)));
        drop(peer);
        scripted.end();
    });
}

/// Conformance: connections - connections shared by calls: each its own reply, in any order, in
/// fragments that are mixed, in GIOP 1.0 to 1.2
#[test]
fn no_more_calls_at_once_than_allowed() {
    each_shared(|strategy| {
        let scripted = Scripted::with(Config {
            client_strategy: strategy,
            limits: Limits {
                calls_per_connection: 2,
                ..Limits::default()
            },
            ..Config::default()
        });
        let calls: Vec<_> = (0..2).map(|v| scripted.call(v)).collect();
        let (mut peer, requests) = scripted.take(2);
        let third = scripted.target.with_timeout(SHORT);
        let refused = within("the third call", move || {
            let refused = third.echo_long(3).unwrap_err();
            // Regression: the story named the limit of exclusive connections.
            let story = last_failure().unwrap().to_string();
            assert!(story.contains("`limits.calls_per_connection`"), "{story}");
            refused
        });
        assert_eq!(refused.completed, Completion::No);
        assert_eq!(refused.kind, ExceptionKind::Timeout);
        for request in &requests {
            peer.answer(request, |w| w.write_u32(1));
        }
        for call in calls {
            assert_eq!(result(call), Ok(1));
        }
        scripted.end();
    });
}

#[test]
fn senseless_bounds_are_refused_with_a_sentence() {
    for calls_per_connection in [0, 1025] {
        let limits = Limits {
            calls_per_connection,
            ..Limits::default()
        };
        let refused = Orb::builder().limits(limits).build().unwrap_err();
        assert!(refused.to_string().contains("calls_per_connection"));
    }
}
