// SPDX-License-Identifier: MIT OR Apache-2.0
//! Endpoints, limits and lanes of a server under load.

use std::net::TcpStream;
use std::sync::Arc;
use std::thread;

use orbium::{Config, Interface, Orb, config::ServerStrategy};
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, client, each_strategy, eventually, spawn_blocked};

use crate::load::Load;
use crate::{ports, served, with};

fn of(strategy: ServerStrategy) -> Config {
    Config {
        strategy,
        ..Config::default()
    }
}

/// Conformance: ORB - a running ORB is reconfigured: limits, endpoints, lanes, protocols, client strategy
#[test]
fn endpoints_come_and_go_under_load_and_no_call_is_lost() {
    each_strategy(|strategy| {
        let (served, configurator) = served(of(strategy));
        let first = served.port();
        let (_client, target) = served.client();
        let load = Load::on(&target, 2);
        for round in 0..5 {
            let more = with(&configurator, &[("endpoint", "iiop://localhost:0")]);
            let changes = configurator.reconfigure(more).unwrap();
            assert_eq!(changes[0].key, "endpoint");
            let [one, second] = ports(&served.orb)[..] else {
                panic!("one more, in round {round}");
            };
            assert_eq!(one, first);
            load.goes_on();
            // Its requests are served, and references contain it.
            let caller = client();
            let at = format!("corbaloc:iiop:1.2@localhost:{second}/Target");
            let there = orbium_testkit::reach(&caller, &at);
            assert_eq!(there.echo_long(round), Ok(round));
            let snapshot = served.orb.own_lane().unwrap().snapshot();
            assert_eq!(snapshot.endpoints.len(), 2);
            let fewer = with(
                &configurator,
                &[("endpoint", "none"), ("endpoint", "iiop://127.0.0.1:0")],
            );
            configurator.reconfigure(fewer).unwrap();
            assert_eq!(ports(&served.orb), [first]);
            eventually("new clients are refused", || {
                TcpStream::connect(("localhost", second)).is_err()
            });
            // Its connections stay open.
            assert_eq!(there.echo_long(round), Ok(round));
            load.goes_on();
        }
        load.end();
        served.end();
    });
}

/// Another protocol, too; then the first endpoint is removed: its connections are still served.
///
/// Conformance: ORB - a running ORB is reconfigured: limits, endpoints, lanes, protocols, client strategy
#[test]
fn a_protocol_takes_the_place_of_another_under_load() {
    each_strategy(|strategy| {
        let (served, configurator) = served(of(strategy));
        let port = served.port();
        let (_client, target) = served.client();
        let load = Load::on(&target, 2);
        let other = with(
            &configurator,
            &[("endpoint", "none"), ("endpoint", "uiop://")],
        );
        configurator.reconfigure(other).unwrap();
        assert_eq!(ports(&served.orb), Vec::<u16>::new());
        eventually("new clients are refused", || {
            TcpStream::connect(("127.0.0.1", port)).is_err()
        });
        load.goes_on();
        // New references contain the new endpoint.
        let object: Target = served
            .orb
            .root_poa()
            .activate(Arc::new(TargetState::default()))
            .unwrap();
        let caller = client();
        let text = served.orb.object_to_string(&object);
        let target = orbium_testkit::reach(&caller, &text);
        assert_eq!(target.noop(), Ok(()));
        let channel = target.as_object().channel().unwrap();
        assert_eq!(channel.scheme, "uiop");
        load.end();
        served.end();
    });
}

/// Conformance: ORB - a running ORB is reconfigured: limits, endpoints, lanes, protocols, client strategy
#[test]
fn limits_hold_at_once_under_load() {
    each_strategy(|strategy| {
        let (served, configurator) = served(of(strategy));
        let (_client, target) = served.client();
        let load = Load::on(&target, 1);
        // The load's connection uses up the limit.
        let one = with(&configurator, &[("limits.connections", "1")]);
        let changes = configurator.reconfigure(one).unwrap();
        assert_eq!(changes[0].to_string(), "limits.connections: 4096 → 1");
        let caller = client();
        let refused = served.seen_by(&caller).noop();
        assert!(refused.is_err(), "{refused:?}");
        let more = with(&configurator, &[("limits.connections", "9")]);
        configurator.reconfigure(more).unwrap();
        assert_eq!(served.seen_by(&caller).noop(), Ok(()));
        load.end();
        served.end();
    });
}

/// Conformance: ORB - a running ORB is reconfigured: limits, endpoints, lanes, protocols, client strategy
#[test]
fn idle_connections_are_closed_from_now_on() {
    let (served, configurator) = served(of(ServerStrategy::Reactive));
    let (_client, target) = served.client();
    assert_eq!(target.noop(), Ok(()));
    let lane = served.orb.own_lane().unwrap();
    assert_eq!(lane.snapshot().connections, 1);
    let soon = with(&configurator, &[("limits.server_idle_time", "20 ms")]);
    configurator.reconfigure(soon).unwrap();
    // It wakes up for a new connection.
    drop(TcpStream::connect(("127.0.0.1", served.port())));
    eventually("nothing is left", || lane.snapshot().connections == 0);
    assert_eq!(target.noop(), Ok(()));
    served.end();
}

/// Conformance: ORB - a running ORB is reconfigured: limits, endpoints, lanes, protocols, client strategy
#[test]
fn lanes_come_and_go_and_listen_elsewhere() {
    let (served, configurator) = served(of(ServerStrategy::ThreadPerConnection));
    let (_client, target) = served.client();
    let load = Load::on(&target, 2);
    let more = with(
        &configurator,
        &[
            ("lane.urgent.priority", "200"),
            ("lane.urgent.strategy", "reactive"),
            ("lane.urgent.endpoint", "iiop://127.0.0.1:0"),
        ],
    );
    configurator.reconfigure(more).unwrap();
    let lane = served.orb.lane("urgent").unwrap();
    assert_eq!(lane.channels().len(), 1);
    let two = with(
        &configurator,
        &[("lane.urgent.endpoint", "iiop://localhost:0")],
    );
    configurator.reconfigure(two).unwrap();
    assert_eq!(lane.channels().len(), 2);
    load.goes_on();
    let none = with(&configurator, &[("lanes", "none")]);
    configurator.reconfigure(none).unwrap();
    assert!(served.orb.lane("urgent").is_none());
    load.end();
    served.end();
}

/// Regression: it was served like an endpoint of plain GIOP, over a transport without a name.
///
/// Conformance: ORB - a running ORB is reconfigured: limits, endpoints, lanes, protocols, client strategy
#[test]
fn connections_that_wait_at_a_closed_endpoint_keep_its_protocol() {
    let (served, configurator) = served(of(ServerStrategy::Reactive));
    let more = [("endpoint", "iiop://127.0.0.1:0?messaging=giop-lite")];
    let more = with(&configurator, &more);
    configurator.reconfigure(more).unwrap();
    let state = Arc::new(TargetState::default());
    let object: Target = served.orb.root_poa().activate(state).unwrap();
    let config = Config {
        client_protocols: Some("iiop/giop-lite".parse().unwrap()),
        ..Config::default()
    };
    let caller = Orb::new(config).unwrap();
    let target = orbium_testkit::reach(&caller, &served.orb.object_to_string(&object));
    let (_client, busy) = served.client();
    let busy = thread::spawn(move || busy.gate());
    served.state.gate.await_waiting(1);
    // The accepting thread is blocked at the gate.
    let waiting = spawn_blocked(move || (target.echo_long(7), target));
    let fewer = [("endpoint", "none"), ("endpoint", "iiop://127.0.0.1:0")];
    let fewer = with(&configurator, &fewer);
    configurator.reconfigure(fewer).unwrap();
    // The place of the closed one is not free yet.
    let another = with(&configurator, &[("endpoint", "uiop://")]);
    configurator.reconfigure(another).unwrap();
    served.state.gate.open();
    let (answered, target) = waiting.join().unwrap();
    assert_eq!(answered, Ok(7));
    assert_eq!(busy.join().unwrap(), Ok(()));
    // Its first message has a GIOP header, and is served at either kind of endpoint.
    let connections = served.orb.connections().entries;
    let transports: Vec<_> = connections.iter().map(|it| &*it.transport).collect();
    assert_eq!(transports, ["iiop"; 2]);
    drop(target);
    served.end();
}
