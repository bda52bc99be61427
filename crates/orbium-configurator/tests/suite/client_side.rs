// SPDX-License-Identifier: MIT OR Apache-2.0
//! The client of an ORB that is reconfigured.

use std::time::Duration;

use orbium::{
    Config, ExceptionKind, Interface, Orb,
    config::{ClientStrategy, ServerStrategy},
};
use orbium_configurator::Configurator;
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, each_client_strategy, eventually};

use crate::load::Load;
use crate::with;

fn client(strategy: ClientStrategy) -> (Orb, Configurator) {
    let config = Config {
        client_strategy: strategy,
        strategy: strategy.needs().unwrap_or_default(),
        ..Config::default()
    };
    let orb = Orb::new(config.clone()).unwrap();
    let configurator = Configurator::new(&orb, config);
    (orb, configurator)
}

/// Conformance: ORB - a running ORB is reconfigured: limits, endpoints, lanes, protocols, client strategy
#[test]
fn calls_go_on_over_connections_of_the_new_strategy() {
    each_client_strategy(|before| {
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let (orb, configurator) = client(before);
        let target = served.seen_by(&orb);
        let load = Load::on(&target, 4);
        let shared = with(&configurator, &[("client_strategy", "io-thread")]);
        configurator.reconfigure(shared).unwrap();
        load.goes_on();
        let exclusive = with(
            &configurator,
            &[
                ("client_strategy", "exclusive-pool"),
                ("limits.connections_per_server", "2"),
            ],
        );
        configurator.reconfigure(exclusive).unwrap();
        load.goes_on();
        load.end();
        orb.shutdown(true).unwrap();
        served.end();
    });
}

/// Conformance: ORB - a running ORB is reconfigured: limits, endpoints, lanes, protocols, client strategy
#[test]
fn callers_share_one_connection_once_they_are_to() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let (orb, configurator) = client(ClientStrategy::ExclusivePool);
    let target = served.seen_by(&orb);
    let lane = served.orb.own_lane().unwrap();
    let gate = |count: u64| {
        let threads: Vec<_> = (0..count)
            .map(|_| {
                let target = target.clone();
                std::thread::spawn(move || target.gate())
            })
            .collect();
        served.state.gate.await_waiting(count);
        let connections = lane.snapshot().connections;
        served.state.gate.open();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), Ok(()));
        }
        served.state.gate.close();
        connections
    };
    assert_eq!(gate(3), 3);
    let bound = with(
        &configurator,
        &[
            ("limits.connections_per_server", "1"),
            ("limits.idle_connections", "1"),
        ],
    );
    configurator.reconfigure(bound).unwrap();
    eventually("idle connections are closed", || {
        let _ = target.noop();
        lane.snapshot().connections <= 2
    });
    // One call at a time has the one connection.
    let first = target.clone();
    let first = std::thread::spawn(move || first.gate());
    served.state.gate.await_waiting(1);
    let bounded = Target::from_object(target.as_object().with_timeout(Duration::from_millis(50)));
    let refused = bounded.noop().unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::Timeout);
    served.state.gate.open();
    assert_eq!(first.join().unwrap(), Ok(()));
    orb.shutdown(true).unwrap();
    served.end();
}

/// Conformance: ORB - a running ORB is reconfigured: limits, endpoints, lanes, protocols, client strategy
#[test]
fn deadlines_and_protocols_of_calls_change() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let (orb, configurator) = client(ClientStrategy::ExclusivePool);
    let target = served.seen_by(&orb);
    assert_eq!(target.noop(), Ok(()));
    let short = with(&configurator, &[("call_timeout", "50 ms")]);
    configurator.reconfigure(short).unwrap();
    assert_eq!(target.gate().unwrap_err().kind, ExceptionKind::Timeout);
    served.state.gate.open();
    let long = with(
        &configurator,
        &[("call_timeout", "60 s"), ("client_protocols", "uiop")],
    );
    configurator.reconfigure(long).unwrap();
    // The reference does not contain that protocol.
    assert_eq!(target.noop().unwrap_err().kind, ExceptionKind::InvPolicy);
    let tcp = with(&configurator, &[("client_protocols", "iiop")]);
    configurator.reconfigure(tcp).unwrap();
    assert_eq!(target.noop(), Ok(()));
    orb.shutdown(true).unwrap();
    served.end();
}

/// Regression: those of up to eight earlier configurations stayed open.
///
/// Conformance: ORB - a running ORB is reconfigured: limits, endpoints, lanes, protocols, client strategy
#[test]
fn connections_of_earlier_configurations_are_closed() {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let (orb, configurator) = client(ClientStrategy::ExclusivePool);
    let target = served.seen_by(&orb);
    let lane = served.orb.own_lane().unwrap();
    for bound in ["1", "2", "3", "4", "5", "6"] {
        assert_eq!(target.noop(), Ok(()));
        let other = with(&configurator, &[("limits.connections_per_server", bound)]);
        configurator.reconfigure(other).unwrap();
    }
    assert_eq!(target.noop(), Ok(()));
    // One of the received reference, and one of the last configuration.
    eventually("the others are closed", || lane.snapshot().connections <= 2);
    orb.shutdown(true).unwrap();
    served.end();
}
