// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections as byte streams, blocking.
#![cfg(target_os = "linux")]

use crate::pair;
use orbium_testkit::spawn_blocked_in;
use std::io::{ErrorKind, IoSlice};
use std::net::Shutdown;
use std::thread;
use std::time::Duration;

use crate::pair::{accept, connect, listen, name, pair, pattern, receive_all, send_all};
use orbium_shm::{ShmOptions, ShmTransport, Spin};
use orbium_transport::{EndpointError, ListenError, Peer, ProtocolProperties, StreamTransport};

/// Small rings, and every way to wait.
fn options() -> impl Iterator<Item = ShmOptions> {
    let spins = [
        Spin::None,
        Spin::Fixed(Duration::from_micros(50)),
        Spin::default(),
    ];
    spins
        .into_iter()
        .map(|spin| ShmOptions { ring: 4096, spin })
}

#[test]
fn messages_of_every_size_come_back() {
    for options in options() {
        let (client, server) = pair(options);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut room = [0; 5000];
                loop {
                    match server.receive(&mut room).unwrap() {
                        0 => break,
                        count => send_all(&*server, &room[..count]).unwrap(),
                    }
                }
            });
            let small = 0..70;
            let around = [4095, 4096, 4097, 8191, 8192, 10_000, 40_000];
            for size in small.chain(around) {
                let octets = pattern(size, size);
                thread::scope(|scope| {
                    scope.spawn(|| send_all(&*client, &octets).unwrap());
                    assert_eq!(receive_all(&*client, size).unwrap(), octets);
                });
            }
            client.shutdown(Shutdown::Write);
        });
    }
}

#[test]
fn pieces_are_gathered() {
    let (client, server) = pair(ShmOptions::default());
    let pieces = [&b"ab"[..], b"", b"cdefghij", b"k"].map(IoSlice::new);
    assert_eq!(client.send_vectored(&pieces).unwrap(), 11);
    assert_eq!(receive_all(&*server, 11).unwrap(), b"abcdefghijk");
    assert_eq!(client.send_vectored(&[]).unwrap(), 0);
    assert_eq!(client.send(b"").unwrap(), 0);
    assert_eq!(server.receive(&mut []).unwrap(), 0);
}

#[test]
fn octets_that_do_not_fit_are_taken_in_part() {
    let ring = 4096;
    let (client, server) = pair(ShmOptions {
        ring,
        ..ShmOptions::default()
    });
    let octets = pattern(10_000, 1);
    let (first, second) = octets.split_at(3000);
    let pieces = [first, second].map(IoSlice::new);
    assert_eq!(client.send_vectored(&pieces).unwrap(), 4096);
    assert_eq!(receive_all(&*server, 96).unwrap(), octets[..96]);
    assert_eq!(client.send(&octets[4096..]).unwrap(), 96);
    assert_eq!(receive_all(&*server, 4096).unwrap(), octets[96..4192]);
}

#[test]
fn a_reader_that_has_stopped_is_waited_for_until_the_timeout() {
    for options in options() {
        let (client, server) = pair(options);
        let time = Duration::from_millis(20);
        client
            .set_timeouts(Some(Some(time)), Some(Some(time)))
            .unwrap();
        assert_eq!(client.send(&[1; 5000]).unwrap(), 4096);
        for _ in 0..3 {
            let error = client.send(&[1; 10]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            let error = client.receive(&mut [0; 10]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
        }
        client.set_timeouts(None, Some(None)).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| send_all(&*client, &[2; 5000]).unwrap());
            let all = receive_all(&*server, 4096 + 5000).unwrap();
            assert_eq!(all.iter().filter(|octet| **octet == 2).count(), 5000);
        });
        let none = client.set_timeouts(Some(Some(Duration::ZERO)), None);
        assert_eq!(none.unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn an_end_in_one_direction_leaves_the_other() {
    for options in options() {
        let (client, server) = pair(options);
        send_all(&*client, b"last").unwrap();
        client.shutdown(Shutdown::Write);
        assert!(server.has_buffered());
        assert_eq!(receive_all(&*server, 100).unwrap(), b"last");
        assert_eq!(server.receive(&mut [0; 4]).unwrap(), 0);
        let error = client.send(b"more").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        send_all(&*server, b"answer").unwrap();
        assert_eq!(receive_all(&*client, 6).unwrap(), b"answer");
        drop(server);
        assert_eq!(client.receive(&mut [0; 4]).unwrap(), 0);
    }
}

#[test]
fn shutdown_wakes_waiting_threads() {
    for options in options() {
        for how in [Shutdown::Read, Shutdown::Both] {
            let (client, server) = pair(options);
            thread::scope(|scope| {
                let receiver = spawn_blocked_in(scope, || server.receive(&mut [0; 8]));
                server.shutdown(how);
                assert_eq!(receiver.join().unwrap().unwrap(), 0);
            });
            drop(client);
        }
        let (client, server) = pair(options);
        assert_eq!(client.send(&[1; 5000]).unwrap(), 4096);
        thread::scope(|scope| {
            let sender = spawn_blocked_in(scope, || client.send(&[1; 5000]));
            client.shutdown(Shutdown::Write);
            let error = sender.join().unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        });
        // After the end of receiving sending goes on.
        server.shutdown(Shutdown::Read);
        send_all(&*server, b"still").unwrap();
        assert_eq!(receive_all(&*client, 5).unwrap(), b"still");
    }
}

#[test]
fn a_peer_that_leaves_ends_every_wait() {
    for options in options() {
        let (client, server) = pair(options);
        thread::scope(|scope| {
            let receiver = spawn_blocked_in(scope, || client.receive(&mut [0; 8]));
            drop(server);
            assert_eq!(receiver.join().unwrap().unwrap(), 0);
        });
        let error = client.send(b"x").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);

        let (client, server) = pair(options);
        assert_eq!(client.send(&[1; 5000]).unwrap(), 4096);
        thread::scope(|scope| {
            let sender = spawn_blocked_in(scope, || client.send(&[1; 5000]));
            drop(server);
            let error = sender.join().unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        });
    }
}

#[test]
fn both_directions_are_independent() {
    for options in options() {
        let (client, server) = pair(options);
        let octets = pattern(300_000, 5);
        thread::scope(|scope| {
            for stream in [&client, &server] {
                scope.spawn(|| send_all(&**stream, &octets).unwrap());
                scope.spawn(|| assert!(receive_all(&**stream, octets.len()).unwrap() == octets));
            }
        });
    }
}

#[test]
fn the_peer_is_a_process() {
    let (client, server) = pair(ShmOptions::default());
    for stream in [client, server] {
        let Peer::Process { pid, uid, .. } = stream.peer() else {
            panic!("{:?}", stream.peer());
        };
        assert_eq!(pid, Some(std::process::id()));
        assert_eq!(uid, rustix::process::geteuid().as_raw());
    }
}

#[test]
fn endpoints_are_checked() {
    let refused = |endpoint: &str| {
        let endpoint = endpoint.parse().unwrap();
        let properties = ProtocolProperties::default();
        match ShmTransport::default().listen(&endpoint, &properties) {
            Err(ListenError::Endpoint(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    for text in [
        "ring=1000",
        "ring=x",
        "ring=2048",
        "ring=134217728",
        "spin=fast",
    ] {
        let error = refused(&format!("shmiop://@never?{text}"));
        assert!(matches!(error, EndpointError::BadParameter(_)), "{text}");
    }
    let error = refused("shmiop://@never?rings=4096");
    assert!(matches!(error, EndpointError::UnknownParameter(_)));
    let long = format!("shmiop:///{}", "x".repeat(200));
    assert!(matches!(refused(&long), EndpointError::BadPath(_)));
}

#[test]
fn a_ring_can_be_chosen_for_an_endpoint() {
    let address = name();
    let acceptor = listen(&format!("{address}?ring=8192&spin=none"));
    assert_eq!(acceptor.address(), address);
    let client = thread::spawn(move || connect(&address).unwrap());
    let server = accept(&*acceptor);
    let client = client.join().unwrap();
    for stream in [&client, &server] {
        assert_eq!(stream.send(&[0; 10_000]).unwrap(), 8192);
    }
}

#[test]
fn a_socket_has_a_file_as_long_as_somebody_listens() {
    let folder = std::env::temp_dir().join(format!("orbium{}", name()));
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("x.shm");
    let address = path.to_str().unwrap().to_owned();
    // Left behind by one that died.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let error = connect(&address).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    let acceptor = listen(&format!("{address}?mode=0600"));
    let endpoint = format!("shmiop://{address}").parse().unwrap();
    let second = ShmTransport::default().listen(&endpoint, &ProtocolProperties::default());
    assert!(matches!(second, Err(ListenError::Io(error)) if error.kind() == ErrorKind::AddrInUse));
    drop(acceptor);
    assert!(!path.exists());
    let error = connect(&address).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_server_that_does_not_accept_is_waited_for_until_the_deadline() {
    let address = name();
    let _acceptor = listen(&address);
    let soon = orbium_transport::Deadline::after(Some(Duration::from_millis(20)));
    let error = pair::connector(&address).connect(soon).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
}

#[test]
fn several_threads_at_one_end_do_no_harm() {
    let (client, server) = pair(ShmOptions {
        ring: 4096,
        spin: Spin::None,
    });
    let time = Some(Some(Duration::from_millis(50)));
    client.set_timeouts(time, time).unwrap();
    server.set_timeouts(time, time).unwrap();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| while client.send(&[1; 700]).is_ok() {});
            scope.spawn(|| while matches!(server.receive(&mut [0; 500]), Ok(1..)) {});
        }
        thread::sleep(Duration::from_millis(100));
        client.shutdown(Shutdown::Both);
    });
}
