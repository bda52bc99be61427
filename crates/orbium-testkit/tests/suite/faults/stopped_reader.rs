// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clients that do not read what they are sent.

use std::thread;
use std::time::Duration;

use orbium::giop::{HEADER_LEN, MessageHeader, MessageKind, ReplyStatus};
use orbium::{
    Config,
    config::{Limits, ServerStrategy},
};
use orbium_testkit::{Peer, RequestLine, Served, each_strategy, eventually, in_order, request};

fn impatient(strategy: ServerStrategy) -> Served {
    Served::with(Config {
        strategy,
        limits: Limits {
            send_time: Duration::from_millis(300),
            ..Limits::default()
        },
        ..Config::default()
    })
}

/// Asks for more than the kernel keeps, and reads nothing of it.
fn stopped(served: &Served) -> Peer {
    let mut peer = Peer::connect(served.port());
    for id in 0..4 {
        peer.send(&request(RequestLine::new(id, "make"), |w| {
            w.write_u32(16 << 20);
        }));
    }
    peer
}

/// Conformance: robustness - a client that stops reading
/// Conformance: TAO 20 - SYNC_NONE never blocks - a server is not held up by a stopped reader
/// Conformance: complaint 3 - one dead TLS peer blocks every thread of a pool
#[test]
fn a_client_that_reads_nothing_does_not_keep_others_waiting() {
    each_strategy(|strategy| {
        let served = Served::new(in_order(strategy));
        let stopped: Vec<Peer> = (0..3).map(|_| stopped(&served)).collect();
        let (_client, target) = served.client();
        for v in 0..100 {
            assert_eq!(target.echo_long(v), Ok(v));
        }
        // Served all the same when it begins to read.
        let mut late = stopped.into_iter().next().unwrap();
        for id in 0..4 {
            let (answered, _, body) = late.receive().reply();
            assert_eq!((answered, body.len()), (id, (16 << 20) + 4));
        }
        drop(late);
        served.end();
    });
}

/// Conformance: connections - a client that does not read its replies is given up
/// Conformance: robustness - a client that stops reading
#[test]
fn a_client_that_reads_nothing_is_given_up_in_the_end() {
    each_strategy(|strategy| {
        let served = impatient(strategy);
        // A server that gets no processor has not waited in vain yet.
        let given_up = [1, 4, 16].into_iter().any(|seconds| {
            let mut peer = stopped(&served);
            thread::sleep(Duration::from_secs(seconds));
            // Not all four are still sent, now that it reads.
            let replies = std::iter::from_fn(|| peer.try_receive())
                .filter(|message| message.kind() == MessageKind::Reply);
            replies.take(4).count() < 4
        });
        assert!(given_up, "the server never gave up");
        served.end();
    });
}

/// Conformance: robustness - a client that stops reading
#[test]
fn a_client_that_reads_nothing_does_not_keep_the_orb_from_ending() {
    each_strategy(|strategy| {
        let served = impatient(strategy);
        let peer = stopped(&served);
        let (_client, target) = served.client();
        target.noop().unwrap();
        served.end();
        drop(peer);
    });
}

/// Asks for a large reply that is made by a thread which no longer reads the
/// connection, because the adapter holds the request. The reply comes when the
/// manager is activated.
fn held(served: &Served) -> Peer {
    let manager = served.orb.root_poa().manager();
    manager.hold_requests(true).unwrap();
    let mut peer = Peer::connect(served.port());
    peer.send(&request(RequestLine::new(1, "make"), |w| {
        w.write_u32(16 << 20);
    }));
    // Answered by the thread that reads now: the request before it is held.
    let no_object = RequestLine {
        key: b"Nobody",
        ..RequestLine::new(2, "noop")
    };
    peer.send(&request(no_object, |_| {}));
    let (id, status, _) = peer.receive().reply();
    assert_eq!((id, status), (2, ReplyStatus::SystemException));
    peer
}

/// Conformance: connections - a client that does not read its replies is given up
#[test]
fn a_client_that_does_not_read_a_late_reply_is_given_up_too() {
    each_strategy(|strategy| {
        let served = impatient(strategy);
        let mut peer = held(&served);
        served.orb.root_poa().manager().activate().unwrap();
        // The reply has begun. Nothing else happens on this server that could
        // remind it of the rest, and now it reads nothing from this client.
        peer.receive_octets(&mut [0; HEADER_LEN]);
        thread::sleep(Duration::from_millis(100));
        eventually("the connection is given up", || !peer.try_send(b"?"));
        served.end();
    });
}

/// Conformance: connections - messages never stand within each other
#[test]
fn replies_are_sent_after_the_client_has_sent_nonsense() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = held(&served);
        peer.send(b"GET / HTTP/1.1\r\n\r\n");
        peer.expect(MessageKind::MessageError);
        served.orb.root_poa().manager().activate().unwrap();
        let (id, status, body) = peer.receive().reply();
        assert_eq!((id, status), (1, ReplyStatus::NoException));
        assert_eq!(body.len(), (16 << 20) + 4);
        peer.expect(MessageKind::CloseConnection);
        peer.expect_end();
        served.end();
    });
}

#[test]
fn replies_are_sent_after_the_client_has_ended_its_sending() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = held(&served);
        peer.finish_sending();
        served.orb.root_poa().manager().activate().unwrap();
        let (id, _, body) = peer.receive().reply();
        assert_eq!((id, body.len()), (1, (16 << 20) + 4));
        peer.expect(MessageKind::CloseConnection);
        peer.expect_end();
        served.end();
    });
}

/// Once a CloseConnection could stand in the middle of a reply that the peer
/// took too slowly when the ORB ended.
///
/// Conformance: connections - messages never stand within each other
#[test]
fn the_last_word_never_stands_within_a_reply() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = stopped(&served);
        eventually("a request is served", || served.state.calls() > 0);
        let ending = orbium_testkit::spawn(move || served.end());
        // Reads again when the server has nearly given up.
        thread::sleep(Duration::from_millis(1500));
        // Whatever ends it, what came before counts.
        let sent = peer.receive_rest();
        let mut rest = sent.as_slice();
        while let Some(header) = rest.first_chunk::<HEADER_LEN>() {
            let header = MessageHeader::parse(header).expect("a header");
            let len = (HEADER_LEN + header.size as usize).min(rest.len());
            let (message, behind) = rest.split_at(len);
            // The others are refused, as the ORB ends.
            let is_large = header.size > 1 << 20;
            if is_large {
                // Header, id, status, contexts, count: then what was asked for.
                let data = message.get(28..).unwrap_or_default();
                assert!(data.iter().all(|octet| *octet == 0xA5));
            }
            let expected = [MessageKind::Reply, MessageKind::CloseConnection];
            assert!(is_large || expected.contains(&header.kind));
            rest = behind;
        }
        ending.join().unwrap();
    });
}
