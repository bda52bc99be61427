// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers that speak something else, or nothing.

use crate::realm;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use orbium_testkit::{PATIENCE, Recorder, in_own_process, spawn_blocked_in, within};
use orbium_tls::{Tls, TlsConfig, TlsFailure, TlsStream};
use orbium_transport::{ByteStream, Deadline};
use tracing::level_filters::LevelFilter;

use crate::realm::{About, Realm, accept, failure, listen, plain_connection};

fn server(realm: &Realm) -> TlsConfig {
    realm.config(&About::named("server"))
}

#[test]
fn plain_giop_is_answered_by_closing() {
    let realm = Realm::new("authority");
    let acceptor = listen(server(&realm));
    let mut client = plain_connection(&acceptor);
    client.write_all(b"GIOP\x01\x02\x01\x03\0\0\0\0").unwrap();
    let stream = accept(&acceptor);
    let refused = within("plain GIOP", move || failure(stream.receive(&mut [0; 64])));
    assert_eq!(refused, TlsFailure::NotTls);
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).unwrap();
    assert_eq!(answer, b"");
}

/// Each such client once cost a line of the log.
#[test]
fn failed_handshakes_are_logged_at_a_limited_rate() {
    in_own_process!(|| {
        let log = Recorder::install(LevelFilter::WARN);
        let realm = Realm::new("authority");
        let acceptor = listen(server(&realm));
        for _ in 0..10 {
            let mut client = plain_connection(&acceptor);
            client.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
            let stream = accept(&acceptor);
            assert_eq!(failure(stream.receive(&mut [0; 64])), TlsFailure::NotTls);
        }
        let events = log.events("TLS handshake with a client failed");
        // Several only if the ten connections took more than ten seconds.
        assert!(!events.is_empty() && events.len() < 10, "{events:#?}");
        assert_eq!(events[0].get("suppressed"), "0");
    });
}

#[test]
fn a_failure_is_returned_by_every_later_operation() {
    let realm = Realm::new("authority");
    let acceptor = listen(server(&realm));
    let mut client = plain_connection(&acceptor);
    client.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let stream = accept(&acceptor);
    for _ in 0..3 {
        assert_eq!(failure(stream.receive(&mut [0; 64])), TlsFailure::NotTls);
        assert_eq!(failure(stream.send(b"secret")), TlsFailure::NotTls);
    }
    assert!(stream.session().is_none());
}

/// What a client makes of a server that does this.
fn verdict(act: impl FnOnce(TcpStream) + Send + 'static) -> TlsFailure {
    let realm = Realm::new("authority");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let acting = thread::spawn(move || act(listener.accept().unwrap().0));
    let client = Tls::new(realm.trusting()).unwrap();
    let refused = within("connecting", move || {
        failure(realm::connect_with(&client, &address, &Default::default()))
    });
    acting.join().unwrap();
    refused
}

#[test]
fn a_plain_server_is_recognised() {
    let refused = verdict(|mut peer| {
        let mut hello = [0; 12];
        peer.read_exact(&mut hello).unwrap();
        peer.write_all(b"GIOP\x01\x02\x01\x06\0\0\0\0").unwrap();
        let mut rest = Vec::new();
        let _ = peer.read_to_end(&mut rest);
    });
    assert_eq!(refused, TlsFailure::NotTls);
}

#[test]
fn a_server_that_closes_during_the_handshake_is_distinguished() {
    let refused = verdict(|mut peer| {
        let mut hello = [0; 12];
        peer.read_exact(&mut hello).unwrap();
    });
    assert_eq!(refused, TlsFailure::ClosedEarly);
}

#[test]
fn a_record_too_long_is_not_waited_for() {
    let refused = verdict(|mut peer| {
        peer.write_all(&[22, 3, 3, 0xFF, 0xFF]).unwrap();
        let mut rest = Vec::new();
        let _ = peer.read_to_end(&mut rest);
    });
    assert!(matches!(refused, TlsFailure::Protocol(_)), "{refused}");
}

#[test]
fn endless_handshakes_end() {
    // A message said to be of 16 MiB, in records of full length.
    let refused = verdict(|mut peer| {
        let mut record = vec![0; 5 + (1 << 14)];
        record[..9].copy_from_slice(&[22, 3, 3, 0x40, 0, 2, 0xFF, 0xFF, 0xFF]);
        while peer.write_all(&record).is_ok() {
            record[5..9].fill(0);
        }
    });
    assert!(matches!(refused, TlsFailure::Protocol(_)), "{refused}");
}

#[test]
fn a_silent_server_is_not_waited_for_beyond_the_deadline() {
    let realm = Realm::new("authority");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let client = Tls::new(realm.trusting()).unwrap();
    let error = within("connecting", move || {
        let connector = client.connector_to(&address, &Default::default()).unwrap();
        let deadline = Deadline::after(Some(Duration::from_millis(50)));
        connector.connect_tls(deadline).unwrap_err()
    });
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    drop(listener);
}

/// Conformance: complaint 3 - one dead TLS peer blocks every thread of a pool
#[test]
fn a_silent_client_holds_no_thread() {
    let realm = Realm::new("authority");
    let acceptor = listen(TlsConfig {
        handshake_time: Duration::from_millis(100),
        ..server(&realm)
    });
    // One says nothing at all, the other stops within a record.
    for begun in [&b""[..], &[22, 3, 1, 1, 0, 1]] {
        let mut client = plain_connection(&acceptor);
        client.write_all(begun).unwrap();
        let stream = accept(&acceptor);
        stream.set_timeouts(Some(Some(PATIENCE)), None).unwrap();
        let error = within("a silent client", move || {
            stream.receive(&mut [0; 64]).unwrap_err()
        });
        // Of a kind that is not taken for "try again".
        assert_eq!(error.kind(), io::ErrorKind::ConnectionAborted);
        assert_eq!(TlsFailure::of(&error), Some(&TlsFailure::TooSlow));
        drop(client);
    }
}

#[test]
fn timeouts_hold_during_the_handshake() {
    let realm = Realm::new("authority");
    let acceptor = listen(server(&realm));
    let _client = plain_connection(&acceptor);
    let stream = accept(&acceptor);
    let time = Duration::from_millis(20);
    stream.set_timeouts(Some(Some(time)), None).unwrap();
    let error = within("a timeout", move || {
        stream.receive(&mut [0; 64]).unwrap_err()
    });
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn shutdown_wakes_a_handshake() {
    let realm = Realm::new("authority");
    let acceptor = listen(server(&realm));
    let _client = plain_connection(&acceptor);
    let stream = accept(&acceptor);
    within("shutdown", move || {
        thread::scope(|scope| {
            let receiving = spawn_blocked_in(scope, || stream.receive(&mut [0; 64]));
            stream.shutdown(Shutdown::Read);
            assert_eq!(receiving.join().unwrap().unwrap(), 0);
        });
    });
}

/// What the server receives through a relay that changes what goes through it
/// once the handshake is over, and how that ends.
fn tampered(
    change: impl FnOnce(&mut TcpStream, &mut TcpStream) + Send,
) -> (Vec<u8>, io::Result<usize>) {
    tampered_then(change, |_| ())
}

/// As above, with what the client does in the end.
fn tampered_then(
    change: impl FnOnce(&mut TcpStream, &mut TcpStream) + Send,
    then: impl FnOnce(&TlsStream),
) -> (Vec<u8>, io::Result<usize>) {
    let realm = Realm::new("authority");
    let acceptor = listen(server(&realm));
    let relay = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = relay.local_addr().unwrap().to_string();
    let client = Tls::new(realm.trusting()).unwrap();
    thread::scope(|scope| {
        let relaying = scope.spawn(|| {
            let mut outer = relay.accept().unwrap().0;
            let mut inner = plain_connection(&acceptor);
            let (mut from, mut to) = (inner.try_clone().unwrap(), outer.try_clone().unwrap());
            scope.spawn(move || io::copy(&mut from, &mut to));
            // Hello, then change of cipher and Finished.
            for _ in 0..3 {
                let record = read_record(&mut outer);
                inner.write_all(&record).unwrap();
            }
            change(&mut outer, &mut inner);
            let _ = inner.shutdown(Shutdown::Write);
        });
        let served = scope.spawn(|| {
            let stream = accept(&acceptor);
            let mut received = Vec::new();
            let mut room = [0; 64];
            let end = loop {
                match stream.receive(&mut room) {
                    Ok(0) => break Ok(0),
                    Ok(count) => received.extend_from_slice(&room[..count]),
                    Err(error) => break Err(error),
                }
            };
            stream.shutdown(Shutdown::Both);
            (received, end)
        });
        let stream = realm::connect_with(&client, &address, &Default::default()).unwrap();
        let _ = stream.send(b"ping");
        let received = served.join().unwrap();
        then(&stream);
        relaying.join().unwrap();
        received
    })
}

fn read_record(from: &mut TcpStream) -> Vec<u8> {
    let mut record = vec![0; 5];
    from.read_exact(&mut record).unwrap();
    let length = usize::from(u16::from_be_bytes([record[3], record[4]]));
    record.resize(5 + length, 0);
    from.read_exact(&mut record[5..]).unwrap();
    record
}

/// Conformance: protocols - TLS: what is changed, sent again or cut off on its way
#[test]
fn altered_records_are_refused() {
    let (received, end) = tampered(|outer, inner| {
        let mut record = read_record(outer);
        *record.last_mut().unwrap() ^= 1;
        inner.write_all(&record).unwrap();
    });
    assert_eq!(received, b"");
    assert_eq!(failure(end), TlsFailure::Damaged);
}

#[test]
fn a_refused_peer_sends_nothing_more() {
    let damage = |outer: &mut TcpStream, inner: &mut TcpStream| {
        let mut record = read_record(outer);
        *record.last_mut().unwrap() ^= 1;
        inner.write_all(&record).unwrap();
    };
    let refused = TlsFailure::Refused("bad_record_mac");
    let (received, _) = tampered_then(damage, |client| {
        client.set_timeouts(Some(Some(PATIENCE)), None).unwrap();
        let answer = realm::receive_exact(client, &mut [0; 4]);
        assert_eq!(failure(answer), refused);
        assert_eq!(failure(client.send(b"more")), refused);
    });
    assert_eq!(received, b"");
}

/// Conformance: protocols - TLS: what is changed, sent again or cut off on its way
#[test]
fn replayed_records_are_refused() {
    let (received, end) = tampered(|outer, inner| {
        let record = read_record(outer);
        inner.write_all(&record).unwrap();
        inner.write_all(&record).unwrap();
    });
    assert_eq!(received, b"ping");
    assert_eq!(failure(end), TlsFailure::Damaged);
}

/// Conformance: protocols - TLS: what is changed, sent again or cut off on its way
#[test]
fn an_end_between_records_is_an_end_and_one_within_is_none() {
    let (received, end) = tampered(|outer, inner| {
        let record = read_record(outer);
        inner.write_all(&record).unwrap();
    });
    assert_eq!(received, b"ping");
    assert_eq!(end.unwrap(), 0);
    let (received, end) = tampered(|outer, inner| {
        let record = read_record(outer);
        inner.write_all(&record[..record.len() - 1]).unwrap();
    });
    assert_eq!(received, b"");
    assert_eq!(end.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}
