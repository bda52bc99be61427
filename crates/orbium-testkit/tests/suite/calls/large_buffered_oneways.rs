// SPDX-License-Identifier: MIT OR Apache-2.0
//! SYNC_NONE: large oneways, which are not copied into the buffer.

use super::buffered_oneways::{A_MOMENT, HELD, counted, posts, target_of};
use orbium::Interface;
use orbium_testkit::{FakeServer, client};

/// Conformance: Messaging - buffered oneways - one of 16 KiB or more is sent at once, behind what is buffered
#[test]
fn a_large_oneway_is_sent_behind_the_buffer() {
    let (server, client) = (FakeServer::listen(), client());
    let target = target_of(&server, &client).with_buffering(HELD);
    target.post(1).unwrap();
    let mut peer = server.accept();
    assert!(peer.is_silent(A_MOMENT));
    for size in [16 << 10, 100_000, 17_000] {
        let octets = vec![7; size];
        target.post(2).unwrap();
        target.pour(&octets).unwrap();
        if size == 16 << 10 {
            assert_eq!(posts(&mut peer, 1), [1]);
        }
        assert_eq!(posts(&mut peer, 1), [2]);
        assert_eq!(peer.expect_request("pour").body[4..], octets);
    }
    target.post(3).unwrap();
    assert!(peer.is_silent(A_MOMENT));
}

/// What the server does not take at once is sent before all that follows.
#[test]
fn large_oneways_arrive_whole_and_in_order() {
    let (server, client) = (FakeServer::listen(), client());
    let target = target_of(&server, &client).with_buffering(HELD);
    target.post(0).unwrap();
    let octets = vec![7; 300_000];
    let mut sent = 0;
    // Until the connection takes no more.
    while counted(&client, "flow_control_begun") == 0 {
        target.pour(&octets).unwrap();
        sent += 1;
        target.post(sent).unwrap();
    }
    let mut peer = server.accept();
    assert_eq!(posts(&mut peer, 1), [0]);
    let reading = orbium_testkit::spawn(move || {
        for place in 1..=sent {
            assert_eq!(peer.expect_request("pour").body.len(), 300_004);
            assert_eq!(posts(&mut peer, 1), [place]);
        }
    });
    target.flush_oneways(orbium_testkit::PATIENCE).unwrap();
    reading.join().unwrap();
}
