// SPDX-License-Identifier: MIT OR Apache-2.0
//! Refused reconfigurations leave the ORB unchanged.

use orbium::{Config, Orb, config::Configure as _};
use orbium_configurator::{Configurator, ReconfigureError};

use crate::{ports, served, with};

/// Conformance: ORB - a running ORB is reconfigured: limits, endpoints, lanes, protocols, client strategy
#[test]
fn fixed_keys_are_refused_by_name_and_nothing_is_changed() {
    let (served, configurator) = served(Config::default());
    let before = configurator.config();
    let other = with(
        &configurator,
        &[
            ("limits.connections", "7"),
            ("endpoint", "iiop://localhost:0"),
            ("server_strategy", "reactive"),
            ("limits.nesting", "9"),
        ],
    );
    let refused = configurator.reconfigure(other).unwrap_err();
    let sentence = "cannot change while the ORB runs: server_strategy, limits.nesting";
    assert_eq!(refused.to_string(), sentence);
    assert_eq!(configurator.config(), before);
    assert_eq!(ports(&served.orb).len(), 1);
    assert_eq!(served.orb.engines().1.limits(), &before.limits);
    served.end();
}

/// Conformance: ORB - a running ORB is reconfigured: limits, endpoints, lanes, protocols, client strategy
#[test]
fn an_endpoint_that_is_taken_undoes_what_was_begun() {
    let (served, configurator) = served(Config::default());
    let taken = format!("iiop://127.0.0.1:{}", served.port());
    let other = with(
        &configurator,
        &[
            ("limits.connections", "7"),
            ("endpoint", "iiop://localhost:0"),
            ("endpoint", &taken),
        ],
    );
    let refused = configurator.reconfigure(other).unwrap_err();
    assert!(matches!(refused, ReconfigureError::Refused(_)), "{refused}");
    assert_eq!(ports(&served.orb), [served.port()]);
    assert_eq!(served.orb.engines().1.limits().connections, 4096);
    let senseless = with(&configurator, &[("limits.connections", "0")]);
    let refused = configurator.reconfigure(senseless).unwrap_err();
    assert!(refused.to_string().contains("at least 1"), "{refused}");
    served.orb.shutdown(true).unwrap();
    let late = configurator.reconfigure(configurator.config());
    assert!(matches!(late, Err(ReconfigureError::Ended)));
}

/// Regression: more threads were refused as by an ORB that was shut down, and fewer were reported
/// but not applied: the lane started with the previous number.
///
/// Conformance: ORB - a running ORB is reconfigured: limits, endpoints, lanes, protocols, client strategy
#[test]
fn lanes_that_do_not_serve_yet_cannot_change() {
    let mut config = Config::default();
    for (key, value) in [("priority", "7"), ("strategy", "worker-pool:4/8")] {
        config.set(&format!("lane.later.{key}"), value).unwrap();
    }
    let orb = Orb::new(config.clone()).unwrap();
    let configurator = Configurator::new(&orb, config);
    for (key, value) in [
        ("lane.later.strategy", "worker-pool:8/8"),
        ("lane.later.strategy", "worker-pool:2/8"),
        ("lane.later.endpoint", "iiop://127.0.0.1:0"),
    ] {
        let other = with(&configurator, &[(key, value)]);
        let refused = configurator.reconfigure(other).unwrap_err();
        let sentence = "cannot change while the ORB runs: lane.later \
                        (to change: it does not serve yet, or has ended)";
        assert_eq!(refused.to_string(), sentence);
    }
    orb.shutdown(true).unwrap();
}
