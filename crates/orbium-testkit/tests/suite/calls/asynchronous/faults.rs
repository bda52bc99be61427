// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servers that are elsewhere, that end, that say what they must not, or read
//! slowly.

use orbium::giop::{Ior, MessageKind, ReplyStatus, minor as codes};
use orbium_cdr::{CdrWriter, Format};
use orbium_testkit::{client, dead_port};

use super::*;

fn at(server: &FakeServer) -> Ior {
    reference(2, &[server.port()], b"there", &[])
}

fn forward(peer: &mut Peer, to: &Ior) {
    let request = peer.expect_request("echo_long");
    let mut encapsulated = CdrWriter::new(Format::native());
    to.encode(&mut encapsulated);
    let octets = encapsulated.finish().unwrap();
    peer.answer_with(&request, ReplyStatus::LocationForward, |w| {
        w.write_raw(&octets);
    });
}

#[test]
fn forwards_are_followed_and_remembered() {
    let scripted = Scripted::new();
    let servers = [FakeServer::listen(), FakeServer::listen()];
    let call = echo(&scripted.object, 1);
    forward(&mut scripted.server.accept(), &at(&servers[0]));
    forward(&mut servers[0].accept(), &at(&servers[1]));
    let mut there = servers[1].accept();
    answer(&mut there, 1);
    assert_eq!(result(call), Ok(1));
    let call = echo(&scripted.object, 2);
    answer(&mut there, 1);
    assert_eq!(result(call), Ok(2));
    // It is looked for at the first one again when it has gone.
    there.close();
    drop(servers);
    let call = echo(&scripted.object, 3);
    answer(&mut scripted.server.accept(), 1);
    assert_eq!(result(call), Ok(3));
    scripted.end();
}

#[test]
fn a_forward_to_a_dead_port_falls_back() {
    let scripted = Scripted::new();
    let dead = reference(2, &[dead_port()], b"there", &[]);
    let call = echo(&scripted.object, 1);
    let mut peer = scripted.server.accept();
    forward(&mut peer, &dead);
    answer(&mut peer, 1);
    assert_eq!(result(call), Ok(1));
    scripted.end();
}

#[test]
fn the_object_is_addressed_as_the_server_asks() {
    let scripted = Scripted::new();
    let call = echo(&scripted.object, 1);
    let mut peer = scripted.server.accept();
    let request = peer.expect_request("echo_long");
    peer.answer_with(&request, ReplyStatus::NeedsAddressingMode, |w| {
        w.write_u16(2);
    });
    let request = peer.expect_request("echo_long");
    assert_eq!(request.addressing, 2);
    peer.answer(&request, |w| w.write_u32(1));
    assert_eq!(result(call), Ok(1));
    scripted.end();
}

#[test]
fn the_next_address_is_tried_and_the_one_that_answers_is_remembered() {
    let server = FakeServer::listen();
    let client = client();
    let object = object(&client, &[dead_port(), dead_port(), server.port()]);
    let calls = [1, 2].map(|v| echo(&object, v));
    let mut peer = server.accept();
    answer(&mut peer, 2);
    let [first, second] = calls;
    assert_eq!((result(first), result(second)), (Ok(1), Ok(2)));
    let call = echo(&object, 3);
    answer(&mut peer, 1);
    assert_eq!(result(call), Ok(3));
}

#[test]
fn without_a_server_the_call_says_so() {
    let client = client();
    let dead = object(&client, &[dead_port(), dead_port()]);
    let (kind, code) = (ExceptionKind::Transient, codes::CONNECT_REFUSED);
    let refused = SystemException::orbium(kind, code, Completion::No);
    for _ in 0..3 {
        assert_eq!(result(echo(&dead, 1)), Err(refused));
    }
    assert_eq!(handled(echo(&dead, 1)).recv().unwrap().0, Err(refused));
}

#[test]
fn requests_that_the_server_has_not_begun_are_sent_again() {
    let (scripted, mut peer) = Scripted::connected();
    let calls: Vec<_> = (0..20).map(|v| echo(&scripted.object, v)).collect();
    answer(&mut peer, 5);
    for _ in 5..20 {
        peer.expect_request("echo_long");
    }
    peer.close();
    let mut next = scripted.server.accept();
    answer(&mut next, 15);
    for (v, call) in (0..).zip(calls) {
        assert_eq!(result(call), Ok(v));
    }
    scripted.end();
}

#[test]
fn a_server_that_closes_every_time_is_not_tried_for_ever() {
    let scripted = Scripted::new();
    let call = echo(&scripted.object, 1);
    for _ in 0..5 {
        let mut peer = scripted.server.accept();
        peer.expect_request("echo_long");
        peer.close();
    }
    let (kind, code) = (ExceptionKind::Transient, codes::CONNECTION_CLOSED);
    let closed = SystemException::orbium(kind, code, Completion::No);
    assert_eq!(result(call), Err(closed));
    scripted.end();
}

#[test]
fn a_connection_that_is_lost_ends_the_calls_that_were_sent() {
    let (scripted, mut peer) = Scripted::connected();
    let calls: Vec<_> = (0..20).map(|v| echo(&scripted.object, v)).collect();
    for _ in 0..20 {
        peer.expect_request("echo_long");
    }
    drop(peer);
    for call in calls {
        assert_eq!(result(call), Err(lost(Completion::Maybe)));
    }
    let call = echo(&scripted.object, 1);
    answer(&mut scripted.server.accept(), 1);
    assert_eq!(result(call), Ok(1));
    scripted.end();
}

#[test]
fn garbage_ends_the_calls_and_is_answered_with_message_error() {
    let request_of_ours =
        orbium_testkit::request(orbium_testkit::RequestLine::new(2, "noop"), |_| {});
    for garbage in [b"GET / HTTP/1.1\r\n\r\n".to_vec(), request_of_ours] {
        let (scripted, mut peer) = Scripted::connected();
        let call = echo(&scripted.object, 1);
        peer.expect_request("echo_long");
        peer.send(&garbage);
        let (kind, code) = (ExceptionKind::CommFailure, codes::PROTOCOL_ERROR);
        let wrong = SystemException::orbium(kind, code, Completion::Maybe);
        assert_eq!(result(call), Err(wrong));
        peer.expect(MessageKind::MessageError);
        peer.expect_end();
        scripted.end();
    }
}

#[test]
fn a_peer_that_reads_slowly_blocks_no_caller() {
    let (scripted, mut peer) = Scripted::connected();
    let octets: Vec<u8> = (0..=255).cycle().take(4 << 20).collect();
    // None of these can be sent whole before the peer reads.
    let large: Vec<_> = (0..4)
        .map(|_| echo_octets(&scripted.object, octets.clone()))
        .collect();
    let small = echo(&scripted.object, 1);
    for _ in 0..4 {
        let request = peer.expect_request("echo_octets");
        peer.answer(&request, |w| w.write_octets(&request.body[4..]));
    }
    answer(&mut peer, 1);
    for call in large {
        assert_eq!(result(call).as_deref(), Ok(&octets[..]));
    }
    assert_eq!(result(small), Ok(1));
    scripted.end();
}

#[test]
fn calls_dropped_before_they_were_sent_never_are() {
    let (scripted, mut peer) = Scripted::connected();
    let large = echo_octets(&scripted.object, vec![1; 16 << 20]);
    let waits = echo(&scripted.object, 1);
    let kept = echo(&scripted.object, 2);
    drop(waits);
    let request = peer.expect_request("echo_octets");
    peer.answer(&request, |w| w.write_octets(&[]));
    assert_eq!(result(large), Ok(vec![]));
    answer(&mut peer, 1);
    assert_eq!(result(kept), Ok(2));
    // Part of this one has gone: the rest must too.
    let begun = echo_octets(&scripted.object, vec![1; 16 << 20]);
    drop(begun);
    peer.expect_request("echo_octets");
    peer.expect(MessageKind::CancelRequest);
    let call = echo(&scripted.object, 3);
    answer(&mut peer, 1);
    assert_eq!(result(call), Ok(3));
    scripted.end();
}
