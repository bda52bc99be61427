// SPDX-License-Identifier: MIT OR Apache-2.0
//! Clients that never come to the end of their handshakes, in every strategy.

use crate::realm;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use orbium::{
    Config, Interface, Orb,
    config::{Limits, ServerStrategy},
    transport::Transport,
};
use orbium_testkit::{PATIENCE, Served, each_strategy};
use orbium_tls::{Tls, TlsConfig};

use crate::realm::{About, Realm};

/// What they send: nothing, half of a record's header, half of a ClientHello.
const BEGINNINGS: [&[u8]; 3] = [
    &[],
    &[22, 3, 1],
    &[22, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3, 7, 7, 7, 7, 7, 7, 7, 7],
];

fn server(realm: &Realm, strategy: ServerStrategy, limits: Limits, handshake: Duration) -> Served {
    let tls = TlsConfig {
        handshake_time: handshake,
        ..realm.config(&About::named("server"))
    };
    let mut config = Config {
        strategy,
        limits,
        endpoints: vec!["ssliop://127.0.0.1:0".parse().unwrap()],
        ..Config::default()
    };
    let tls = Tls::new(tls).unwrap();
    config.protocols.register(Transport::stream(tls));
    Served::with(config)
}

fn client(realm: &Realm) -> Orb {
    let mut config = Config::default();
    let tls = Tls::new(realm.trusting()).unwrap();
    config.protocols.register(Transport::stream(tls));
    Orb::new(config).unwrap()
}

fn begin(served: &Served, octets: &[u8]) -> TcpStream {
    let address = served.orb.channels().unwrap()[0].address.clone();
    let mut peer = TcpStream::connect(address).unwrap();
    peer.set_read_timeout(Some(PATIENCE)).unwrap();
    peer.write_all(octets).unwrap();
    peer
}

/// The end, behind an alert perhaps.
fn expect_end(mut peer: TcpStream) {
    let mut rest = Vec::new();
    // A reset is an end too.
    if let Err(error) = peer.read_to_end(&mut rest) {
        let kind = error.kind();
        assert_eq!(kind, std::io::ErrorKind::ConnectionReset, "it is kept");
    }
}

/// Only a thread per connection cut them off.
///
/// Conformance: robustness - peers that send nothing, or half of a handshake, are cut off in every
/// strategy
#[test]
fn a_handshake_that_is_not_completed_ends_in_time() {
    let realm = Realm::new("Authority");
    each_strategy(|strategy| {
        let limits = Limits {
            initial_idle_time: None,
            ..Limits::default()
        };
        let served = server(&realm, strategy, limits, Duration::from_millis(500));
        let peers = BEGINNINGS.map(|octets| begin(&served, octets));
        peers.into_iter().for_each(expect_end);
        served.end();
    });
}

/// A client may complete the handshake and say nothing then.
///
/// Conformance: robustness - peers that send nothing, or half of a handshake, are cut off in every
/// strategy
#[test]
fn a_connection_over_which_nothing_comes_after_its_handshake_is_closed() {
    let realm = Realm::new("Authority");
    each_strategy(|strategy| {
        let limits = Limits {
            initial_idle_time: Some(Duration::from_secs(1)),
            ..Limits::default()
        };
        let served = server(&realm, strategy, limits, Duration::from_secs(60));
        let address = served.orb.channels().unwrap()[0].address.clone();
        let tls = Tls::new(realm.trusting()).unwrap();
        let stream = realm::connect_with(&tls, &address, &Default::default()).unwrap();
        let mut room = [0; 12];
        realm::receive_exact(&stream, &mut room).unwrap();
        // CloseConnection.
        assert_eq!((&room[..4], room[7]), (&b"GIOP"[..], 5));
        served.end();
    });
}

/// As many peers as a server had room for locked everybody else out.
///
/// Conformance: robustness - at the limit of connections the emptiest make room, and no host has
/// them all
#[test]
fn handshakes_that_are_not_completed_make_room_for_clients() {
    let realm = Realm::new("Authority");
    each_strategy(|strategy| {
        let limits = Limits {
            connections: 6,
            initial_idle_time: None,
            ..Limits::default()
        };
        let served = server(&realm, strategy, limits, Duration::from_secs(3600));
        let twice = [BEGINNINGS, BEGINNINGS];
        let peers: Vec<_> = twice.as_flattened().iter().collect();
        let peers: Vec<_> = peers.into_iter().map(|it| begin(&served, it)).collect();
        let client = client(&realm);
        let target = served.seen_by(&client).with_timeout(PATIENCE);
        assert_eq!(target.echo_long(1), Ok(1));
        drop(peers);
        client.shutdown(true).unwrap();
        served.end();
    });
}
