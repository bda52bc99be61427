// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ends of streams, and streams that never begin.

use std::io;
use std::net::Shutdown;
use std::thread;
use std::time::Duration;

use orbium_testkit::spawn_blocked_in;
use orbium_transport::StreamTransport;

use super::pair::{accept, connect, listen, pair, pattern, receive_up_to, send_all};

pub(crate) fn half_closed(transport: &dyn StreamTransport, endpoint: &str) {
    let (client, server) = pair(transport, endpoint);
    let octets = pattern(10_000);
    send_all(&*client, &octets).unwrap();
    client.shutdown(Shutdown::Write);
    assert!(send_all(&*client, &octets).is_err());
    // All that was sent, then the end; the other way stays open.
    assert_eq!(receive_up_to(&*server, 20_000).unwrap(), octets);
    assert_eq!(server.receive(&mut [0; 8]).unwrap(), 0);
    send_all(&*server, &octets).unwrap();
    drop(server);
    assert_eq!(receive_up_to(&*client, 20_000).unwrap(), octets);
    assert_eq!(client.receive(&mut [0; 8]).unwrap(), 0);
}

pub(crate) fn shutdown_wakes_the_receiver(transport: &dyn StreamTransport, endpoint: &str) {
    for how in [Shutdown::Read, Shutdown::Both] {
        let (client, server) = pair(transport, endpoint);
        thread::scope(|scope| {
            let receiver = spawn_blocked_in(scope, || server.receive(&mut [0; 8]));
            server.shutdown(how);
            assert_eq!(receiver.join().unwrap().unwrap(), 0);
        });
        // For good.
        assert_eq!(server.receive(&mut [0; 8]).unwrap(), 0);
        if how == Shutdown::Read {
            send_all(&*server, b"last").unwrap();
            assert_eq!(receive_up_to(&*client, 4).unwrap(), b"last");
        }
    }
}

pub(crate) fn shutdown_wakes_the_sender(transport: &dyn StreamTransport, endpoint: &str) {
    let (client, _server) = pair(transport, endpoint);
    thread::scope(|scope| {
        let sender = spawn_blocked_in(scope, || {
            let octets = pattern(64 << 20);
            send_all(&*client, &octets)
        });
        client.shutdown(Shutdown::Both);
        assert!(sender.join().unwrap().is_err());
    });
}

pub(crate) fn death_of_the_peer(transport: &dyn StreamTransport, endpoint: &str) {
    // With nothing left behind: an end, then no peer to send to.
    let (client, server) = pair(transport, endpoint);
    send_all(&*server, b"bye").unwrap();
    drop(server);
    assert_eq!(receive_up_to(&*client, 8).unwrap(), b"bye");
    let octets = [0; 1000];
    let error = (0..1000).find_map(|_| {
        // TCP hears of it in answer to the first.
        thread::sleep(Duration::from_millis(1));
        client.send(&octets).err()
    });
    let kind = error.expect("nobody receives").kind();
    let known = [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset];
    assert!(known.contains(&kind), "{kind:?}");

    // In the middle of a receive.
    let (client, server) = pair(transport, endpoint);
    thread::scope(|scope| {
        let receiver = spawn_blocked_in(scope, || client.receive(&mut [0; 8]));
        drop(server);
        assert_eq!(receiver.join().unwrap().unwrap(), 0);
    });

    // In the middle of a send.
    let (client, server) = pair(transport, endpoint);
    thread::scope(|scope| {
        let sender = spawn_blocked_in(scope, || send_all(&*client, &pattern(64 << 20)));
        drop(server);
        let kind = sender.join().unwrap().unwrap_err().kind();
        assert!(known.contains(&kind), "{kind:?}");
    });
}

pub(crate) fn no_listener(transport: &dyn StreamTransport, endpoint: &str) {
    let acceptor = listen(transport, endpoint);
    let address = acceptor.address().to_owned();
    drop(acceptor);
    let kind = connect(transport, &address).unwrap_err().kind();
    let known = [io::ErrorKind::ConnectionRefused, io::ErrorKind::NotFound];
    assert!(known.contains(&kind), "{kind:?}");
}

pub(crate) fn connections_that_are_not_accepted(transport: &dyn StreamTransport, endpoint: &str) {
    let acceptor = listen(transport, endpoint);
    let client = connect(transport, acceptor.address()).unwrap();
    let gone = connect(transport, acceptor.address()).unwrap();
    drop(gone);
    let server = accept(&*acceptor);
    send_all(&*client, b"a").unwrap();
    assert_eq!(receive_up_to(&*server, 1).unwrap(), b"a");
    // The one that has gone is accepted, and at its end.
    let ended = accept(&*acceptor);
    assert_eq!(ended.receive(&mut [0; 8]).unwrap(), 0);

    let client = connect(transport, acceptor.address()).unwrap();
    drop(acceptor);
    // An end or an error, not a wait without end.
    let received = client.receive(&mut [0; 8]);
    assert!(matches!(received, Ok(0) | Err(_)), "{received:?}");
}
