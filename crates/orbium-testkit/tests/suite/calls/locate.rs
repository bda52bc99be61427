// SPDX-License-Identifier: MIT OR Apache-2.0
//! LocateRequest, asked and answered.

use orbium::giop::{
    LocateReplyHeader, LocateStatus, MessageKind, Target as Addressed, Version,
    write_locate_request,
};
use orbium::{Completion, ExceptionKind, Interface, SystemException};
use orbium_cdr::{ByteOrder, CdrWriter, Encode, Format};
use orbium_testkit::{
    FakeServer, Peer, RequestLine, Served, each_strategy, locate_reply, reach, reference, request,
    within,
};

fn locate_request(minor: u8, order: ByteOrder, id: u32, key: &[u8]) -> Vec<u8> {
    let target = Addressed::Key(key);
    let mut writer = CdrWriter::new(Format::plain(order, minor));
    let version = Version { major: 1, minor };
    write_locate_request(&mut writer, version, id, &target);
    writer.finish().unwrap()
}

/// Conformance: replies - LocateReply: every status, forwards followed
#[test]
fn a_server_says_whether_an_object_is_here() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        for minor in [0, 1, 2] {
            for order in [ByteOrder::Little, ByteOrder::Big] {
                for (key, expected) in [
                    (&b"Target"[..], LocateStatus::ObjectHere),
                    (b"Nobody", LocateStatus::UnknownObject),
                    (b"", LocateStatus::UnknownObject),
                ] {
                    peer.send(&locate_request(minor, order, 9, key));
                    let message = peer.expect(MessageKind::LocateReply);
                    assert_eq!(message.header.version.minor, minor);
                    let answer = message
                        .read(|reader| LocateReplyHeader::read(reader, minor))
                        .unwrap();
                    assert_eq!((answer.request_id, answer.status), (9, expected));
                }
            }
        }
        // Not even a manager that holds requests keeps it from answering.
        let manager = served.orb.root_poa().manager();
        manager.hold_requests(true).unwrap();
        peer.send(&locate_request(2, ByteOrder::NATIVE, 2, b"Target"));
        peer.expect(MessageKind::LocateReply);
        manager.activate().unwrap();
        peer.send(&request(RequestLine::new(4, "noop"), |_| {}));
        assert_eq!(peer.receive().reply().0, 4);
        assert_eq!(served.state.calls(), 1);
        served.end();
    });
}

#[test]
fn references_are_located_over_tcp_and_within_the_process() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (client, target) = served.client();
        assert_eq!(target.as_object().locate(), Ok(true));
        assert_eq!(served.target.as_object().locate(), Ok(true));
        let no_object = reach(
            &client,
            &format!("corbaloc::127.0.0.1:{}/Nobody", served.port()),
        );
        assert_eq!(no_object.as_object().locate(), Ok(false));
        served.end();
    });
}

/// What `locate` makes of an answer.
fn located<'a>(
    status: LocateStatus,
    body: impl FnOnce(&mut CdrWriter<'a>),
) -> Result<bool, SystemException> {
    let server = FakeServer::listen();
    let client = orbium_testkit::client();
    let target = reach(
        &client,
        &reference(2, &[server.port()], b"x", &[]).to_string(),
    );
    let call = orbium_testkit::spawn(move || target.as_object().locate());
    let mut peer = server.accept();
    let (id, _) = peer.expect(MessageKind::LocateRequest).locate_request();
    peer.send(&locate_reply(2, id, status, body));
    within("locate", move || call.join().unwrap())
}

/// Conformance: replies - LocateReply: every status, forwards followed
#[test]
fn every_answer_is_understood() {
    assert_eq!(located(LocateStatus::ObjectHere, |_| {}), Ok(true));
    assert_eq!(located(LocateStatus::UnknownObject, |_| {}), Ok(false));
    let raised = located(LocateStatus::SystemException, |w| {
        w.write_name("IDL:omg.org/CORBA/NO_PERMISSION:1.0");
        w.write_u32(5);
        w.write_u32(Completion::No as u32);
    });
    let expected = SystemException::new(ExceptionKind::NoPermission, 5, Completion::No);
    assert_eq!(raised, Err(expected));
}

/// Conformance: replies - LocateReply: every status, forwards followed
#[test]
fn a_forward_is_followed() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        for status in [LocateStatus::ObjectForward, LocateStatus::ObjectForwardPerm] {
            let there = served.target.as_object().ior();
            assert_eq!(located(status, |w| there.encode(w)), Ok(true));
        }
        served.end();
    });
}

/// Conformance: replies - LocateReply: every status, forwards followed
#[test]
fn an_answer_that_cannot_be_read_is_an_exception() {
    let server = FakeServer::listen();
    let client = orbium_testkit::client();
    let target = reach(
        &client,
        &reference(2, &[server.port()], b"x", &[]).to_string(),
    );
    let call = orbium_testkit::spawn(move || target.as_object().locate());
    let mut peer = server.accept();
    let (id, _) = peer.expect(MessageKind::LocateRequest).locate_request();
    let mut message = b"GIOP\x01\x02\x00\x04\0\0\0\x08".to_vec();
    message.extend(id.to_be_bytes());
    message.extend(99_u32.to_be_bytes());
    peer.send(&message);
    assert!(within("locate", move || call.join().unwrap()).is_err());
}
