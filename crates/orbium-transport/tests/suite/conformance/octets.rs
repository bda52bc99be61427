// SPDX-License-Identifier: MIT OR Apache-2.0
//! Octets arrive as they were sent.

use std::io::{self, IoSlice};
use std::thread;
use std::time::Duration;

use orbium_transport::StreamTransport;

use super::pair::{accept, connect, listen, pair, pattern, receive_up_to, send_all};

pub(crate) fn echo(transport: &dyn StreamTransport, endpoint: &str) {
    let acceptor = listen(transport, endpoint);
    let none = acceptor.accept().unwrap_err();
    assert_eq!(none.kind(), io::ErrorKind::WouldBlock);
    for round in 0..3 {
        let client = connect(transport, acceptor.address()).unwrap();
        let server = accept(&*acceptor);
        for length in [1, 12, 1000, 70_000] {
            let octets = pattern(length + round);
            thread::scope(|scope| {
                scope.spawn(|| {
                    let received = receive_up_to(&*server, octets.len()).unwrap();
                    send_all(&*server, &received).unwrap();
                });
                send_all(&*client, &octets).unwrap();
                assert_eq!(receive_up_to(&*client, octets.len()).unwrap(), octets);
            });
        }
    }
}

pub(crate) fn many_pieces(transport: &dyn StreamTransport, endpoint: &str) {
    let (client, server) = pair(transport, endpoint);
    let octets = pattern(100_000);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut cut: Vec<_> = octets.chunks(7001).map(IoSlice::new).collect();
            // One that is empty is nothing special.
            cut.insert(3, IoSlice::new(&[]));
            let mut pieces = cut.as_mut_slice();
            while !pieces.is_empty() {
                let sent = client.send_vectored(pieces).unwrap();
                assert!(sent > 0);
                IoSlice::advance_slices(&mut pieces, sent);
            }
        });
        assert_eq!(receive_up_to(&*server, octets.len()).unwrap(), octets);
    });
}

pub(crate) fn both_directions_at_once(transport: &dyn StreamTransport, endpoint: &str) {
    let (client, server) = pair(transport, endpoint);
    let octets = pattern(3 << 20);
    thread::scope(|scope| {
        for stream in [&client, &server] {
            scope.spawn(|| send_all(&**stream, &octets).unwrap());
            scope.spawn(|| {
                let received = receive_up_to(&**stream, octets.len()).unwrap();
                assert!(received == octets);
            });
        }
    });
}

pub(crate) fn waiting_is_bounded(transport: &dyn StreamTransport, endpoint: &str) {
    let (client, server) = pair(transport, endpoint);
    let mut room = [0; 8];
    for time in [Duration::from_millis(5), Duration::from_nanos(1)] {
        client.set_timeouts(Some(Some(time)), None).unwrap();
        let error = client.receive(&mut room).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
    client
        .set_timeouts(Some(Some(Duration::ZERO)), None)
        .unwrap_err();
    client.set_nonblocking(true).unwrap();
    client.set_timeouts(Some(None), Some(None)).unwrap();
    let error = client.receive(&mut room).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    client.set_nonblocking(false).unwrap();
    send_all(&*server, b"late").unwrap();
    assert_eq!(receive_up_to(&*client, 4).unwrap(), b"late");
}
