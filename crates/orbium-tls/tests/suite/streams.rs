// SPDX-License-Identifier: MIT OR Apache-2.0
//! Octets both ways, in every mode.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::thread;
use std::time::Duration;

use orbium_sys::{Interest, wait_for};
use orbium_testkit::{PATIENCE, eventually, spawn_blocked_in, within};
use orbium_tls::{Tls, TlsStream};
use orbium_transport::{Acceptor, ByteStream, ProtocolProperties};

use crate::realm::{
    About, Realm, accept, connect_with, converse, each_version, listen, listen_with, only, pair,
    receive_exact, send_all,
};

fn each_pair(mut body: impl FnMut(TlsStream, TlsStream)) {
    let realm = Realm::new("authority");
    each_version(|version| {
        let server = only(realm.config(&About::named("server")), version);
        let (server, client) = pair(server, realm.trusting());
        body(server, client);
    });
}

/// Octets that repeat after a prime, so that displacement shows.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i % 251) as u8).collect()
}

/// Sends and receives at the same time, on both sides.
fn exchange(one: &TlsStream, other: &TlsStream, octets: &[u8]) {
    thread::scope(|scope| {
        for stream in [one, other] {
            scope.spawn(move || send_all(stream, octets).unwrap());
            scope.spawn(move || {
                let mut received = vec![0; octets.len()];
                receive_exact(stream, &mut received).unwrap();
                assert!(received == octets, "other octets than were sent");
            });
        }
    });
}

#[test]
fn much_goes_both_ways_at_once() {
    each_pair(|server, client| exchange(&server, &client, &pattern(5_000_000)));
}

#[test]
fn much_goes_both_ways_through_small_buffers() {
    let realm = Realm::new("authority");
    let properties = ProtocolProperties {
        send_buffer: Some(1),
        receive_buffer: Some(20_000),
        ..ProtocolProperties::default()
    };
    each_version(|version| {
        for nonblocking in [false, true] {
            let config = only(realm.config(&About::named("server")), version);
            let acceptor = listen_with(&Tls::new(config).unwrap(), &properties);
            let tls = Tls::new(realm.trusting()).unwrap();
            thread::scope(|scope| {
                let client = scope.spawn(|| {
                    let stream = connect_with(&tls, acceptor.address(), &properties).unwrap();
                    send_all(&stream, b"ping").unwrap();
                    stream
                });
                let server = accept(&acceptor);
                server.set_nonblocking(nonblocking).unwrap();
                receive_exact(&server, &mut [0; 4]).unwrap();
                let client = client.join().unwrap();
                client.set_nonblocking(nonblocking).unwrap();
                exchange(&server, &client, &pattern(300_000));
            });
        }
    });
}

#[test]
fn pieces_arrive_in_their_order() {
    each_pair(|server, client| {
        let pieces = [pattern(3), vec![], pattern(70_000), pattern(1), vec![]];
        let whole = pieces.concat();
        let mut slices: Vec<_> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut left = &mut slices[..];
                while left.iter().any(|slice| !slice.is_empty()) {
                    let sent = client.send_vectored(left).unwrap();
                    IoSlice::advance_slices(&mut left, sent);
                }
            });
            let mut received = vec![0; whole.len()];
            receive_exact(&server, &mut received).unwrap();
            assert!(received == whole);
        });
        assert_eq!(client.send_vectored(&[]).unwrap(), 0);
    });
}

#[test]
fn after_would_block_the_same_octets_go_on() {
    each_pair(|server, client| {
        client.set_nonblocking(true).unwrap();
        let octets = pattern(64 << 20);
        let mut sent = 0;
        let error = loop {
            match client.send(&octets[sent..]) {
                Ok(count) => sent += count,
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        // Fewer than are on their way already: a mistake, which is reported.
        let wrong = client.send(&octets[sent..=sent]).unwrap_err();
        assert_eq!(wrong.kind(), io::ErrorKind::InvalidInput);
        let until = sent + 500_000;
        thread::scope(|scope| {
            scope.spawn(|| send_all(&client, &octets[sent..until]).unwrap());
            let mut received = vec![0; until];
            receive_exact(&server, &mut received).unwrap();
            assert!(received == octets[..until]);
        });
    });
}

#[test]
fn nothing_waits_where_nothing_may() {
    let realm = Realm::new("authority");
    each_version(|version| {
        let acceptor = listen(only(realm.config(&About::named("server")), version));
        let tls = Tls::new(realm.trusting()).unwrap();
        thread::scope(|scope| {
            let client = scope.spawn(|| {
                let stream =
                    connect_with(&tls, acceptor.address(), &ProtocolProperties::default()).unwrap();
                send_all(&stream, b"ping").unwrap();
                stream
            });
            let server = accept(&acceptor);
            server.set_nonblocking(true).unwrap();
            let mut room = [0; 64];
            // As a reactor does it: one receive each time there is something.
            let received = loop {
                let source = server.source();
                let ready = wait_for([(&source, Interest::Read)], Some(PATIENCE)).unwrap();
                assert_eq!(ready, [true]);
                match server.receive(&mut room) {
                    Ok(count) => break count,
                    Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
                }
            };
            assert_eq!(&room[..received], b"ping");
            let nothing = server.receive(&mut room).unwrap_err();
            assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
            // And it stays so once it may wait again.
            server.set_nonblocking(false).unwrap();
            let client = client.join().unwrap();
            send_all(&client, b"pong").unwrap();
            receive_exact(&server, &mut room[..4]).unwrap();
        });
    });
}

#[test]
fn octets_left_in_the_buffer_are_reported() {
    each_pair(|server, client| {
        assert!(!server.has_buffered());
        send_all(&client, &pattern(1000)).unwrap();
        let mut room = [0; 300];
        for left in [true, true, true, false] {
            let received = server.receive(&mut room).unwrap();
            assert_eq!(received, if left { 300 } else { 100 });
            assert_eq!(server.has_buffered(), left);
        }
        // Several records that arrive as one.
        for _ in 0..3 {
            send_all(&client, &pattern(10)).unwrap();
        }
        client.shutdown(Shutdown::Write);
        receive_exact(&server, &mut room[..1]).unwrap();
        assert!(server.has_buffered());
        receive_exact(&server, &mut room[..29]).unwrap();
        assert_eq!(server.receive(&mut room).unwrap(), 0);
    });
}

#[test]
fn one_end_may_say_that_it_is_done() {
    each_pair(|server, client| {
        send_all(&client, b"last").unwrap();
        client.shutdown(Shutdown::Write);
        assert_eq!(
            client.send(b"more").unwrap_err().kind(),
            io::ErrorKind::BrokenPipe
        );
        let mut room = [0; 64];
        receive_exact(&server, &mut room[..4]).unwrap();
        assert_eq!(server.receive(&mut room).unwrap(), 0);
        assert_eq!(server.receive(&mut room).unwrap(), 0);
        send_all(&server, b"answer").unwrap();
        drop(server);
        receive_exact(&client, &mut room[..6]).unwrap();
        assert_eq!(client.receive(&mut room).unwrap(), 0);
    });
}

#[test]
fn shutdown_wakes_a_receiver() {
    each_pair(|server, _client| {
        within("shutdown", move || {
            thread::scope(|scope| {
                let receiving = spawn_blocked_in(scope, || server.receive(&mut [0; 64]));
                server.shutdown(Shutdown::Read);
                assert_eq!(receiving.join().unwrap().unwrap(), 0);
            });
        });
    });
}

#[test]
fn a_receive_is_bounded_by_its_timeout() {
    each_pair(|server, client| {
        let time = Duration::from_millis(20);
        server.set_timeouts(Some(Some(time)), None).unwrap();
        let error = server.receive(&mut [0; 64]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        send_all(&client, b"ping").unwrap();
        receive_exact(&server, &mut [0; 4]).unwrap();
    });
}

#[test]
fn octets_of_a_client_that_has_left_are_received() {
    // No server accepts its tickets any more.
    let realm = Realm::new("authority");
    each_version(|version| {
        let acceptor = listen(only(realm.config(&About::named("server")), version));
        let tls = Tls::new(realm.trusting()).unwrap();
        thread::scope(|scope| {
            let client = scope.spawn(|| {
                let address = acceptor.address();
                let stream = connect_with(&tls, address, &ProtocolProperties::default()).unwrap();
                send_all(&stream, b"oneway").unwrap();
            });
            let server = accept(&acceptor);
            // The handshake goes on only as far as we take part in it.
            eventually("the client has left", || {
                server
                    .set_timeouts(Some(Some(Duration::from_millis(1))), None)
                    .unwrap();
                let _ = server.receive(&mut []);
                client.is_finished()
            });
            let mut room = [0; 64];
            receive_exact(&server, &mut room[..6]).unwrap();
            assert_eq!(&room[..6], b"oneway");
            assert_eq!(server.receive(&mut room).unwrap(), 0);
        });
    });
}

#[test]
fn sessions_are_taken_up_again() {
    let realm = Realm::new("authority");
    each_version(|version| {
        let acceptor = listen(only(realm.config(&About::named("server")), version));
        let tls = Tls::new(realm.trusting()).unwrap();
        for resumed in [false, true, true] {
            let (server, client) = converse(&acceptor, &tls);
            assert_eq!(server.unwrap().session().unwrap().resumed, resumed);
            assert_eq!(client.unwrap().session().unwrap().resumed, resumed);
        }
        // By no other thread.
        let other = Tls::new(realm.trusting()).unwrap();
        let (_, client) = converse(&acceptor, &other);
        assert!(!client.unwrap().session().unwrap().resumed);
    });
}
