// SPDX-License-Identifier: MIT OR Apache-2.0
//! Listening, connecting and accepting.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use orbium_sys::{Interest, wait_for};
use orbium_transport::{Acceptor, Deadline, Endpoint, EndpointError, ListenError};

use crate::transport_suite::Subject;
use crate::transport_suite::ends::{
    Ends, accept, connect, pattern, receive_all, send_all, try_connect, try_welcome, welcome,
};
use crate::waiting::{PATIENCE, within};

/// The address of each of two acceptors leads to it and not to the other.
///
/// Conformance: streams - listening and connecting: addresses, refusals, deadlines
pub fn a_published_address_leads_to_its_acceptor(subject: &Subject) {
    let acceptors = [subject.listen(), subject.listen()];
    assert_ne!(acceptors[0].address(), acceptors[1].address());
    for (mark, acceptor) in (1..).zip(&acceptors) {
        let connector = subject.connector(acceptor.address());
        // The second connection may use results of the first.
        for _ in 0..2 {
            let ends = Ends::between(&**acceptor, &*connector);
            let sent = pattern(mark, 1000);
            send_all(&*ends.client, &sent).expect("a connection");
            assert_eq!(receive_all(&*ends.server, 1000, 1000), sent);
            send_all(&*ends.server, &sent).expect("a connection");
            assert_eq!(receive_all(&*ends.client, 1000, 1000), sent);
            assert_ne!(ends.server.peer().to_string(), "");
            assert_ne!(ends.client.peer().to_string(), "");
        }
    }
}

/// Connecting to an address without an acceptor any more results in `ConnectionRefused` or
/// `NotFound`.
///
/// Conformance: streams - listening and connecting: addresses, refusals, deadlines
pub fn an_address_without_a_listener_is_refused(subject: &Subject) {
    let refused = (0..5).any(|_| {
        let acceptor = subject.listen();
        let connector = subject.connector(acceptor.address());
        drop(acceptor);
        let connected = within("a connect to nobody", move || try_connect(&*connector));
        match connected {
            // Another process may have taken the port, but hardly twice.
            Ok(_) => false,
            Err(error) => {
                assert!(
                    matches!(
                        error.kind(),
                        io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
                    ),
                    "{error:?}"
                );
                true
            }
        }
    });
    assert!(refused, "nobody listens, yet somebody answers");
}

fn refusal(listened: &Result<Box<dyn Acceptor>, ListenError>) -> Option<io::ErrorKind> {
    match listened {
        Ok(_) => None,
        Err(ListenError::Io(error)) => Some(error.kind()),
        Err(ListenError::Endpoint(error)) => panic!("not an endpoint: {error}"),
    }
}

/// A second acceptor at one address is refused with `AddrInUse`, and does not affect the first one.
///
/// Conformance: streams - listening and connecting: addresses, refusals, deadlines
pub fn an_address_in_use_cannot_be_listened_at(subject: &Subject) {
    let (first, at) = subject.listen_somewhere();
    let connector = subject.connector(first.address());
    for _ in 0..2 {
        assert_eq!(
            refusal(&subject.try_listen(&at)),
            Some(io::ErrorKind::AddrInUse)
        );
        Ends::between(&*first, &*connector);
    }
}

/// An address is free again once its acceptor is dropped, regardless of its connections, which
/// remain open.
///
/// Conformance: streams - listening and connecting: addresses, refusals, deadlines
pub fn an_address_can_be_listened_at_again(subject: &Subject) {
    // Another process may have taken the port in between, but hardly every time.
    let listened = (0..3).any(|_| listen_again(subject));
    assert!(listened, "the address is not given back");
}

fn listen_again(subject: &Subject) -> bool {
    let (first, at) = subject.listen_somewhere();
    let address = first.address().to_owned();
    let connector = subject.connector(&address);
    let old = Ends::between(&*first, &*connector);
    drop(Ends::between(&*first, &*connector));
    // A connection that was never accepted must not prevent it either.
    let unaccepted = {
        let connector = subject.connector(&address);
        thread::spawn(move || connector.connect(Deadline::after(Some(PATIENCE))))
    };
    crate::eventually("a connection waits", || {
        let moment = Some(Duration::from_millis(10));
        wait_for([(first.source(), Interest::Read)], moment).is_ok_and(|[ready]| ready)
    });
    drop(first);
    let second = match subject.try_listen(&at) {
        Ok(second) => second,
        Err(ListenError::Io(error)) if error.kind() == io::ErrorKind::AddrInUse => return false,
        Err(error) => panic!("cannot listen again: {error}"),
    };
    assert_eq!(second.address(), address);
    let new = Ends::between(&*second, &*connector);
    for ends in [old, new] {
        send_all(&*ends.client, b"still here").expect("a connection");
        assert_eq!(receive_all(&*ends.server, 10, 10), b"still here");
    }
    // The acceptor is dropped: connecting may fail, or the stream ends later.
    let _ = within("the connection that nobody accepted", move || {
        unaccepted.join().map(|connected| connected.is_ok())
    });
    true
}

/// An acceptor that is dropped stops accepting and frees its address, even if another process has a
/// copy of its descriptor, as every process does from its fork until its exec.
///
/// Regression: restarted servers could not listen at their address, once in a few thousand times,
/// while another thread was starting a process.
///
/// Conformance: streams - listening and connecting: addresses, refusals, deadlines
pub fn an_acceptor_ends_despite_copies_of_its_descriptor(subject: &Subject) {
    // Another process may have taken the port in between, but hardly every time.
    let listened = (0..3).any(|_| {
        let (first, at) = subject.listen_somewhere();
        let connector = subject.connector(first.address());
        let _copy = first.source().as_fd().try_clone_to_owned();
        drop(first);
        let refused = within("a connect to nobody", move || try_connect(&*connector));
        let second = subject.try_listen(&at);
        if refused.is_ok() || refusal(&second) == Some(io::ErrorKind::AddrInUse) {
            return false;
        }
        let second = second.expect("the address that was left");
        Ends::between(&*second, &*subject.connector(second.address()));
        true
    });
    assert!(listened, "an acceptor that is gone still listens");
}

/// Addresses come from references: invalid ones result in an error and have no other effect.
///
/// Conformance: streams - addresses and parameters are hostile
pub fn hostile_addresses_are_errors(subject: &Subject) {
    let long = "x".repeat(100_000);
    let deep = "/x".repeat(3_000);
    let real = subject.listen();
    let longer = format!("{}{long}", real.address());
    let cut = &real.address()[..real.address().len() - 1];
    let hostile = [
        "",
        ":",
        "/",
        "::::::",
        "[",
        "[::1",
        "[::1]:99999999999",
        "127.0.0.1:-1",
        "127.0.0.1:65536",
        "a b:1",
        "a\0b",
        "\0",
        "../../../../../../etc/passwd",
        "/dev/null",
        "/proc/self/mem",
        "%n%n%n%s",
        "\u{202E}\u{FEFF}é",
        "?mode=0777",
        long.as_str(),
        deep.as_str(),
        longer.as_str(),
        cut,
    ];
    for address in hostile {
        let shown: String = address.chars().take(40).collect();
        if let Ok(connector) = subject.try_connector(address) {
            let deadline = Deadline::after(Some(Duration::from_millis(500)));
            // A name may exist, and a server listen there: then there is a connection.
            let _ = within(&format!("connect to `{shown}`"), move || {
                connector.connect(deadline).is_ok()
            });
        }
        let endpoint = Endpoint {
            address: address.to_owned(),
            ..subject.endpoint()
        };
        if address.contains('\0') || address.len() > 5_000 {
            assert!(
                subject.try_listen(&endpoint).is_err(),
                "listens at `{shown}`"
            );
        }
    }
    let connector = subject.connector(real.address());
    Ends::between(&*real, &*connector);
}

/// A parameter of an endpoint that the transport does not know is an error, so that typing errors
/// are detected.
///
/// Conformance: streams - addresses and parameters are hostile
pub fn unknown_parameters_are_refused(subject: &Subject) {
    let mut endpoint = subject.endpoint();
    let name = "no-such-parameter".to_owned();
    endpoint.parameters.push((name.clone(), "1".into()));
    match subject.try_listen(&endpoint) {
        Err(ListenError::Endpoint(error)) => {
            assert_eq!(error, EndpointError::UnknownParameter(name));
        }
        other => panic!("not refused: {other:?}"),
    }
}

/// Accepting without a pending connection returns `WouldBlock` immediately, before and after
/// connections.
///
/// Conformance: streams - accepting never blocks
pub fn accepting_never_blocks(subject: &Subject) {
    let acceptor: Arc<dyn Acceptor> = Arc::from(subject.listen());
    let connector = subject.connector(acceptor.address());
    let would_block = |acceptor: &Arc<dyn Acceptor>| {
        let acceptor = Arc::clone(acceptor);
        let accepted = within("accept", move || acceptor.accept());
        let kind = accepted.map(drop).map_err(|error| error.kind());
        assert_eq!(kind, Err(io::ErrorKind::WouldBlock));
    };
    would_block(&acceptor);
    let ends = Ends::between(&*acceptor, &*connector);
    would_block(&acceptor);
    drop(ends);
    would_block(&acceptor);
}

/// A client that connects and sends no data does not block the acceptor.
///
/// Conformance: streams - accepting never blocks
pub fn a_silent_client_does_not_delay_others(subject: &Subject) {
    let acceptor = subject.listen();
    let silent: Vec<_> = (0..3)
        .map(|_| {
            let connector = subject.connector(acceptor.address());
            // A transport may need a message of the server to complete its connection.
            thread::spawn(move || connector.connect(Deadline::after(Some(Duration::from_secs(2)))))
        })
        .collect();
    let kept: Vec<_> = (0..3).map(|_| accept(&*acceptor)).collect();
    let connector = subject.connector(acceptor.address());
    for _ in 0..5 {
        let ends = Ends::between(&*acceptor, &*connector);
        send_all(&*ends.server, b"served").expect("a connection");
        assert_eq!(receive_all(&*ends.client, 6, 6), b"served");
    }
    for thread in silent {
        // Whether it has a connection by now does not matter.
        let _ = within("a silent client", move || {
            thread.join().map(|connected| connected.is_ok())
        });
    }
    drop(kept);
}

/// Many clients connect to one acceptor concurrently, and each has its own stream.
///
/// Conformance: streams - listening and connecting: addresses, refusals, deadlines
pub fn many_connect_at_once(subject: &Subject) {
    const CLIENTS: usize = 64;
    let acceptor = subject.listen();
    thread::scope(|scope| {
        let address = acceptor.address();
        for number in 0..CLIENTS {
            scope.spawn(move || {
                let client = connect(&*subject.connector(address));
                send_all(&*client, &[number as u8; 100]).expect("a connection");
                assert_eq!(receive_all(&*client, 100, 7), [number as u8; 100]);
            });
        }
        for _ in 0..CLIENTS {
            let server = accept(&*acceptor);
            scope.spawn(move || {
                welcome(&*server);
                let octets = receive_all(&*server, 100, 100);
                send_all(&*server, &octets).expect("a connection");
            });
        }
    });
}

/// Connecting ends at its deadline, whatever the server does.
///
/// Conformance: streams - listening and connecting: addresses, refusals, deadlines
pub fn connecting_ends_at_its_deadline(subject: &Subject) {
    let acceptor = subject.listen();
    let address = acceptor.address().to_owned();
    // No connection is accepted: only more connections than any queue holds would ensure that some
    // have to wait, but none may wait for longer than its deadline.
    let connector: Arc<dyn orbium_transport::Connector> = Arc::from(subject.connector(&address));
    let connects: Vec<_> = (0..8)
        .map(|_| {
            let connector = Arc::clone(&connector);
            thread::spawn(move || {
                connector.connect(Deadline::after(Some(Duration::from_millis(200))))
            })
        })
        .collect();
    let past = Deadline::after(Some(Duration::ZERO));
    let late = {
        let connector = Arc::clone(&connector);
        within("a connect too late", move || connector.connect(past))
    };
    if let Err(error) = &late {
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
    }
    drop(late);
    for thread in connects {
        let connected = within("a connect", move || thread.join().expect("no panic"));
        if let Err(error) = connected {
            assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
        }
    }
    // Abandoned attempts do not prevent the next one.
    thread::scope(|scope| {
        let server = scope.spawn(|| {
            loop {
                let stream = accept(&*acceptor);
                if try_welcome(&*stream).is_ok() {
                    return stream;
                }
            }
        });
        let client = connect(&*connector);
        send_all(&*client, b"late").expect("a connection");
        let server = server.join().expect("a connection");
        assert_eq!(receive_all(&*server, 4, 4), b"late");
    });
}
