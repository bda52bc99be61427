// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oneways that servants send while they serve.

use std::sync::{Arc, Mutex};
use std::thread;

use orbium::config::ServerStrategy;
use orbium_testkit::{FakeServer, Served, each_strategy, eventually, reach, reference, within};

/// A oneway handed the connection, or the whole reactor, to another thread before it was sent: a
/// wake-up and an allocation for each, though it waited for nothing.
#[test]
fn a_servant_that_sends_a_oneway_keeps_its_thread() {
    for strategy in [
        ServerStrategy::ThreadPerConnection,
        ServerStrategy::Reactive,
    ] {
        let (front, back) = (Served::new(strategy), Served::new(strategy));
        let behind = back.seen_by(&front.orb);
        let threads = Arc::new(Mutex::new(Vec::new()));
        let served_by = Arc::clone(&threads);
        front.state.on_act(move |_, v| {
            behind.post(v)?;
            served_by.lock().unwrap().push(thread::current().id());
            Ok(v)
        });
        let (_client, target) = front.client();
        // The first one waits for a connection.
        target.act(0).unwrap();
        threads.lock().unwrap().clear();
        for v in 1..20 {
            assert_eq!(target.act(v), Ok(v));
        }
        let served_by = threads.lock().unwrap().clone();
        assert!(
            served_by.iter().all(|thread| *thread == served_by[0]),
            "{strategy}: {served_by:?}"
        );
        eventually("the oneways arrive", || {
            back.state.posted() == (0..20).collect::<Vec<_>>()
        });
        front.end();
        back.end();
    }
}

/// Oneways that are sent at once as far as there is room, and then wait: others are served, and
/// each message goes out whole.
#[test]
fn a_oneway_of_a_servant_that_waits_for_room_keeps_nothing_else_waiting() {
    const COUNT: i32 = 2000;
    // Together more than both sockets hold.
    const SIZE: usize = 8000;
    each_strategy(|strategy| {
        let front = Served::new(strategy);
        let server = FakeServer::listen();
        let ior = reference(2, &[server.port()], b"x", &[]);
        let slow = reach(&front.orb, &ior.to_string());
        front.state.on_act(move |_, count| {
            for _ in 0..count {
                slow.pour(&[7; SIZE])?;
            }
            Ok(count)
        });
        let (_client, target) = front.client();
        let pouring = orbium_testkit::spawn(move || target.act(COUNT));
        let mut peer = server.accept();
        let (_other, target) = front.client();
        within("other requests", move || {
            for v in 0..100 {
                assert_eq!(target.echo_long(v), Ok(v));
            }
        });
        for _ in 0..COUNT {
            let request = peer.expect_request("pour");
            assert_eq!(request.body.len(), SIZE + 4);
        }
        assert_eq!(pouring.join().unwrap(), Ok(COUNT));
        front.end();
    });
}
