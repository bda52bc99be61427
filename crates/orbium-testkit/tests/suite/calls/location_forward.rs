// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servers that say that an object is elsewhere.

use std::thread;

use orbium::giop::{Ior, ReplyStatus, minor};
use orbium::{Completion, Config, ExceptionKind, Orb, SystemException, config::Limits};
use orbium_testkit::probe::Target;
use orbium_testkit::{FakeServer, Peer, client, reach, reference, within, write_reference};

fn calling(target: &Target, v: i32) -> thread::JoinHandle<Result<i32, SystemException>> {
    let target = target.clone();
    orbium_testkit::spawn(move || target.echo_long(v))
}

fn result(call: thread::JoinHandle<Result<i32, SystemException>>) -> Result<i32, SystemException> {
    within("the call", move || call.join().unwrap())
}

fn at(server: &FakeServer) -> Ior {
    reference(2, &[server.port()], b"there", &[])
}

fn forward(peer: &mut Peer, status: ReplyStatus, to: &Ior) {
    let request = peer.expect_request("echo_long");
    peer.answer_with(&request, status, |w| write_reference(to, w));
}

fn answer(peer: &mut Peer, v: u32) {
    let request = peer.expect_request("echo_long");
    assert_eq!(request.key, b"there");
    peer.answer(&request, |w| w.write_u32(v));
}

fn deny(peer: &mut Peer) {
    raise(peer, "IDL:omg.org/CORBA/OBJECT_NOT_EXIST:1.0");
}

fn raise(peer: &mut Peer, exception: &str) {
    let request = peer.expect_request("echo_long");
    peer.answer_with(&request, ReplyStatus::SystemException, |w| {
        w.write_name(exception);
        w.write_u32(0);
        w.write_u32(Completion::No as u32);
    });
}

/// Conformance: replies - LOCATION_FORWARD, LOCATION_FORWARD_PERM
#[test]
fn a_forwarded_call_is_made_there_and_so_are_later_ones() {
    for status in [
        ReplyStatus::LocationForward,
        ReplyStatus::LocationForwardPerm,
    ] {
        let (first, second) = (FakeServer::listen(), FakeServer::listen());
        let client = client();
        let target = reach(
            &client,
            &reference(2, &[first.port()], b"here", &[]).to_string(),
        );
        let call = calling(&target, 1);
        forward(&mut first.accept(), status, &at(&second));
        let mut there = second.accept();
        answer(&mut there, 11);
        assert_eq!(result(call), Ok(11));
        // Without asking the first one again.
        let call = calling(&target, 2);
        answer(&mut there, 12);
        assert_eq!(result(call), Ok(12));
    }
}

/// Conformance: replies - LOCATION_FORWARD, LOCATION_FORWARD_PERM
#[test]
fn forwards_are_followed_one_after_the_other() {
    let servers: Vec<FakeServer> = (0..5).map(|_| FakeServer::listen()).collect();
    let client = client();
    let target = reach(&client, &at(&servers[0]).to_string());
    let call = calling(&target, 1);
    for (server, next) in servers.iter().zip(&servers[1..]) {
        forward(
            &mut server.accept(),
            ReplyStatus::LocationForward,
            &at(next),
        );
    }
    answer(&mut servers[4].accept(), 5);
    assert_eq!(result(call), Ok(5));
}

/// Conformance: replies - LOCATION_FORWARD, LOCATION_FORWARD_PERM
/// Conformance: TAO 28 - forwards and retries with their limits
#[test]
fn a_circle_of_forwards_ends() {
    let server = FakeServer::listen();
    let client = Orb::new(Config {
        limits: Limits {
            forwards: 5,
            ..Limits::default()
        },
        ..Config::default()
    })
    .unwrap();
    let target = reach(&client, &at(&server).to_string());
    let call = calling(&target, 1);
    let mut peer = server.accept();
    // The first request and one for each forward allowed.
    for _ in 0..6 {
        forward(&mut peer, ReplyStatus::LocationForward, &at(&server));
    }
    let exception = result(call).unwrap_err();
    let too_many = SystemException::orbium(
        ExceptionKind::Transient,
        minor::TOO_MANY_FORWARDS,
        Completion::No,
    );
    assert_eq!(exception, too_many);
}

/// Conformance: replies - back to the first server when the forward fails
#[test]
fn a_forward_to_a_dead_port_falls_back_to_the_first_server() {
    let first = FakeServer::listen();
    let dead = {
        let gone = FakeServer::listen();
        at(&gone)
    };
    let client = client();
    let target = reach(&client, &at(&first).to_string());
    let call = calling(&target, 1);
    let mut peer = first.accept();
    forward(&mut peer, ReplyStatus::LocationForward, &dead);
    answer(&mut peer, 21);
    assert_eq!(result(call), Ok(21));
}

/// Conformance: replies - back to the first server when the forward fails
/// Conformance: TAO 27 - the next profile when one fails; back to base after a forward target dies
#[test]
fn a_forwarded_target_that_dies_later_is_looked_for_at_the_first_server_again() {
    let (first, second, third) = (
        FakeServer::listen(),
        FakeServer::listen(),
        FakeServer::listen(),
    );
    let client = client();
    let target = reach(&client, &at(&first).to_string());
    let call = calling(&target, 1);
    let mut here = first.accept();
    forward(&mut here, ReplyStatus::LocationForward, &at(&second));
    let mut there = second.accept();
    answer(&mut there, 31);
    assert_eq!(result(call), Ok(31));
    // The second server ends in order, and its port is closed.
    drop(second);
    there.close();
    let call = calling(&target, 2);
    forward(&mut here, ReplyStatus::LocationForward, &at(&third));
    answer(&mut third.accept(), 32);
    assert_eq!(result(call), Ok(32));
}

/// Conformance: replies - back to the first server when the forward fails
#[test]
fn an_object_that_is_gone_where_it_was_forwarded_to_is_looked_for_again() {
    let (first, second) = (FakeServer::listen(), FakeServer::listen());
    let client = client();
    let target = reach(&client, &at(&first).to_string());
    let call = calling(&target, 1);
    let mut here = first.accept();
    forward(&mut here, ReplyStatus::LocationForward, &at(&second));
    let mut there = second.accept();
    deny(&mut there);
    answer(&mut here, 41);
    assert_eq!(result(call), Ok(41));
}

/// A server that started twice during one call once had the object denied: the second forward was
/// gone as the first one was, and a call came back from a forward only once.
///
/// Conformance: replies - back to the first server when the forward fails
#[test]
fn a_server_that_starts_twice_during_a_call_denies_no_object() {
    let first = FakeServer::listen();
    let client = client();
    let target = reach(&client, &at(&first).to_string());
    let call = calling(&target, 1);
    let mut peer = first.accept();
    for incarnation in [&b"one"[..], b"two", b"three"] {
        let there = reference(2, &[first.port()], incarnation, &[]);
        forward(&mut peer, ReplyStatus::LocationForward, &there);
        deny(&mut peer);
    }
    answer(&mut peer, 4);
    assert_eq!(result(call), Ok(4));
}

/// The server ends while it is called, sends its client to the same place once more, and starts.
///
/// Conformance: replies - back to the first server when the forward fails
#[test]
fn a_forward_that_failed_as_its_server_ended_may_be_denied_by_the_next() {
    let first = FakeServer::listen();
    let client = client();
    let target = reach(&client, &at(&first).to_string());
    let call = calling(&target, 1);
    let mut peer = first.accept();
    let there = reference(2, &[first.port()], b"ended", &[]);
    forward(&mut peer, ReplyStatus::LocationForward, &there);
    raise(&mut peer, "IDL:omg.org/CORBA/TRANSIENT:1.0");
    forward(&mut peer, ReplyStatus::LocationForward, &there);
    deny(&mut peer);
    answer(&mut peer, 4);
    assert_eq!(result(call), Ok(4));
}

/// Conformance: replies - a forward that leads nowhere
#[test]
fn an_object_that_is_twice_denied_where_it_is_said_to_be_does_not_exist() {
    let first = FakeServer::listen();
    let client = client();
    let target = reach(&client, &at(&first).to_string());
    let call = calling(&target, 1);
    let mut peer = first.accept();
    let there = reference(2, &[first.port()], b"gone", &[]);
    for _ in 0..2 {
        forward(&mut peer, ReplyStatus::LocationForward, &there);
        deny(&mut peer);
    }
    assert_eq!(
        result(call).unwrap_err().kind,
        ExceptionKind::ObjectNotExist
    );
}

/// Conformance: replies - a forward that leads nowhere
#[test]
fn a_forward_to_nil_is_no_object() {
    let server = FakeServer::listen();
    let client = client();
    let target = reach(&client, &at(&server).to_string());
    let call = calling(&target, 1);
    forward(
        &mut server.accept(),
        ReplyStatus::LocationForward,
        &Ior::NIL,
    );
    assert_eq!(
        result(call).unwrap_err().kind,
        ExceptionKind::ObjectNotExist
    );
}

/// Conformance: replies - a forward that leads nowhere
#[test]
fn a_forward_that_cannot_be_read_is_a_marshalling_error() {
    let server = FakeServer::listen();
    let client = client();
    let target = reach(&client, &at(&server).to_string());
    let call = calling(&target, 1);
    let mut peer = server.accept();
    let request = peer.expect_request("echo_long");
    peer.answer_with(&request, ReplyStatus::LocationForward, |w| {
        w.write_u32(u32::MAX);
    });
    assert_eq!(result(call).unwrap_err().kind, ExceptionKind::Marshal);
    // The connection is still good.
    let call = calling(&target, 2);
    answer(&mut peer, 2);
    assert_eq!(result(call), Ok(2));
}
