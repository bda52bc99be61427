// SPDX-License-Identifier: MIT OR Apache-2.0
//! A slow receiver slows the sender down and makes it keep nothing.

use std::io;
use std::time::Duration;

use orbium_sys::Interest;
use orbium_transport::{ByteStream, StreamTransport};

use super::pair::{LONG, is_ready, pair, pattern, receive_up_to, send_all};

/// More than any transport may take while its peer receives nothing.
const MUCH: usize = 64 << 20;

/// Sends until nothing is taken any more; returns how much was taken with what
/// was before.
fn fill(stream: &dyn ByteStream, mut sent: usize) -> usize {
    let octets = pattern(50_000);
    loop {
        match stream.send(&octets[sent % octets.len()..]) {
            Ok(count) => sent += count,
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                return sent;
            }
        }
        assert!(sent < MUCH, "there is no bound");
    }
}

fn is_filling(received: &[u8]) -> bool {
    let octets = pattern(50_000);
    let expected = octets.iter().cycle();
    received.iter().zip(expected).all(|(a, b)| a == b)
}

pub(crate) fn partial_sends_lose_nothing(transport: &dyn StreamTransport, endpoint: &str) {
    let (client, server) = pair(transport, endpoint);
    client.set_nonblocking(true).unwrap();
    let octets = pattern(2 << 20);
    std::thread::scope(|scope| {
        scope.spawn(|| send_all(&*client, &octets).unwrap());
        let mut received = Vec::new();
        let mut room = [0; 4099];
        while received.len() < octets.len() {
            let count = server.receive(&mut room).unwrap();
            assert!(count > 0);
            received.extend_from_slice(&room[..count]);
        }
        assert!(received == octets);
    });
}

pub(crate) fn stopped_reader_stops_the_sender(transport: &dyn StreamTransport, endpoint: &str) {
    let (client, server) = pair(transport, endpoint);
    client.set_nonblocking(true).unwrap();
    assert!(is_ready(&*client, Interest::Write, Duration::ZERO));
    let mut sent = fill(&*client, 0);
    // What is under way may make room once more.
    while is_ready(&*client, Interest::Write, Duration::from_millis(20)) {
        sent = fill(&*client, sent);
    }
    let received = receive_up_to(&*server, sent).unwrap();
    assert!(received.len() == sent && is_filling(&received));
    assert!(is_ready(&*client, Interest::Write, LONG));
    send_all(&*client, b"on").unwrap();
    assert_eq!(receive_up_to(&*server, 2).unwrap(), b"on");
}

pub(crate) fn stopped_reader_bounds_a_blocking_send(
    transport: &dyn StreamTransport,
    endpoint: &str,
) {
    let (client, server) = pair(transport, endpoint);
    let soon = Some(Duration::from_millis(20));
    client.set_timeouts(None, Some(soon)).unwrap();
    let sent = fill(&*client, 0);
    client.set_timeouts(None, Some(None)).unwrap();
    let received = receive_up_to(&*server, sent).unwrap();
    assert!(received.len() == sent && is_filling(&received));
}

pub(crate) fn source_shows_what_can_be_received(transport: &dyn StreamTransport, endpoint: &str) {
    let (client, server) = pair(transport, endpoint);
    for stream in [&client, &server] {
        stream.set_nonblocking(true).unwrap();
        assert!(!is_ready(&**stream, Interest::Read, Duration::ZERO));
    }
    for _ in 0..3 {
        send_all(&*client, b"abc").unwrap();
        assert!(is_ready(&*server, Interest::Read, LONG));
        // As long as anything is left.
        assert_eq!(receive_up_to(&*server, 1).unwrap(), b"a");
        assert!(is_ready(&*server, Interest::Read, LONG));
        assert_eq!(receive_up_to(&*server, 2).unwrap(), b"bc");
        assert!(!is_ready(&*server, Interest::Read, Duration::ZERO));
    }
    drop(client);
    assert!(is_ready(&*server, Interest::Read, LONG));
    assert_eq!(server.receive(&mut [0; 4]).unwrap(), 0);
    assert!(is_ready(&*server, Interest::Read, LONG));
}
