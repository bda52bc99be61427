// SPDX-License-Identifier: MIT OR Apache-2.0
//! Effect of the checksum, over several transports.

mod noise;

use std::time::Duration;

use custom_messaging::Checksum;
use noise::{Noise, Noisy};
use orbium::transport::{Tcp, Unix};
use orbium::{
    Completion, Config, ExceptionKind, Interface, Orb, SystemException, protocol::Protocols,
    transport::Transport,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, each_strategy, eventually};

/// What there is by default, and the checksum.
fn protocols() -> Protocols {
    let mut protocols = Protocols::default();
    protocols.register_messaging(std::sync::Arc::new(Checksum));
    protocols
}

fn server(
    protocols: Protocols,
    endpoint: &str,
    strategy: orbium::config::ServerStrategy,
) -> Served {
    Served::with(Config {
        endpoints: vec![endpoint.parse().unwrap()],
        strategy,
        protocols,
        ..Config::default()
    })
}

fn client(protocols: Protocols) -> Orb {
    let client = Orb::new(Config {
        protocols,
        // So that a lost answer is not waited for until somebody ends the test.
        call_timeout: Some(Duration::from_secs(60)),
        ..Config::default()
    });
    client.unwrap()
}

const ENDPOINTS: [&str; 4] = [
    "iiop://127.0.0.1:0?messaging=checksum",
    "uiop://?messaging=checksum",
    "iiop://127.0.0.1:0?messaging=giop-lite,checksum",
    "uiop://?messaging=giop-lite,checksum",
];

/// Conformance: protocols - own messaging protocols
#[test]
fn calls_pass_with_their_checksums() {
    each_strategy(|strategy| {
        for endpoint in ENDPOINTS {
            let server = server(protocols(), endpoint, strategy);
            let client = client(protocols());
            let target = server.seen_by(&client);
            let offered = target.as_object().protocols()[0].to_string();
            let (_, names) = endpoint.split_once('?').unwrap();
            assert!(offered.ends_with(names), "{offered}");
            assert_eq!(target.echo_long(-5).unwrap(), -5);
            assert_eq!(target.echo_string("sum").unwrap(), "sum");
            let octets = vec![0xA5; 1 << 20];
            assert_eq!(target.echo_octets(&octets).unwrap(), octets);
            target.post(3).unwrap();
            server.end();
        }
    });
}

/// Makes calls of which one octet after the other arrives with a wrong bit.
/// `expect` is given what became of the call and how often it was served.
fn turn_bits(noise: &Noise, server: &Served, target: &Target, expect: impl Fn(Called, u64)) {
    let mut turned = 0;
    for octet in 0..1000 {
        target.noop().unwrap();
        let before = server.state.calls();
        noise.turn(octet * 8 + octet % 8);
        let called = target.echo_string("listen");
        let served = server.state.calls() - before;
        if !noise.has_turned() {
            assert_eq!(called.unwrap(), "listen");
            break;
        }
        expect(called, served);
        turned += 1;
    }
    // A head, a tail, and a string between.
    assert!((20..1000).contains(&turned), "{turned}");
}

type Called = Result<String, SystemException>;

/// Conformance: protocols - own messaging protocols
#[test]
fn a_bit_turned_on_the_way_back_is_a_comm_failure() {
    each_strategy(|strategy| {
        for endpoint in ENDPOINTS {
            let noise = Noise::new();
            let server = server(protocols(), endpoint, strategy);
            let client = client(noisy(&noise));
            let target = server.seen_by(&client);
            turn_bits(&noise, &server, &target, |called, served| {
                let failed = called.unwrap_err();
                assert_eq!(failed.kind, ExceptionKind::CommFailure);
                assert_eq!(failed.completed, Completion::Maybe);
                assert_eq!(served, 1);
            });
            server.end();
        }
    });
}

/// A server that finds a request spoilt closes the connection and has not begun
/// it. If the client hears so in order, it makes the call again.
///
/// Conformance: protocols - own messaging protocols
#[test]
fn a_bit_turned_on_the_way_there_reaches_no_servant() {
    each_strategy(|strategy| {
        for endpoint in ENDPOINTS {
            let noise = Noise::new();
            let server = server(noisy(&noise), endpoint, strategy);
            let client = client(protocols());
            let target = server.seen_by(&client);
            turn_bits(&noise, &server, &target, |called, served| match called {
                Ok(answer) => assert_eq!((answer.as_str(), served), ("listen", 1)),
                Err(failed) => {
                    assert_eq!((failed.kind, served), (ExceptionKind::CommFailure, 0));
                }
            });
            server.end();
        }
    });
}

fn noisy(noise: &Noise) -> Protocols {
    let mut protocols = protocols();
    protocols.register(Transport::stream(Noisy(Tcp, noise.clone())));
    protocols.register(Transport::stream(Noisy(Unix, noise.clone())));
    protocols
}

/// Without the checksum nobody notices: that is what it is for.
#[test]
fn a_bit_that_was_turned_is_not_found_without() {
    each_strategy(|strategy| {
        let noise = Noise::new();
        let server = server(protocols(), "iiop://127.0.0.1:0", strategy);
        let client = client(noisy(&noise));
        let target = server.seen_by(&client);
        assert_eq!(target.echo_long(0).unwrap(), 0);
        // A header of 12 octets, as many for the reply, and the answer.
        noise.turn(24 * 8);
        assert_ne!(target.echo_long(0).unwrap(), 0);
        server.end();
    });
}

#[test]
fn datagrams_have_it_too() {
    let server = server(
        protocols(),
        "diop://127.0.0.1:0?messaging=checksum",
        orbium::config::ServerStrategy::default(),
    );
    let client = client(protocols());
    let target = server.seen_by(&client);
    let before = server.state.posted().len();
    eventually("a oneway in a datagram", || {
        target.post(1).unwrap();
        server.state.posted().len() > before
    });
    server.end();
}

/// Why an ORB cannot listen at an endpoint.
#[track_caller]
fn refusal(endpoint: &str) -> String {
    let config = Config {
        endpoints: vec![endpoint.parse().unwrap()],
        protocols: protocols(),
        ..Config::default()
    };
    Orb::new(config).unwrap_err().to_string()
}

/// Conformance: protocols - senseless stacks
#[test]
fn stacks_without_sense_are_refused_with_a_sentence() {
    for (names, sentence) in [
        (
            "checksum,giop-lite",
            "messaging giop-lite needs GIOP messages, which checksum before it changes: \
             name giop-lite first",
        ),
        ("checksum,checksum", "messaging checksum is named twice"),
        (
            "crc",
            "there is no messaging `crc` here, only giop-lite, fixed, native, ziop, checksum",
        ),
    ] {
        for endpoint in ["iiop://127.0.0.1:0", "uiop://"] {
            let refused = refusal(&format!("{endpoint}?messaging={names}"));
            assert!(refused.ends_with(sentence), "{refused}");
        }
    }
    let refused = refusal("diop://127.0.0.1:0?messaging=fixed,checksum");
    let sentence = "messaging fixed,checksum needs a stream: \
                    datagrams get lost and overtake each other";
    assert!(refused.ends_with(sentence), "{refused}");
}
