// SPDX-License-Identifier: MIT OR Apache-2.0
//! Call-backs to objects behind lanes.

use std::sync::Arc;

use orbium::{
    Interface, Orb,
    config::ServerStrategy,
    lane::{LaneConfig, Priority},
    poa::Policies,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, TargetState, dead_port, each_strategy, reach, within};

use crate::common::{both, seen_by, unreachable, with};

/// An object of a lane at an address at which nothing answers, as text.
fn behind_lane(orb: &Orb, number: i16, strategy: ServerStrategy) -> (Arc<TargetState>, String) {
    let endpoint = format!("iiop://127.0.0.1:0?publish=127.0.0.1:{}", dead_port());
    let lane = orb.add_lane(&LaneConfig {
        name: format!("lane-{number}"),
        priority: Priority::new(number),
        strategy,
        endpoints: vec![endpoint.parse().unwrap()],
        ..LaneConfig::default()
    });
    let policies = Policies {
        lanes: vec![lane.unwrap()],
        ..Policies::default()
    };
    let root = orb.root_poa();
    let name = format!("poa-{number}");
    let poa = root
        .create_poa(&name, Some(root.manager()), policies)
        .unwrap();
    let state = Arc::new(TargetState::default());
    let target: Target = poa.activate(Arc::clone(&state)).unwrap();
    let target = target.as_object();
    (state, orb.object_to_string(target))
}

/// One lane takes the connections that the ORB has opened; the objects of all are called over
/// them.
///
/// Conformance: connections - bidirectional GIOP: to objects behind lanes
#[test]
fn objects_behind_lanes_are_called_back() {
    each_strategy(|strategy| {
        let server = Served::with(both());
        let client = Served::with(with(strategy));
        let objects = [1, 20].map(|number| behind_lane(&client.orb, number, strategy));
        let target = server.seen_by(&client.orb);
        within("a call", move || target.noop()).unwrap();
        for (state, text) in objects {
            let back = reach(&server.orb, &text);
            assert_eq!(within("a call-back", move || back.echo_long(7)), Ok(7));
            assert_eq!(state.calls(), 1);
        }
        client.end();
        server.end();
    });
}

/// An endpoint that was opened after the first answer over a connection was never announced
/// there.
///
/// Conformance: connections - bidirectional GIOP: endpoints that are opened later are announced
/// over the connections that are there
#[test]
fn objects_of_a_lane_that_comes_later_are_called_back() {
    each_strategy(|strategy| {
        let server = Served::with(both());
        let client = unreachable(with(strategy));
        let target = server.seen_by(&client.orb);
        let back = seen_by(&server.orb, &client);
        let calls = |target: &Target| {
            let target = target.clone();
            within("a call", move || target.noop()).unwrap();
        };
        calls(&target);
        calls(&back);
        for number in [1, 20] {
            let (state, text) = behind_lane(&client.orb, number, strategy);
            calls(&target);
            let later = reach(&server.orb, &text);
            assert_eq!(within("a call-back", move || later.echo_long(7)), Ok(7));
            assert_eq!(state.calls(), 1);
        }
        calls(&back);
        client.end();
        server.end();
    });
}
