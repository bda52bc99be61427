// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections that must not make other threads wait.
#![cfg(target_os = "linux")]

use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::thread;
use std::time::Duration;

use crate::pair::{LONG, pair, pattern, receive_all, send_all};
use orbium_shm::{ShmOptions, Spin};
use orbium_sys::{Interest, wait_for};
use orbium_transport::ByteStream;

fn small() -> ShmOptions {
    ShmOptions {
        ring: 4096,
        spin: Spin::None,
    }
}

/// Whether the descriptor is ready.
fn is_ready(stream: &dyn ByteStream, interest: Interest) -> bool {
    let source = stream.source();
    let [ready] = wait_for([(&source, interest)], Some(Duration::ZERO)).unwrap();
    ready
}

/// Waits as a reactor does; fails if it takes too long.
fn wait(stream: &dyn ByteStream, interest: Interest) {
    if interest == Interest::Read && stream.has_buffered() {
        return;
    }
    let source = stream.source();
    let [ready] = wait_for([(&source, interest)], Some(LONG)).unwrap();
    assert!(ready, "never {interest:?}");
}

/// How often a wait ended for nothing.
#[derive(Default)]
struct Vain(u32);

impl Vain {
    /// The result, unless one has to wait.
    fn try_or_wait(
        &mut self,
        stream: &dyn ByteStream,
        interest: Interest,
        result: io::Result<usize>,
    ) -> Option<usize> {
        match result {
            Ok(count) => Some(count),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                self.0 += 1;
                wait(stream, interest);
                None
            }
        }
    }
}

fn echo(stream: &dyn ByteStream) -> u32 {
    stream.set_nonblocking(true).unwrap();
    let mut vain = Vain::default();
    let mut room = [0; 3000];
    loop {
        let received = stream.receive(&mut room);
        let Some(count) = vain.try_or_wait(stream, Interest::Read, received) else {
            continue;
        };
        let mut rest = &room[..count];
        if rest.is_empty() {
            return vain.0;
        }
        while !rest.is_empty() {
            let sent = stream.send(rest);
            if let Some(count) = vain.try_or_wait(stream, Interest::Write, sent) {
                rest = &rest[count..];
            }
        }
    }
}

#[test]
fn a_reactor_serves_a_client_that_sleeps() {
    let (client, server) = pair(small());
    thread::scope(|scope| {
        let server = scope.spawn(|| echo(&*server));
        for size in [1, 100, 4096, 4097, 50_000, 7] {
            let octets = pattern(size, size);
            thread::scope(|scope| {
                scope.spawn(|| send_all(&*client, &octets).unwrap());
                assert!(receive_all(&*client, size).unwrap() == octets);
            });
        }
        client.shutdown(Shutdown::Write);
        server.join().unwrap();
    });
}

#[test]
fn two_reactors_serve_each_other() {
    let (client, server) = pair(small());
    let octets = pattern(100_000, 3);
    thread::scope(|scope| {
        scope.spawn(|| echo(&*server));
        client.set_nonblocking(true).unwrap();
        let mut vain = Vain::default();
        let (mut sent, mut received) = (0, Vec::new());
        while received.len() < octets.len() {
            // As much as goes, and then what comes.
            while sent < octets.len() {
                match client.send(&octets[sent..]) {
                    Ok(count) => sent += count,
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::WouldBlock);
                        break;
                    }
                }
            }
            let mut room = [0; 1000];
            let got = client.receive(&mut room);
            if let Some(count) = vain.try_or_wait(&*client, Interest::Read, got) {
                received.extend_from_slice(&room[..count]);
            }
        }
        assert!(received == octets);
        client.shutdown(Shutdown::Write);
    });
}

#[test]
fn a_message_shows_until_it_is_received() {
    let (client, server) = pair(small());
    server.set_nonblocking(true).unwrap();
    let mut room = [0; 100];
    for _ in 0..10 {
        let error = server.receive(&mut room).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        assert!(!is_ready(&*server, Interest::Read));
        send_all(&*client, b"hello").unwrap();
        assert!(is_ready(&*server, Interest::Read));
        assert_eq!(server.receive(&mut room[..2]).unwrap(), 2);
        assert!(server.has_buffered());
        assert_eq!(server.receive(&mut room).unwrap(), 3);
        // Without another look: what follows shows.
        assert!(!server.has_buffered());
        assert!(!is_ready(&*server, Interest::Read));
        send_all(&*client, b"again").unwrap();
        assert!(is_ready(&*server, Interest::Read));
        assert_eq!(server.receive(&mut room).unwrap(), 5);
    }
    client.shutdown(Shutdown::Write);
    assert!(is_ready(&*server, Interest::Read) || server.has_buffered());
    assert_eq!(server.receive(&mut room).unwrap(), 0);
}

#[test]
fn octets_from_before_the_stream_was_made_non_blocking_show() {
    let (client, server) = pair(small());
    send_all(&*client, b"early").unwrap();
    server.set_nonblocking(true).unwrap();
    assert!(is_ready(&*server, Interest::Read));
    assert_eq!(server.receive(&mut [0; 10]).unwrap(), 5);
    send_all(&*server, b"early").unwrap();
    client.set_nonblocking(true).unwrap();
    assert!(client.has_buffered());
}

#[test]
fn a_full_ring_does_not_show_as_room() {
    let (client, server) = pair(small());
    client.set_nonblocking(true).unwrap();
    let mut room = [0; 1000];
    for _ in 0..20 {
        while client.send(&[1; 1000]).is_ok() {}
        let error = client.send(&[1; 1000]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        assert!(!is_ready(&*client, Interest::Write));
        assert_eq!(server.receive(&mut room).unwrap(), 1000);
        assert!(is_ready(&*client, Interest::Write));
        assert_eq!(client.send(&[1; 1000]).unwrap(), 1000);
    }
    // Nor does the reader, asleep or not, see anything of it afterwards.
    receive_all(&*server, 4096).unwrap();
    assert!(!is_ready(&*server, Interest::Read));
    assert!(!server.has_buffered());
}

#[test]
fn two_full_reactors_rest() {
    let (client, server) = pair(small());
    for stream in [&client, &server] {
        stream.set_nonblocking(true).unwrap();
    }
    for stream in [&client, &server] {
        while stream.send(&[1; 1000]).is_ok() {}
    }
    // Neither reads; each looks at what it waits for.
    for _ in 0..10 {
        for stream in [&client, &server] {
            assert!(!is_ready(&**stream, Interest::Write));
            assert!(stream.send(&[1]).is_err());
        }
    }
    assert_eq!(receive_all(&*server, 4096).unwrap().len(), 4096);
    assert!(is_ready(&*client, Interest::Write));
    assert!(!is_ready(&*server, Interest::Write));
}

#[test]
fn an_end_shows() {
    let (client, server) = pair(small());
    server.set_nonblocking(true).unwrap();
    while server.send(&[0; 4096]).is_ok() {}
    drop(client);
    assert!(is_ready(&*server, Interest::Write));
    let error = server.send(&[0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    assert!(is_ready(&*server, Interest::Read));
    assert_eq!(server.receive(&mut [0; 8]).unwrap(), 0);
    // A stop from within does too.
    let (_client, server) = pair(small());
    server.set_nonblocking(true).unwrap();
    assert!(!is_ready(&*server, Interest::Read));
    server.shutdown(Shutdown::Read);
    assert!(is_ready(&*server, Interest::Read));
    assert_eq!(server.receive(&mut [0; 8]).unwrap(), 0);
}
