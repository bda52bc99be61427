// SPDX-License-Identifier: MIT OR Apache-2.0
//! All checks, orbium against orbium: over TCP with every combination of server
//! strategy, GIOP version and fragments, and within one ORB.

use std::error::Error;

use orbium::giop::codeset::NativeCharSet;
use orbium::{
    Char, Config, Orb,
    config::{Collocation, GiopMinor, ServerStrategy},
};
use orbium_demo::check::{self, Check, Facts, Outcome};
use orbium_demo::{Served, cubit::Cube, kitchen::Peer, kitchen::Scalars, serve, ttcp::Receiver};

type Tested = Result<(), Box<dyn Error>>;

const LEADER_FOLLOWERS: ServerStrategy = ServerStrategy::LeaderFollowers { threads: 3 };

const WORKER_POOL: ServerStrategy = ServerStrategy::WorkerPool {
    workers: 3,
    queue: 64,
};

/// Skips that are no one's fault: GIOP 1.0 carries only Latin-1.
fn may_be_skipped(facts: &Facts) -> bool {
    facts.giop_minor == 0
}

/// Panics unless all passed.
fn judge(checks: &[Check], facts: &Facts) {
    let bad = checks.iter().filter(|check| match check.outcome {
        Outcome::Passed => false,
        Outcome::Failed(_) => true,
        Outcome::Skipped(_) => !may_be_skipped(facts),
    });
    let bad: Vec<String> = bad.map(ToString::to_string).collect();
    assert!(
        bad.is_empty(),
        "{} of {}:\n{}",
        bad.len(),
        checks.len(),
        bad.join("\n")
    );
}

fn run_all(orb: &Orb, served: &Served, facts: &Facts) -> Vec<Check> {
    let mut checks = check::receiver(&served.receiver, facts);
    checks.extend(check::peer(orb, &served.peer, facts));
    checks.extend(check::cube(&served.cube, facts));
    let asynchronous = check::asynchronous(orb, &served.cube, &served.peer, facts);
    checks.extend(asynchronous);
    checks
}

/// The references of a server, as a client reads them.
fn received(client: &Orb, server: &Orb, served: &Served) -> Result<Served, Box<dyn Error>> {
    let cube = client.string_to_object(&server.object_to_string(&served.cube))?;
    let receiver = client.string_to_object(&server.object_to_string(&served.receiver))?;
    let peer = client.string_to_object(&server.object_to_string(&served.peer))?;
    Ok(Served {
        cube: orbium::narrow::<Cube>(cube)?,
        receiver: orbium::narrow::<Receiver>(receiver)?,
        peer: orbium::narrow::<Peer>(peer)?,
    })
}

fn config(strategy: ServerStrategy, minor: u8, fragment_size: Option<usize>) -> Config {
    Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse().expect("an endpoint")],
        strategy,
        giop_minor: GiopMinor::new(minor).expect("a minor version"),
        fragment_size,
        ..Config::default()
    }
}

/// Client and server in two ORBs of the same configuration, to the end.
fn over_tcp(config: Config) -> Tested {
    let facts = Facts::of_giop(config.giop_minor.number());
    let server = Orb::new(config.clone())?;
    let served = serve(&server)?;
    let client = Orb::new(config)?;
    let remote = received(&client, &server, &served)?;
    let told = Facts::of(&remote.peer);
    // A profile of IIOP 1.0 has no components to tell whose it is.
    let complete = facts.complete && facts.giop_minor > 0;
    assert_eq!(told, Facts { complete, ..facts });

    let mut checks = run_all(&client, &remote, &facts);
    checks.push(check::shutdown(&remote.cube));
    judge(&checks, &facts);
    // `Cube::shutdown` may have been faster.
    let _ = server.run();
    client.shutdown(true)?;
    Ok(())
}

/// Conformance: both sides threads - GIOP 1.2
#[test]
fn threads_giop_1_2() -> Tested {
    over_tcp(config(ServerStrategy::ThreadPerConnection, 2, None))
}

/// Conformance: both sides threads - GIOP 1.1
#[test]
fn threads_giop_1_1() -> Tested {
    over_tcp(config(ServerStrategy::ThreadPerConnection, 1, None))
}

/// Conformance: both sides threads - GIOP 1.0
#[test]
fn threads_giop_1_0() -> Tested {
    over_tcp(config(ServerStrategy::ThreadPerConnection, 0, None))
}

/// Conformance: both sides threads - fragments of 1 KiB
#[test]
fn threads_small_fragments() -> Tested {
    over_tcp(config(ServerStrategy::ThreadPerConnection, 2, Some(1024)))
}

/// Conformance: both sides reactive - GIOP 1.2
/// Conformance: TAO 13 - very large replies to a single-threaded client - 5 MB
#[test]
fn reactive_giop_1_2() -> Tested {
    over_tcp(config(ServerStrategy::Reactive, 2, None))
}

/// Conformance: both sides reactive - GIOP 1.1
#[test]
fn reactive_giop_1_1() -> Tested {
    over_tcp(config(ServerStrategy::Reactive, 1, None))
}

/// Conformance: both sides reactive - GIOP 1.0
#[test]
fn reactive_giop_1_0() -> Tested {
    over_tcp(config(ServerStrategy::Reactive, 0, None))
}

/// Conformance: both sides reactive - fragments of 1 KiB
#[test]
fn reactive_small_fragments() -> Tested {
    over_tcp(config(ServerStrategy::Reactive, 2, Some(1024)))
}

/// Conformance: both sides threads - leader-followers: 1.2, 1.1, 1.0; fragments of 1 KiB
#[test]
fn leader_followers() -> Tested {
    for minor in 0..=2 {
        over_tcp(config(LEADER_FOLLOWERS, minor, None))?;
    }
    Ok(())
}

/// Conformance: both sides threads - leader-followers: 1.2, 1.1, 1.0; fragments of 1 KiB
#[test]
fn leader_followers_small_fragments() -> Tested {
    over_tcp(config(LEADER_FOLLOWERS, 2, Some(1024)))
}

/// Conformance: both sides threads - worker pool: 1.2, 1.1, 1.0; fragments of 1 KiB
/// Conformance: TAO 46 - asynchronous calls and servers - every operation in all forms, against
/// every strategy and transport
#[test]
fn worker_pool() -> Tested {
    for minor in 0..=2 {
        over_tcp(config(WORKER_POOL, minor, None))?;
    }
    Ok(())
}

/// Conformance: both sides threads - worker pool: 1.2, 1.1, 1.0; fragments of 1 KiB
#[test]
fn worker_pool_small_fragments() -> Tested {
    over_tcp(config(WORKER_POOL, 2, Some(1024)))
}

/// Conformance: both sides threads - within one ORB
/// Conformance: TAO 35 - collocated calls behave as remote ones
/// Conformance: TAO 46 - asynchronous calls and servers - every operation in all forms, against
/// every strategy and transport
#[test]
fn within_one_orb() -> Tested {
    for collocation in [
        Collocation::ThroughPoa,
        Collocation::Direct,
        Collocation::Marshalled,
    ] {
        for minor in 0..=2 {
            let orb = Orb::new(Config {
                collocation,
                ..config(ServerStrategy::ThreadPerConnection, minor, None)
            })?;
            let served = serve(&orb)?;
            let facts = Facts::of(&served.peer);
            let mut checks = run_all(&orb, &served, &facts);
            checks.push(check::shutdown(&served.cube));
            judge(&checks, &facts);
            let _ = orb.run();
        }
    }
    Ok(())
}

/// A `char` beyond ASCII could not be sent from one orbium to another: the agreed
/// UTF-8 has no single octet for it. Strings keep every script meanwhile.
///
/// Conformance: code sets - text of any script and a `char` beyond ASCII on one connection of two
/// orbiums
#[test]
fn any_script_and_every_char() -> Tested {
    for native in [NativeCharSet::Latin1, NativeCharSet::Utf8] {
        let server = Orb::new(Config {
            native_char_code_set: native,
            ..config(WORKER_POOL, 2, None)
        })?;
        let client = Orb::new(Config::default())?;
        let served = serve(&server)?;
        let remote = received(&client, &server, &served)?;
        for peer in [remote.peer, served.peer] {
            for octet in [0, 0x7F, 0x80, 0xE5, 0xFF] {
                let sent = Scalars {
                    c: Char(octet),
                    ..Scalars::default()
                };
                let mut both = sent;
                let got = peer.echo_scalars(&sent, &mut both)?;
                assert_eq!((got.result.c, got.copy.c, both.c), (sent.c, sent.c, sent.c));
            }
            let text = "Žofie, 漢字, å";
            assert_eq!(peer.echo_string(text, &mut String::new())?.result, text);
        }
        client.shutdown(true)?;
        server.shutdown(true)?;
    }
    Ok(())
}

/// References known from nothing but an address and a key.
///
/// Conformance: both sides threads - from an address and a plain key
/// Conformance: references - plain keys, `corbaloc::host:port/Name`
/// Conformance: ORB - `object_to_string`, `string_to_object`, `is_equivalent`
#[test]
fn by_plain_keys() -> Tested {
    let server = Orb::new(config(ServerStrategy::ThreadPerConnection, 2, None))?;
    serve(&server)?;
    let client = Orb::new(config(ServerStrategy::ThreadPerConnection, 2, None))?;
    let at = &server.addresses()?[0];
    let object =
        |key: &str| client.string_to_object(&format!("corbaloc::{}:{}/{key}", at.host, at.port));
    let remote = Served {
        cube: orbium::narrow(object("Cube")?)?,
        receiver: orbium::narrow(object("Receiver")?)?,
        peer: orbium::narrow(object("Peer")?)?,
    };
    let facts = Facts::of(&remote.peer);
    assert!(!facts.code_sets && !facts.wide, "{facts:?}");
    let checks = run_all(&client, &remote, &facts);
    let failed = checks
        .iter()
        .filter(|check| matches!(check.outcome, Outcome::Failed(_)));
    let failed: Vec<String> = failed.map(ToString::to_string).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    client.shutdown(true)?;
    server.shutdown(true)?;
    Ok(())
}
