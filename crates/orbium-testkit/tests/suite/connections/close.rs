// SPDX-License-Identifier: MIT OR Apache-2.0
//! Orderly close of connections.

use std::sync::mpsc;

use orbium::giop::{
    HEADER_LEN, MessageHeader, MessageKind, ReplyStatus, SystemException, Version,
    close_connection, minor,
};
use orbium::{Completion, ExceptionKind, Orb};
use orbium_testkit::{
    FakeServer, Peer, RequestLine, Served, client, descriptors, each_pair, each_strategy,
    eventually, in_own_process, reach, reference, reply, request, within,
};

/// Conformance: connections - a client that ends says so, and a server that receives this closes
/// too
#[test]
fn a_client_that_ends_says_so() {
    let server = FakeServer::listen();
    let client = client();
    let target = reach(
        &client,
        &reference(2, &[server.port()], b"x", &[]).to_string(),
    );
    let call = orbium_testkit::spawn(move || target.noop());
    let mut peer = server.accept();
    let request = peer.expect_request("noop");
    peer.answer(&request, |_| {});
    call.join().unwrap().unwrap();
    client.shutdown(true).unwrap();
    peer.expect(MessageKind::CloseConnection);
    peer.expect_end();
}

/// Conformance: connections - a client that ends says so, and a server that receives this closes
/// too
#[test]
fn a_server_ends_its_connection_after_close_connection() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        peer.send(&request(RequestLine::new(2, "noop"), |_| {}));
        // The request before it is answered.
        peer.send(&close_connection(Version::V1_2));
        assert_eq!(peer.receive().reply().0, 2);
        peer.expect_end();
        served.end();
    });
}

/// Conformance: connections - a client that ends says so, and a server that receives this closes
/// too
/// Conformance: TAO 29 - the connection cache has a hard limit, busy ones are never purged
#[test]
fn connections_that_servers_have_closed_are_not_kept_for_ever() {
    in_own_process!(|| {
        let before = descriptors();
        let client = client();
        for _ in 0..300 {
            let server = FakeServer::listen();
            let target = reach(
                &client,
                &reference(2, &[server.port()], b"x", &[]).to_string(),
            );
            let call = orbium_testkit::spawn(move || target.noop());
            let mut peer = server.accept();
            let request = peer.expect_request("noop");
            peer.answer(&request, |_| {});
            call.join().unwrap().unwrap();
            peer.close();
        }
        eventually("most descriptors are given back", || {
            descriptors() < before + 290
        });
        client.shutdown(true).unwrap();
        eventually("all descriptors are given back", || {
            descriptors() <= before + 20
        });
    });
}

/// Conformance: connections - a servant sees whether the connection of an earlier request is still open
#[test]
fn a_servant_watches_the_connections_of_its_requests() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (send, watched) = mpsc::channel();
        served.state.on_act(move |call, v| {
            send.send(call.connection()).unwrap();
            Ok(v)
        });
        let next = || watched.recv().unwrap();
        assert_eq!(served.target.act(0), Ok(0));
        assert_eq!(next(), None, "within the process");
        let (one, target) = served.client();
        let (two, other) = served.client();
        for target in [&target, &target, &other] {
            assert_eq!(target.act(1), Ok(1));
        }
        let [first, again, of_other] = [next(), next(), next()].map(Option::unwrap);
        assert_eq!(first, again);
        assert_ne!(first, of_other);
        one.shutdown(true).unwrap();
        eventually("the end of the first one", || !first.is_open());
        assert!(of_other.is_open());
        two.shutdown(true).unwrap();
        served.end();
        eventually("the end of both", || !of_other.is_open());
    });
}

/// Conformance: connections - a servant sees that its client is gone while it serves a request
#[test]
fn a_servant_that_waits_sees_the_end_of_its_client() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (send, outcome) = mpsc::channel();
        served.state.on_act(move |call, v| {
            send.send(call.is_connected()).unwrap();
            if v == 1 {
                eventually("the end of the client", || !call.is_connected());
                send.send(false).unwrap();
            }
            Ok(v)
        });
        assert_eq!(served.target.act(0), Ok(0));
        assert_eq!(outcome.recv(), Ok(true), "within the process");
        let mut peer = Peer::connect(served.port());
        peer.send(&request(RequestLine::new(2, "act"), |w| w.write_u32(1)));
        assert_eq!(outcome.recv(), Ok(true));
        drop(peer);
        assert_eq!(outcome.recv(), Ok(false));
        served.end();
    });
}

/// A server that closes in the middle of a reply has served the request. The client took the request for
/// one that was not begun, and had it served again.
///
/// Conformance: connections - CloseConnection in the middle of a reply: COMM_FAILURE, COMPLETED_MAYBE
#[test]
fn a_request_of_which_the_reply_has_begun_is_not_sent_again() {
    each_pair(|config| {
        let server = FakeServer::listen();
        let client = Orb::new(config).unwrap();
        let ior = reference(2, &[server.port()], b"x", &[]);
        let target = reach(&client, &ior.to_string());
        let call = orbium_testkit::spawn(move || target.echo_long(1));
        let mut peer = server.accept();
        let request = peer.expect_request("echo_long");
        let (order, status) = (request.header.order, ReplyStatus::NoException);
        let mut begun = reply(2, order, request.id, status, |_| {});
        let head = begun.first_chunk::<HEADER_LEN>().unwrap();
        let header = MessageHeader {
            more_fragments: true,
            ..MessageHeader::parse(head).unwrap()
        };
        begun[..HEADER_LEN].copy_from_slice(&header.encode());
        peer.send(&begun);
        peer.send(&close_connection(Version::V1_2));
        peer.close();
        let lost = SystemException::orbium(
            ExceptionKind::CommFailure,
            minor::CONNECTION_LOST,
            Completion::Maybe,
        );
        assert_eq!(within("the call", move || call.join().unwrap()), Err(lost));
        client.shutdown(true).unwrap();
    });
}
