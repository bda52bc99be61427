// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams within a process keep the contract of streams.

use std::io;
use std::thread;
use std::time::Duration;

use orbium_sys::{Interest, Poller};
use orbium_testkit::spawn_blocked_in;
use orbium_transport::{
    ByteStream, Deadline, EndpointError, InProcess, InProcessStream, ListenError, Peer,
    ProtocolProperties, StreamTransport,
};

use crate::conformance;
use crate::conformance::pair::{
    LONG, accept, connect, is_ready, listen, pattern, receive_up_to, send_all, try_listen,
};

conformance!(InProcess, "inproc://");

#[test]
fn names_are_unique_and_free_again() {
    let acceptor = listen(&InProcess, "inproc://unique");
    match try_listen(&InProcess, "inproc://unique") {
        Err(ListenError::Io(error)) => assert_eq!(error.kind(), io::ErrorKind::AddrInUse),
        other => panic!("{other:?}"),
    }
    // As people write it, and as it is published.
    let client = connect(&InProcess, "unique").unwrap();
    assert_eq!(client.peer(), Peer::InProcess);
    assert!(acceptor.address().starts_with("unique@"));
    connect(&InProcess, acceptor.address()).unwrap();
    drop(acceptor);
    drop(listen(&InProcess, "inproc://unique"));
}

/// Conformance: protocols - within a process
#[test]
fn names_of_another_process_lead_nowhere() {
    let _acceptor = listen(&InProcess, "inproc://here");
    let error = connect(&InProcess, "here@1-0123456789abcdef").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    let long = "x".repeat(256);
    for bad in ["", "@", "a b", "a\nb", &long] {
        let error = InProcess.connector(bad, &ProtocolProperties::default());
        assert!(matches!(error, Err(EndpointError::BadPath(_))), "{bad}");
    }
    assert!(try_listen(&InProcess, "inproc://a@b").is_err());
    assert!(try_listen(&InProcess, "inproc://a?mode=0600").is_err());
}

#[test]
fn full_queue_is_waited_for_up_to_the_deadline() {
    let acceptor = listen(&InProcess, "inproc://full");
    let connector = InProcess
        .connector("full", &ProtocolProperties::default())
        .unwrap();
    let mut waiting = Vec::new();
    let error = loop {
        match connector.connect(Deadline::after(Some(Duration::from_millis(20)))) {
            Ok(stream) => waiting.push(stream),
            Err(error) => break error,
        }
        assert!(waiting.len() < 10_000);
    };
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    thread::scope(|scope| {
        let waiter = scope.spawn(|| connector.connect(Deadline::after(Some(LONG))));
        accept(&*acceptor);
        waiter.join().unwrap().unwrap();
        let waiter = spawn_blocked_in(scope, || connector.connect(Deadline::after(Some(LONG))));
        drop(acceptor);
        let error = waiter.join().unwrap().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    });
    assert_eq!(waiting[0].receive(&mut [0; 4]).unwrap(), 0);
}

/// Conformance: protocols - within a process
#[test]
fn an_event_loop_sees_every_change() {
    const LENGTH: usize = 4 << 20;
    let (client, server) = InProcessStream::pair().unwrap();
    let poller = Poller::new().unwrap();
    server.set_nonblocking(true).unwrap();
    let octets = pattern(LENGTH);
    thread::scope(|scope| {
        scope.spawn(|| send_all(&client, &octets).unwrap());
        scope.spawn(|| assert!(receive_up_to(&client, LENGTH).unwrap() == octets));
        // An echo with one thread, as the reactive server is.
        let (mut kept, mut echoed) = (Vec::new(), 0);
        poller.add(&server.source(), 1, Interest::Read).unwrap();
        let mut ready = Vec::new();
        let mut room = vec![0; 40_000];
        while echoed < LENGTH {
            poller.wait(&mut ready, Some(LONG)).unwrap();
            assert!(!ready.is_empty(), "nothing happens any more");
            if kept.is_empty() {
                match server.receive(&mut room) {
                    Ok(count) => kept.extend_from_slice(&room[..count]),
                    Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
                }
            }
            while !kept.is_empty() {
                match server.send(&kept) {
                    Ok(count) => {
                        echoed += count;
                        kept.drain(..count);
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                        break;
                    }
                }
            }
            let interest = if kept.is_empty() {
                Interest::Read
            } else {
                Interest::Write
            };
            poller.modify(&server.source(), 1, interest).unwrap();
        }
    });
}

#[test]
fn readiness_is_right_again_after_waiting_otherwise() {
    let (client, server) = InProcessStream::pair().unwrap();
    assert!(!is_ready(&server, Interest::Read, Duration::ZERO));
    thread::scope(|scope| {
        let receiver = spawn_blocked_in(scope, || receive_up_to(&server, 1).unwrap());
        send_all(&client, b"a").unwrap();
        receiver.join().unwrap();
    });
    assert!(!is_ready(&server, Interest::Read, Duration::ZERO));
    let poller = Poller::new().unwrap();
    poller.add(&server.source(), 1, Interest::Read).unwrap();
    server.set_nonblocking(true).unwrap();
    send_all(&client, b"b").unwrap();
    let mut ready = Vec::new();
    poller.wait(&mut ready, Some(LONG)).unwrap();
    assert_eq!(ready.len(), 1);
}
