// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages in fragments, received and sent.

use std::time::Duration;

use orbium::giop::{
    CancelRequest, FragmentPlan, HEADER_LEN, MessageHeader, MessageKind, ReplyStatus, Version,
};
use orbium::{Config, Orb, config::Limits};
use orbium_cdr::ByteOrder;
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Peer, RequestLine, Served, calling_by, each_client_strategy, each_strategy,
    in_order, reach, reference, reply, request, within,
};

/// A GIOP 1.2 message in fragments with at most `limit` octets each.
fn fragments(message: &[u8], limit: usize) -> Vec<Vec<u8>> {
    let plan = FragmentPlan::new(message, message.len(), limit).expect("a GIOP 1.2 message");
    plan.map(|part| [part.head(), &message[part.range.clone()]].concat())
        .collect()
}

/// A GIOP 1.2 message split into two at any multiple of eight.
fn split_at(message: &[u8], at: usize) -> [Vec<u8>; 2] {
    let mut header = MessageHeader::parse(message.first_chunk().unwrap()).unwrap();
    let id = message[HEADER_LEN..HEADER_LEN + 4].to_vec();
    header.more_fragments = true;
    header.size = (at - HEADER_LEN) as u32;
    let first = [&header.encode()[..], &message[HEADER_LEN..at]].concat();
    header.more_fragments = false;
    header.kind = MessageKind::Fragment;
    header.size = (message.len() - at + 4) as u32;
    let second = [&header.encode()[..], &id, &message[at..]].concat();
    [first, second]
}

fn octets(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 % 251) as u8).collect()
}

fn echo_request(id: u32, order: ByteOrder, octets: &[u8]) -> Vec<u8> {
    let line = RequestLine {
        order,
        ..RequestLine::new(id, "echo_octets")
    };
    request(line, |w| w.write_octets(octets))
}

fn expect_echo(peer: &mut Peer, id: u32, octets: &[u8]) {
    let (answered, status, body) = peer.receive().reply();
    assert_eq!((answered, status), (id, ReplyStatus::NoException));
    assert_eq!(&body[..4], (octets.len() as u32).to_ne_bytes());
    assert_eq!(&body[4..], octets);
}

/// Conformance: fragments - received, 1.2, cut anywhere
/// Conformance: complaint 24 - fragments are mishandled
#[test]
fn a_request_split_anywhere_is_served() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        let sent = octets(100);
        let mut id = 0;
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let whole = echo_request(0, order, &sent);
            for at in (16..whole.len()).step_by(8) {
                id += 2;
                for part in split_at(&echo_request(id, order, &sent), at) {
                    peer.send(&part);
                }
                expect_echo(&mut peer, id, &sent);
            }
        }
        served.end();
    });
}

/// Conformance: fragments - received, 1.2, cut anywhere
#[test]
fn a_request_in_many_fragments_of_every_size_is_served() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        let sent = octets(3000);
        for (id, size) in (24..200).step_by(8).enumerate() {
            let id = id as u32;
            let parts = fragments(&echo_request(id, ByteOrder::NATIVE, &sent), size);
            assert!(parts.len() > 10);
            peer.send(&parts.concat());
            expect_echo(&mut peer, id, &sent);
        }
        served.end();
    });
}

/// Conformance: fragments - received, 1.2, interleaved
#[test]
fn whole_requests_pass_between_the_fragments_of_another() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        let sent = octets(600);
        for (part, id) in fragments(&echo_request(0, ByteOrder::NATIVE, &sent), 64)
            .iter()
            .zip((2..).step_by(2))
        {
            peer.send(&echo_request(id, ByteOrder::NATIVE, b"between"));
            expect_echo(&mut peer, id, b"between");
            peer.send(part);
        }
        expect_echo(&mut peer, 0, &sent);
        served.end();
    });
}

/// Conformance: fragments - received, 1.2, interleaved
/// Conformance: complaint 24 - fragments are mishandled
#[test]
fn each_of_several_interleaved_requests_is_answered() {
    each_strategy(|strategy| {
        let served = Served::new(in_order(strategy));
        let mut peer = Peer::connect(served.port());
        let parts: Vec<Vec<Vec<u8>>> = (0..5u32)
            .map(|id| fragments(&echo_request(id, ByteOrder::NATIVE, &octets(500)), 64))
            .collect();
        for place in 0..parts[0].len() {
            for message in &parts {
                peer.send(&message[place]);
            }
        }
        for id in 0..5 {
            expect_echo(&mut peer, id, &octets(500));
        }
        served.end();
    });
}

/// Conformance: fragments - cancelled between its fragments
#[test]
fn a_request_cancelled_between_its_fragments_is_not_served() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        let parts = fragments(&echo_request(4, ByteOrder::NATIVE, &octets(500)), 64);
        let (early, late) = parts.split_at(3);
        peer.send(&early.concat());
        let cancel = CancelRequest { request_id: 4 };
        peer.send(&cancel.message(Version::V1_2, ByteOrder::NATIVE));
        peer.send(&late.concat());
        peer.send(&echo_request(6, ByteOrder::NATIVE, &octets(9)));
        expect_echo(&mut peer, 6, &octets(9));
        assert_eq!(served.state.calls(), 1);
        served.end();
    });
}

/// Conformance: fragments - limits
#[test]
fn too_much_in_fragments_is_refused_and_costs_the_connection_at_most() {
    each_strategy(|strategy| {
        let served = Served::with(Config {
            strategy,
            limits: Limits {
                message_size: 10_000,
                messages_in_assembly: 4,
                ..Limits::default()
            },
            ..Config::default()
        });
        let (_client, target) = served.client();
        // Too much in one message.
        let mut peer = Peer::connect(served.port());
        let parts = fragments(&echo_request(2, ByteOrder::NATIVE, &octets(20_000)), 1000);
        for part in &parts {
            if !peer.try_send(part) {
                break;
            }
        }
        // Refused by IMP_LIMIT; the rest is skipped and the connection goes on.
        let (id, status, _) = peer.receive().reply();
        assert_eq!((id, status), (2, ReplyStatus::SystemException));
        peer.send(&echo_request(4, ByteOrder::NATIVE, &octets(9)));
        expect_echo(&mut peer, 4, &octets(9));
        // Too many messages.
        let mut peer = Peer::connect(served.port());
        for id in 0..6 {
            let parts = fragments(&echo_request(id, ByteOrder::NATIVE, &octets(500)), 64);
            if !peer.try_send(&parts[0]) {
                break;
            }
        }
        peer.expect(MessageKind::MessageError);
        peer.expect_end();
        assert_eq!(target.echo_long(1), Ok(1));
        served.end();
    });
}

/// Conformance: fragments - received, 1.1, one after the other
#[test]
fn fragments_of_giop_1_1_are_served() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        let sent = octets(64);
        let line = RequestLine {
            minor: 1,
            ..RequestLine::new(8, "echo_octets")
        };
        let whole = request(line, |w| w.write_octets(&sent));
        // Cut within the octets, which have no alignment.
        let at = whole.len() - 32;
        let mut header = MessageHeader::parse(whole.first_chunk().unwrap()).unwrap();
        header.more_fragments = true;
        header.size = (at - HEADER_LEN) as u32;
        peer.send(&header.encode());
        peer.send(&whole[HEADER_LEN..at]);
        header.more_fragments = false;
        header.kind = MessageKind::Fragment;
        header.size = 32;
        peer.send(&header.encode());
        peer.send(&whole[at..]);
        expect_echo(&mut peer, 8, &sent);
        served.end();
    });
}

/// Conformance: fragments - received, 1.2, cut anywhere
#[test]
fn a_reply_split_anywhere_is_understood() {
    let server = FakeServer::listen();
    let client = orbium_testkit::client();
    let target = reach(
        &client,
        &reference(2, &[server.port()], b"x", &[]).to_string(),
    );
    let sent = octets(100);
    let len = reply(2, ByteOrder::Big, 0, ReplyStatus::NoException, |w| {
        w.write_octets(&sent);
    })
    .len();
    let cases: Vec<(ByteOrder, usize)> = [ByteOrder::Little, ByteOrder::Big]
        .into_iter()
        .flat_map(|order| (16..len).step_by(8).map(move |at| (order, at)))
        .collect();
    let count = cases.len();
    let expected = sent.clone();
    let script = orbium_testkit::spawn(move || {
        let mut peer = server.accept();
        for (order, at) in cases {
            let request = peer.expect_request("echo_octets");
            let whole = reply(2, order, request.id, ReplyStatus::NoException, |w| {
                w.write_octets(&sent);
            });
            for part in split_at(&whole, at) {
                peer.send(&part);
            }
        }
    });
    let calls = move || {
        for _ in 0..count {
            assert_eq!(target.echo_octets(&[]).unwrap(), expected);
        }
    };
    within("the calls", calls);
    script.join().unwrap();
}

/// The rest of a reply that had come whole was waited for until the deadline: a message that
/// said that more fragments follow counted as one of which more had to be received. It was
/// found with replies of omniORB, as soon as a receive brought several of their fragments.
#[test]
fn fragments_of_a_reply_that_come_at_once_are_understood_within_a_deadline() {
    each_client_strategy(|strategy| {
        let server = FakeServer::listen();
        let config = Config {
            call_timeout: Some(Duration::from_secs(3600)),
            ..calling_by(strategy)
        };
        let client = Orb::new(config).unwrap();
        let ior = reference(2, &[server.port()], b"x", &[]).to_string();
        let target = reach(&client, &ior);
        let sent = octets(100);
        let expected = sent.clone();
        let call = orbium_testkit::spawn(move || target.echo_octets(&[]));
        let mut peer = server.accept();
        let request = peer.expect_request("echo_octets");
        let whole = reply(
            2,
            ByteOrder::NATIVE,
            request.id,
            ReplyStatus::NoException,
            |w| {
                w.write_octets(&sent);
            },
        );
        peer.send(&fragments(&whole, 32).concat());
        let received = within("the call", move || call.join().unwrap());
        assert_eq!(received.unwrap(), expected);
    });
}

/// A server and a client that send fragments above `size`.
fn fragmenting(strategy: orbium::config::ServerStrategy, size: usize) -> (Served, Orb, Target) {
    let served = Served::with(Config {
        strategy,
        fragment_size: Some(size),
        ..Config::default()
    });
    let client = Orb::new(Config {
        fragment_size: Some(size),
        ..Config::default()
    })
    .unwrap();
    let target = served.seen_by(&client);
    (served, client, target)
}

/// Conformance: fragments - sent above `Config::fragment_size`, 1.2
#[test]
fn both_sides_understand_the_fragments_they_send() {
    each_strategy(|strategy| {
        for size in [24, 25, 64, 1000, 65_536] {
            let (served, _client, target) = fragmenting(strategy, size);
            for len in [0, 1, 23, 24, 25, 999, 1000, 70_000] {
                let sent = octets(len);
                assert_eq!(target.echo_octets(&sent).unwrap(), sent, "{size} {len}");
            }
            let text = "ä€🦀".repeat(200);
            assert_eq!(target.echo_string(&text).unwrap(), text);
            served.end();
        }
    });
}

#[test]
fn fragments_too_small_to_hold_anything_are_refused() {
    let config = |size| Config {
        fragment_size: Some(size),
        ..Config::default()
    };
    assert!(Orb::new(config(23)).is_err());
    assert!(Orb::new(config(24)).is_ok());
}

/// Conformance: fragments - sent above `Config::fragment_size`, 1.2
#[test]
fn fragments_sent_have_the_form_that_the_standard_asks_for() {
    each_strategy(|strategy| {
        let (served, _client, _) = fragmenting(strategy, 64);
        let mut peer = Peer::connect(served.port());
        let sent = octets(500);
        peer.send(&echo_request(10, ByteOrder::NATIVE, &sent));
        let first = peer.expect(MessageKind::Reply);
        assert!(first.header.more_fragments);
        let mut whole = first.octets;
        loop {
            assert_eq!(whole.len() % 8, 0);
            let next = peer.expect(MessageKind::Fragment);
            assert!(next.octets.len() <= 64);
            assert_eq!(&next.octets[12..16], 10u32.to_ne_bytes());
            whole.extend_from_slice(&next.octets[16..]);
            if !next.header.more_fragments {
                break;
            }
            assert_eq!(next.octets.len() % 8, 0);
        }
        assert_eq!(&whole[whole.len() - 500..], sent);
        // Small replies and those of older versions stay whole.
        peer.send(&request(RequestLine::new(12, "noop"), |_| {}));
        assert!(!peer.expect(MessageKind::Reply).header.more_fragments);
        let line = RequestLine {
            minor: 1,
            ..RequestLine::new(14, "echo_octets")
        };
        peer.send(&request(line, |w| w.write_octets(&sent)));
        assert!(!peer.expect(MessageKind::Reply).header.more_fragments);
        served.end();
    });
}
