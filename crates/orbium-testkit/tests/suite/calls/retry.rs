// SPDX-License-Identifier: MIT OR Apache-2.0
//! Retries of requests, and the cases in which there must be none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use orbium::giop::{MessageKind, Version, message_error, minor};
use orbium::{Completion, ExceptionKind, Orb, SystemException};
use orbium_testkit::probe::Target;
use orbium_testkit::{FakeServer, Peer, client, dead_port, eventually, reach, reference, within};

/// A scripted server, and the object there as a client sees it.
fn scripted() -> (FakeServer, Orb, Target) {
    let server = FakeServer::listen();
    let client = client();
    let target = reach(
        &client,
        &reference(2, &[server.port()], b"x", &[]).to_string(),
    );
    (server, client, target)
}

/// Calls on another thread, so that the test can play the server.
fn calling(target: &Target, v: i32) -> thread::JoinHandle<Result<i32, SystemException>> {
    let target = target.clone();
    orbium_testkit::spawn(move || target.echo_long(v))
}

fn result(call: thread::JoinHandle<Result<i32, SystemException>>) -> Result<i32, SystemException> {
    within("the call", move || call.join().unwrap())
}

fn answer(peer: &mut Peer, v: u32) {
    let request = peer.expect_request("echo_long");
    peer.answer(&request, |w| w.write_u32(v));
}

/// Conformance: connections - CloseConnection: what was not answered was not begun, and goes again
#[test]
fn a_request_before_an_orderly_close_is_sent_again_on_a_new_connection() {
    let (server, _client, target) = scripted();
    let call = calling(&target, 1);
    let mut first = server.accept();
    first.expect_request("echo_long");
    first.close();
    let mut second = server.accept();
    answer(&mut second, 42);
    assert_eq!(result(call), Ok(42));
}

/// Conformance: connections - closed while idle: replaced without notice
#[test]
fn a_connection_closed_in_order_while_idle_is_replaced_without_notice() {
    let (server, _client, target) = scripted();
    for round in 0..3 {
        let call = calling(&target, round);
        let mut peer = server.accept();
        answer(&mut peer, 7);
        assert_eq!(result(call), Ok(7));
        peer.close();
    }
}

/// Conformance: connections - closed while idle: replaced without notice
/// Conformance: complaint 8 - the server's orderly close is read too late, and the caller sees
/// COMM_FAILURE
#[test]
fn many_connections_closed_in_order_while_idle_are_replaced_without_notice() {
    let (server, _client, target) = scripted();
    let calls: Vec<_> = (0..20).map(|v| calling(&target, v)).collect();
    let mut peers: Vec<Peer> = calls.iter().map(|_| server.accept()).collect();
    for peer in &mut peers {
        answer(peer, 7);
    }
    for call in calls {
        assert_eq!(result(call), Ok(7));
    }
    for peer in peers {
        peer.close();
    }
    let call = calling(&target, 1);
    let mut peer = server.accept();
    answer(&mut peer, 8);
    assert_eq!(result(call), Ok(8));
}

/// Conformance: connections - CloseConnection: what was not answered was not begun, and goes again
/// Conformance: TAO 28 - forwards and retries with their limits
#[test]
fn a_server_that_closes_every_time_is_not_tried_for_ever() {
    let (server, _client, target) = scripted();
    let call = calling(&target, 1);
    let mut tries = 0;
    while !call.is_finished() {
        if let Some(mut peer) = server.accept_at_once() {
            tries += 1;
            assert!(tries <= 100, "no end of tries");
            peer.expect_request("echo_long");
            peer.close();
        }
        thread::yield_now();
    }
    let exception = result(call).unwrap_err();
    assert_eq!(exception.completed, Completion::No);
    assert_eq!(exception.kind, ExceptionKind::Transient);
    assert!(tries > 1);
}

/// Conformance: connections - lost after the request: COMM_FAILURE, COMPLETED_MAYBE, not sent again
#[test]
fn a_connection_lost_after_the_request_is_not_tried_again() {
    let (server, _client, target) = scripted();
    let call = calling(&target, 1);
    let mut peer = server.accept();
    peer.expect_request("echo_long");
    drop(peer);
    let exception = result(call).unwrap_err();
    let lost = SystemException::orbium(
        ExceptionKind::CommFailure,
        minor::CONNECTION_LOST,
        Completion::Maybe,
    );
    assert_eq!(exception, lost);
    assert!(
        server.accept_at_once().is_none(),
        "the request was sent again"
    );
}

/// Conformance: connections - lost after the request: COMM_FAILURE, COMPLETED_MAYBE, not sent again
#[test]
fn a_connection_lost_within_the_reply_is_not_tried_again() {
    let (server, _client, target) = scripted();
    let call = calling(&target, 1);
    let mut peer = server.accept();
    let request = peer.expect_request("echo_long");
    let whole = orbium_testkit::reply(
        2,
        orbium_cdr::ByteOrder::NATIVE,
        request.id,
        orbium::giop::ReplyStatus::NoException,
        |w| w.write_u32(1),
    );
    peer.send(&whole[..whole.len() - 1]);
    drop(peer);
    let exception = result(call).unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::CommFailure);
    assert_eq!(exception.completed, Completion::Maybe);
    assert!(
        server.accept_at_once().is_none(),
        "the request was sent again"
    );
}

/// Conformance: connections - no server there: TRANSIENT, COMPLETED_NO
#[test]
fn a_refused_connection_is_transient_and_nothing_was_done() {
    let port = dead_port();
    let client = client();
    let target = reach(&client, &reference(2, &[port], b"x", &[]).to_string());
    for _ in 0..3 {
        let exception = target.echo_long(1).unwrap_err();
        let refused = SystemException::orbium(
            ExceptionKind::Transient,
            minor::CONNECT_REFUSED,
            Completion::No,
        );
        assert_eq!(exception, refused);
    }
}

/// Conformance: connections - no server there: TRANSIENT, COMPLETED_NO
/// Conformance: TAO 25 - many threads, no server: TRANSIENT, no descriptor leaks
/// Conformance: complaint 28 - threads, connections and TLS buffers leak while a peer is out of
/// reach
#[test]
fn threads_that_meet_no_server_all_hear_so_and_leave_no_descriptor() {
    let client = client();
    let port = dead_port();
    let target = reach(&client, &reference(2, &[port], b"x", &[]).to_string());
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..10 {
                    assert_eq!(target.noop().unwrap_err().kind, ExceptionKind::Transient);
                }
            });
        }
    });
    // More calls at once than connections are allowed, so none was kept.
    thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| assert_eq!(target.noop().unwrap_err().kind, ExceptionKind::Transient));
        }
    });
}

/// Conformance: connections - no server there: TRANSIENT, COMPLETED_NO
/// Conformance: complaint 12 - name look-ups stall: reverse look-ups on accept, `getaddrinfo` for a
/// Unix socket
#[test]
fn a_host_that_does_not_resolve_is_transient_with_a_code_of_its_own() {
    let client = client();
    let target = reach(&client, "corbaloc::no-such-host.invalid:1/x");
    let exception = within("the look-up", move || target.noop().unwrap_err());
    let unknown = SystemException::orbium(
        ExceptionKind::Transient,
        minor::HOST_UNKNOWN,
        Completion::No,
    );
    assert_eq!(exception, unknown);
}

/// Conformance: connections - MessageError received; no message at all received
#[test]
fn message_error_ends_the_call_and_the_connection() {
    let (server, _client, target) = scripted();
    let call = calling(&target, 1);
    let mut peer = server.accept();
    peer.expect_request("echo_long");
    peer.send(&message_error(Version::V1_2));
    let exception = result(call).unwrap_err();
    let expected = SystemException::orbium(
        ExceptionKind::CommFailure,
        minor::MESSAGE_ERROR,
        Completion::Maybe,
    );
    assert_eq!(exception, expected);
    peer.expect_end();
    let call = calling(&target, 2);
    let mut peer = server.accept();
    answer(&mut peer, 3);
    assert_eq!(result(call), Ok(3));
}

/// Conformance: connections - MessageError received; no message at all received
#[test]
fn malformed_messages_end_the_call_and_are_answered() {
    let (server, _client, target) = scripted();
    let call = calling(&target, 1);
    let mut peer = server.accept();
    peer.expect_request("echo_long");
    peer.send(b"HTTP/1.1 200 OK\r\n\r\n");
    let exception = result(call).unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::CommFailure);
    assert_eq!(exception.completed, Completion::Maybe);
    peer.expect(MessageKind::MessageError);
    peer.expect_end();
}

/// Conformance: connections - not sent whole: sent again
/// Conformance: TAO 10 - a peer that dies in the middle of our write
#[test]
fn a_request_that_could_not_be_sent_whole_is_sent_again() {
    let (server, _client, target) = scripted();
    // An idle connection that the server resets.
    let call = calling(&target, 1);
    let mut peer = server.accept();
    answer(&mut peer, 1);
    assert_eq!(result(call), Ok(1));
    peer.close();
    // Octets enough that the kernel notices before all are taken.
    let big = {
        let target = target.clone();
        orbium_testkit::spawn(move || target.echo_octets(&vec![1; 8 << 20]).map(|back| back.len()))
    };
    let mut peer = server.accept();
    let request = peer.expect_request("echo_octets");
    assert_eq!(request.body.len(), (8 << 20) + 4);
    peer.answer(&request, |w| w.write_octets(&[1, 2, 3]));
    assert_eq!(within("the call", move || big.join().unwrap()), Ok(3));
}

/// Conformance: connections - at most once
/// Conformance: TAO 11 - crashes at random points are survived
#[test]
fn every_call_is_served_at_most_once_while_servers_come_and_go() {
    // A relay that serves a few requests per connection, then closes in order
    // with requests unread.
    let (server, client, target) = scripted();
    let done = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&done);
    let relay = orbium_testkit::spawn(move || {
        let mut served = Vec::new();
        while !over.load(Ordering::SeqCst) {
            let Some(mut peer) = server.accept_at_once() else {
                thread::yield_now();
                continue;
            };
            for _ in 0..3 {
                let Some(message) = peer.try_receive() else {
                    break;
                };
                if message.kind() != MessageKind::Request {
                    break;
                }
                let request = message.request();
                let v = u32::from_ne_bytes(*request.body.first_chunk().unwrap());
                served.push(v);
                peer.answer(&request, |w| w.write_u32(v));
            }
            peer.close();
        }
        served
    });
    for v in 0..100 {
        assert_eq!(target.echo_long(v), Ok(v));
    }
    done.store(true, Ordering::SeqCst);
    client.shutdown(true).unwrap();
    let served = within("the relay", move || relay.join().unwrap());
    assert_eq!(served, (0..100).collect::<Vec<_>>());
}

/// Conformance: connections - closed while idle: replaced without notice
/// Conformance: complaint 7 - idle connections: no time-out in servers, one timer for each
/// transport, oneways special
#[test]
fn a_oneway_reaches_a_server_that_closed_the_idle_connection() {
    let (server, _client, target) = scripted();
    let call = calling(&target, 1);
    let mut peer = server.accept();
    answer(&mut peer, 1);
    assert_eq!(result(call), Ok(1));
    peer.close();
    // The first may go to the connection that is closing; it is best effort.
    let mut sent = 0;
    let mut accepted = None;
    eventually("a oneway on a new connection", || {
        target.post(sent).unwrap();
        sent += 1;
        accepted = server.accept_at_once();
        accepted.is_some()
    });
    accepted.unwrap().expect_request("post");
}
