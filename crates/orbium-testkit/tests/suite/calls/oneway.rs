// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests without a reply, or with an early one of the ORB.

use orbium::config::ServerStrategy;
use orbium::giop::{ReplyStatus, ResponseFlags};
use orbium_testkit::{Peer, RequestLine, Served, each_strategy, eventually, request};

fn line(id: u32, operation: &str, response: ResponseFlags) -> RequestLine<'_> {
    RequestLine {
        response,
        ..RequestLine::new(id, operation)
    }
}

/// Conformance: replies - oneways: no reply; SYNC_WITH_SERVER, SYNC_WITH_TARGET answered
#[test]
fn oneways_arrive_in_order_and_are_not_answered() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, target) = served.client();
        for v in 0..1000 {
            target.post(v).unwrap();
        }
        eventually("all arrived", || served.state.posted().len() == 1000);
        assert_eq!(served.state.posted(), (0..1000).collect::<Vec<_>>());
        served.end();
    });
}

/// Conformance: replies - oneways: no reply; SYNC_WITH_SERVER, SYNC_WITH_TARGET answered
#[test]
fn no_reply_is_sent_to_a_request_that_expects_none() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        let silent = ResponseFlags::None;
        peer.send(&request(line(2, "post", silent), |w| w.write_u32(5)));
        // Nor results, nor exceptions of any kind.
        peer.send(&request(line(4, "echo_long", silent), |w| w.write_u32(5)));
        peer.send(&request(line(6, "refuse", silent), |w| w.write_u32(5)));
        peer.send(&request(line(8, "echo_long", silent), |_| {}));
        peer.send(&request(line(10, "unknown", silent), |_| {}));
        let no_object = RequestLine {
            key: b"Nobody",
            ..line(12, "noop", silent)
        };
        peer.send(&request(no_object, |_| {}));
        peer.send(&request(line(14, "noop", ResponseFlags::Full), |_| {}));
        assert_eq!(peer.receive().reply().0, 14);
        assert_eq!(served.state.calls(), 4);
        served.end();
    });
}

/// Conformance: replies - oneways: no reply; SYNC_WITH_SERVER, SYNC_WITH_TARGET answered
/// Conformance: TAO 19 - each SyncScope reports what it should - the server's side
#[test]
fn sync_with_server_is_answered_before_the_servant_runs() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let mut peer = Peer::connect(served.port());
    let early = ResponseFlags::SyncWithServer;
    peer.send(&request(line(2, "gate", early), |_| {}));
    assert_eq!(
        peer.receive().reply(),
        (2, ReplyStatus::NoException, vec![])
    );
    served.state.gate.await_waiting(1);
    served.state.gate.open();
    // Its outcome is not sent.
    peer.send(&request(line(4, "refuse", early), |w| w.write_u32(1)));
    assert_eq!(
        peer.receive().reply(),
        (4, ReplyStatus::NoException, vec![])
    );
    peer.send(&request(line(6, "noop", ResponseFlags::Full), |_| {}));
    assert_eq!(peer.receive().reply().0, 6);
    served.end();
}

/// Conformance: replies - oneways: no reply; SYNC_WITH_SERVER, SYNC_WITH_TARGET answered
#[test]
fn sync_with_server_hears_of_objects_that_are_not_there() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        let no_object = RequestLine {
            key: b"Nobody",
            ..line(2, "post", ResponseFlags::SyncWithServer)
        };
        peer.send(&request(no_object, |w| w.write_u32(1)));
        assert_eq!(peer.receive().reply().1, ReplyStatus::SystemException);
        served.end();
    });
}

/// Conformance: replies - oneways: no reply; SYNC_WITH_SERVER, SYNC_WITH_TARGET answered
/// Conformance: TAO 19 - each SyncScope reports what it should - the server's side
#[test]
fn sync_with_target_is_answered_after_the_servant_ran() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        for minor in [0, 1, 2] {
            let line = RequestLine {
                minor,
                ..line(2, "post", ResponseFlags::Full)
            };
            peer.send(&request(line, |w| w.write_u32(9)));
            let (id, status, body) = peer.receive().reply();
            assert_eq!((id, status, body), (2, ReplyStatus::NoException, vec![]));
            assert_eq!(served.state.posted().len(), usize::from(minor) + 1);
        }
        served.end();
    });
}
