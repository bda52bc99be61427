// SPDX-License-Identifier: MIT OR Apache-2.0
//! Orderly close of connections.

use std::thread;

use orbium::giop::{MessageKind, Version, close_connection};
use orbium_testkit::{
    FakeServer, Peer, RequestLine, Served, client, descriptors, each_strategy, eventually,
    in_own_process, reach, reference, request,
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
    let call = thread::spawn(move || target.noop());
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
            let call = thread::spawn(move || target.noop());
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
