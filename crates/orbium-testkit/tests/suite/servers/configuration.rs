// SPDX-License-Identifier: MIT OR Apache-2.0
//! ORBs that are built from a configuration.

use std::time::Duration;

use orbium::{Config, Interface, Orb, OrbError, config::Configure as _, reference::InvalidName};
use orbium_testkit::{Served, client};

fn config(settings: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    for (key, value) in settings {
        config.set(key, value).unwrap();
    }
    config
}

/// Conformance: ORB - configuration from files and by named profiles; senseless combinations
/// refused
#[test]
fn contradictory_choices_are_refused_with_a_sentence() {
    for (settings, reason) in [
        (
            &[("limits.connections", "0")][..],
            "no client could be served",
        ),
        (
            &[("limits.connections_per_server", "0")],
            "no call could be made",
        ),
        (&[("limits.message_time", "0 s")], "in no time"),
        (&[("connect_timeout", "0 s")], "in no time"),
        (&[("limits.message_size", "11")], "a header of 12 octets"),
        (&[("fragment_size", "8")], "at least 24"),
        (
            &[("fragment_size", "64"), ("giop_minor", "1")],
            "GIOP 1.2 only",
        ),
        (
            &[("fragment_size", "2 KiB"), ("limits.message_size", "1 KiB")],
            "above limits.message_size",
        ),
        (
            &[("request_timeout", "2 s"), ("call_timeout", "1 s")],
            "must not be above call_timeout",
        ),
        (
            &[("server_strategy", "worker-pool:0")],
            "no thread would serve",
        ),
        (
            &[
                ("server_strategy", "leader-followers:9"),
                ("limits.serving_threads", "8"),
            ],
            "raise serving_threads",
        ),
        (
            &[("protocols", "uiop"), ("endpoint", "iiop://127.0.0.1:0")],
            "cannot listen at iiop://127.0.0.1:0",
        ),
        // Of several endpoints it was not said which one has the port.
        (
            &[
                ("endpoint", "iiop://127.0.0.1:0"),
                ("endpoint", "iiop://h:x"),
            ],
            "cannot listen at iiop://h:x: `x` is not a port",
        ),
    ] {
        let refused = Orb::new(config(settings)).unwrap_err();
        assert!(
            matches!(
                refused,
                OrbError::Config(_) | OrbError::Address(..) | OrbError::Protocol(..)
            ),
            "{refused:?}"
        );
        assert!(
            refused.to_string().contains(reason),
            "{settings:?}: {refused}"
        );
    }
}

/// Conformance: ORB - configuration from files and by named profiles; senseless combinations
/// refused
#[test]
fn every_profile_serves_and_calls() {
    for (name, _) in Config::PROFILES {
        let mut profile = Config::profile(name).unwrap();
        profile.set("endpoint", "iiop://127.0.0.1:0").unwrap();
        let served = Served::with(profile.clone());
        profile.set("endpoint", "none").unwrap();
        let orb = Orb::new(profile).unwrap();
        let target = served.seen_by(&orb);
        assert_eq!(target.echo_long(7), Ok(7), "{name}");
        assert_eq!(target.echo_octets(&[1; 500_000]).unwrap().len(), 500_000);
        served.end();
    }
}

/// Conformance: ORB - `-ORBInitRef`, `-ORBDefaultInitRef` and other arguments, taken out of the
/// command line
#[test]
fn initial_references_come_from_the_configuration() {
    let served = Served::new(orbium::config::ServerStrategy::default());
    let url = format!("corbaloc::127.0.0.1:{}/Target", served.port());
    let host = format!("corbaloc::127.0.0.1:{}", served.port());
    let orb = Orb::new(config(&[
        ("initial_reference", &format!("Mine={url}")),
        ("default_initial_reference", &host),
        ("call_timeout", "20 s"),
    ]))
    .unwrap();
    assert_eq!(orb.config().call_timeout, Some(Duration::from_secs(20)));
    for name in ["Mine", "Target"] {
        let object = orb.resolve_initial_references(name).unwrap();
        assert_eq!(object.non_existent(), Ok(false), "{name}");
        let same = orb.string_to_object(&format!("corbaloc:rir:/{name}"));
        assert_eq!(same, Ok(Some(object)));
    }
    assert_eq!(orb.list_initial_services(), ["Mine"]);
    // What is here alone is not looked for elsewhere.
    let local = orb.resolve_initial_references("RootPOA");
    assert_eq!(local.err(), Some(InvalidName::new("RootPOA")));
    // What the program registers goes before the configuration.
    let other = orb
        .string_to_object("corbaloc::192.0.2.1/X")
        .unwrap()
        .unwrap();
    orb.register_initial_reference("Mine", &other).unwrap();
    assert_eq!(orb.resolve_initial_references("Mine").as_ref(), Ok(&other));
    // Without a configuration there is none of it.
    assert!(client().resolve_initial_references("Target").is_err());
    // One that leads back to itself is found out.
    let circle = Orb::new(config(&[("default_initial_reference", "corbaloc:rir:")])).unwrap();
    assert!(circle.resolve_initial_references("X").is_err());
    assert_eq!(served.target.as_object().non_existent(), Ok(false));
    served.end();
}
