// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes with a reactor that looks before it sleeps.

use std::time::Duration;

use orbium::{
    Orb, OrbError,
    config::{Limits, ServerStrategy},
    lane::LaneConfig,
};
use orbium_testkit::{client, within};

use super::{Behind, config, pool};

/// Conformance: RT - busy polling of lanes: a reactor looks before it sleeps
#[test]
fn a_lane_that_polls_busily_serves_and_ends() {
    for strategy in [
        ServerStrategy::Reactive,
        ServerStrategy::LeaderFollowers { threads: 2 },
    ] {
        // So long that it sleeps neither between the calls nor before its end, and so short that it always does.
        for busy_poll in [Duration::from_secs(3600), Duration::from_nanos(1)] {
            let orb = Orb::builder().build().unwrap();
            let lane = orb.add_lane(&LaneConfig {
                busy_poll,
                ..config(1, strategy)
            });
            orb.root_poa().manager().activate().unwrap();
            let served = Behind::new(&orb, "Busy", &[lane.unwrap()], None);
            let caller = client();
            let target = served.seen_by(&orb, &caller);
            within("the calls", move || {
                for number in 0..20 {
                    assert_eq!(target.act(number).unwrap(), number);
                }
            });
            within("the end", move || orb.shutdown(true).unwrap());
        }
    }
}

/// Conformance: RT - busy polling of lanes: refused by name where no reactor serves
#[test]
fn lanes_without_a_serving_reactor_do_not_poll_busily() {
    let orb = Orb::builder().build().unwrap();
    for strategy in [ServerStrategy::ThreadPerConnection, pool(1, 1)] {
        let busy = LaneConfig {
            busy_poll: Duration::from_micros(50),
            ..config(1, strategy)
        };
        let refused = busy.check(&Limits::default()).unwrap_err();
        assert!(refused.contains("busy_poll"), "{refused}");
        let refused = orb.add_lane(&busy).unwrap_err();
        assert!(matches!(refused, OrbError::Config(_)), "{refused}");
    }
    orb.shutdown(true).unwrap();
}
