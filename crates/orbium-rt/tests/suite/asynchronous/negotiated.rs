// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls over the one connection of a binding: a thread makes them.

use std::sync::Arc;
use std::time::Duration;

use orbium_core::{Config, Orb, Priority};
use orbium_rt::binding::{Bindings, Rate};
use orbium_rt::{Budget, Offer, RtObject, RtOrb};
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, each_strategy, eventually, within};

use super::{act, act_at, block_on, handled, result};
use crate::common::{LOST, client, seen_by, server_with, soft, teller};

struct Served {
    orb: Orb,
    bindings: Bindings,
    state: Arc<TargetState>,
    rt: RtOrb,
    client: Orb,
    target: Target,
}

fn served(config: Config) -> Served {
    let (orb, rt) = server_with(config, soft());
    let bindings = rt.serve_bindings(Budget::new()).unwrap();
    let state = teller();
    let object: Target = orb.root_poa().activate(Arc::clone(&state)).unwrap();
    let (client, rt) = client();
    let target = seen_by(&client, &orb, &object);
    Served {
        orb,
        bindings,
        state,
        rt,
        client,
        target,
    }
}

fn offer() -> Offer {
    let day = Duration::from_secs(86_400);
    Offer {
        rate: Rate {
            requests: 1000,
            period: day,
            burst: 1000,
        },
        least_requests: 1,
        ..Offer::new(Priority::new(40).unwrap(), 1)
    }
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: bands, private connections, markers,
/// bindings
#[test]
fn they_are_served_at_what_was_agreed_on_and_take_turns() {
    each_strategy(|strategy| {
        let served = served(Config {
            strategy,
            ..Config::default()
        });
        let bound = served.target.bind(&offer()).unwrap();
        let calls: Vec<_> = (0..20)
            .map(|number| act_at(&served.rt, &bound, number % 3))
            .collect();
        for call in calls {
            assert_eq!(result(call), Ok(40), "{strategy}");
        }
        assert_eq!(block_on(act_at(&served.rt, &bound, 7)), Ok(40));
        let current = served.rt.current();
        let (served_at, own) = handled(act_at(&served.rt, &bound, 7), move |it| {
            (it, current.the_priority())
        });
        assert_eq!((served_at, own.unwrap().number()), (Ok(40), 7));
        assert_eq!(served.bindings.list()[0].taken, 22);
        bound.unbind().unwrap();
        assert_eq!(result(act(&bound, 0)), Err(LOST), "{strategy}");
        eventually("nothing is bound", || {
            served.bindings.active() == 0 && served.orb.dedicated_threads() == 0
        });
        served.orb.shutdown(true).unwrap();
    });
}

#[test]
fn one_that_waits_for_its_turn_goes_on_when_the_other_is_done() {
    let served = served(Config::default());
    let bound = served.target.bind(&offer()).unwrap();
    let gate = Arc::clone(&served.state);
    served.state.on_act(move |_, what| {
        if what == 1 {
            gate.gate.pass();
        }
        Ok(what)
    });
    let first = act(&bound, 1);
    served.state.gate.await_waiting(1);
    let second = act(&bound, 2);
    // One that was dropped takes no turn for ever.
    drop(act(&bound, 3));
    assert!(!first.is_ready(Some(Duration::ZERO)) && !second.is_ready(Some(Duration::ZERO)));
    served.state.gate.open();
    assert_eq!((result(first), result(second)), (Ok(1), Ok(2)));
    bound.unbind().unwrap();
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: bands, private connections, markers,
/// bindings
#[test]
fn a_lost_connection_is_the_end() {
    let served = served(Config::default());
    let bound = served.target.bind(&offer()).unwrap();
    assert_eq!(result(act_at(&served.rt, &bound, 9)), Ok(40));
    let orb = served.orb.clone();
    within("shutting down", move || orb.shutdown(true).unwrap());
    assert!(result(act_at(&served.rt, &bound, 9)).is_err());
    assert_eq!(result(act_at(&served.rt, &bound, 9)), Err(LOST));
}

#[test]
fn the_end_of_the_client_ends_them() {
    let served = served(Config::default());
    let bound = served.target.bind(&offer()).unwrap();
    let gate = Arc::clone(&served.state);
    served.state.on_act(move |_, _| {
        gate.gate.pass();
        Ok(1)
    });
    let call = act(&bound, 0);
    served.state.gate.await_waiting(1);
    let client = served.client.clone();
    client.shutdown(false).unwrap();
    served.state.gate.open();
    // Answered, or ended: but over.
    within("the call", move || call.wait()).ok();
    within("the end", move || client.shutdown(true).unwrap());
    assert!(result(act(&bound, 0)).is_err());
}
