// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servers that want the object addressed in another way, and clients that
//! address it so.

use std::thread;

use orbium::giop::{HEADER_LEN, LocateStatus, MessageHeader, MessageKind, ReplyStatus, Version};
use orbium::{ExceptionKind, Interface};
use orbium_cdr::{ByteOrder, CdrWriter, Encode, Format};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Peer, Served, each_strategy, locate_reply, reach, reference, within,
};

fn scripted() -> (FakeServer, orbium::Orb, Target) {
    let server = FakeServer::listen();
    let client = orbium_testkit::client();
    let target = reach(
        &client,
        &reference(2, &[server.port()], b"key", &[]).to_string(),
    );
    (server, client, target)
}

fn ask_for(peer: &mut Peer, mode: u16) {
    let request = peer.expect_request("echo_long");
    assert_eq!((request.addressing, &request.key[..]), (0, &b"key"[..]));
    peer.answer_with(&request, ReplyStatus::NeedsAddressingMode, |w| {
        w.write_u16(mode);
    });
}

/// Conformance: replies - NEEDS_ADDRESSING_MODE answered by the form asked for
#[test]
fn the_request_is_sent_again_as_asked_and_later_ones_too() {
    for mode in [1, 2] {
        let (server, _client, target) = scripted();
        for v in 0..3 {
            let hurried = target.clone();
            let call = orbium_testkit::spawn(move || hurried.echo_long(v));
            let mut peer = match v {
                0 => {
                    let mut peer = server.accept();
                    ask_for(&mut peer, mode);
                    peer
                }
                _ => server.accept(),
            };
            let request = peer.expect_request("echo_long");
            assert_eq!((request.addressing, &request.key[..]), (mode, &b"key"[..]));
            peer.answer(&request, |w| w.write_u32(v as u32));
            assert_eq!(within("the call", move || call.join().unwrap()), Ok(v));
            // The next call needs a new connection.
            peer.close();
        }
    }
}

/// Conformance: replies - NEEDS_ADDRESSING_MODE answered by the form asked for
#[test]
fn concurrent_calls_may_get_needs_addressing_mode() {
    let (server, _client, target) = scripted();
    let calls: Vec<_> = (0..2)
        .map(|v| {
            let target = target.clone();
            orbium_testkit::spawn(move || target.echo_long(v))
        })
        .collect();
    let mut peers: Vec<Peer> = calls.iter().map(|_| server.accept()).collect();
    let requests: Vec<_> = peers
        .iter_mut()
        .map(|peer| peer.expect_request("echo_long"))
        .collect();
    for (peer, request) in peers.iter_mut().zip(&requests) {
        peer.answer_with(request, ReplyStatus::NeedsAddressingMode, |w| {
            w.write_u16(2);
        });
    }
    for peer in &mut peers {
        let request = peer.expect_request("echo_long");
        assert_eq!(request.addressing, 2);
        peer.answer(&request, |w| w.write_u32(6));
    }
    for call in calls {
        assert_eq!(within("the call", move || call.join().unwrap()), Ok(6));
    }
}

/// Conformance: replies - NEEDS_ADDRESSING_MODE answered by the form asked for
#[test]
fn a_server_that_is_never_content_does_not_keep_the_call() {
    let (server, _client, target) = scripted();
    let call = orbium_testkit::spawn(move || target.echo_long(1));
    let mut peer = server.accept();
    let mut asked = 0;
    while let Some(message) = peer.try_receive() {
        if message.kind() != MessageKind::Request {
            break;
        }
        asked += 1;
        assert!(asked < 100, "asked for ever");
        let request = message.request();
        peer.answer_with(&request, ReplyStatus::NeedsAddressingMode, |w| {
            w.write_u16(1 + asked % 2);
        });
        if call.is_finished() {
            break;
        }
        thread::sleep(std::time::Duration::from_millis(20));
        if call.is_finished() {
            break;
        }
    }
    assert!(within("the call", move || call.join().unwrap()).is_err());
}

/// Conformance: replies - LocateReply: every status, forwards followed
#[test]
fn locate_requests_follow_it_too() {
    let (server, _client, target) = scripted();
    let call = orbium_testkit::spawn(move || target.as_object().locate());
    let mut peer = server.accept();
    let mut answer = |expected: u16, status: LocateStatus, wanted: Option<u16>| {
        let (id, mode) = peer.expect(MessageKind::LocateRequest).locate_request();
        assert_eq!(mode, expected);
        let reply = locate_reply(2, id, status, |writer| {
            if let Some(wanted) = wanted {
                writer.write_u16(wanted);
            }
        });
        peer.send(&reply);
    };
    answer(0, LocateStatus::NeedsAddressingMode, Some(1));
    answer(1, LocateStatus::ObjectHere, None);
    assert_eq!(within("the call", move || call.join().unwrap()), Ok(true));
}

/// A request to `target`, addressed by profile or by reference.
fn addressed(target: &Target, mode: u16) -> Vec<u8> {
    let ior = target.as_object().ior();
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, 2));
    let mut header = MessageHeader {
        version: Version::V1_2,
        order: ByteOrder::NATIVE,
        more_fragments: false,
        kind: MessageKind::Request,
        size: 0,
    };
    writer.write_raw(&header.encode());
    writer.write_u32(4);
    writer.write_u32(3_u32.to_le());
    writer.write_u16(mode);
    if mode == 1 {
        writer.write_u32(ior.profiles[0].tag);
        writer.write_octets(&ior.profiles[0].data);
    } else {
        writer.write_u32(0);
        ior.encode(&mut writer);
    }
    writer.write_name("echo_long");
    writer.write_u32(0);
    writer.align(8);
    writer.write_u32(77);
    let mut octets = writer.finish().unwrap();
    header.size = (octets.len() - HEADER_LEN) as u32;
    octets[..HEADER_LEN].copy_from_slice(&header.encode());
    octets
}

/// Conformance: replies - all three forms taken by the server
#[test]
fn a_server_understands_all_three_modes() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        for mode in [1, 2] {
            peer.send(&addressed(&served.target, mode));
            let (id, status, body) = peer.receive().reply();
            assert_eq!((id, status), (4, ReplyStatus::NoException));
            assert_eq!(body, 77_u32.to_ne_bytes());
        }
        served.end();
    });
}

/// Conformance: replies - NEEDS_ADDRESSING_MODE answered by the form asked for
#[test]
fn a_mode_that_does_not_exist_is_a_malformed_reply() {
    let (server, _client, target) = scripted();
    let call = orbium_testkit::spawn(move || target.echo_long(1));
    ask_for(&mut server.accept(), 9);
    let exception = within("the call", move || call.join().unwrap()).unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::Marshal);
}
