// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servants that panic.

use std::sync::Arc;

use orbium::giop::{SystemException, minor};
use orbium::{Completion, ExceptionKind};
use orbium_testkit::{Served, client, each_strategy, eventually};

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a servant's destructor, on purpose");
        }
    }
}

/// Conformance: POA - a servant that panics: UNKNOWN, the server goes on
#[test]
fn a_panic_is_an_unknown_exception_and_the_server_lives() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        served.state.on_act(|_, v| match v {
            0 => Ok(0),
            _ => panic!("a servant, on purpose"),
        });
        let (_client, target) = served.client();
        let panicked = SystemException::orbium(
            ExceptionKind::Unknown,
            minor::SERVANT_PANICKED,
            Completion::Maybe,
        );
        for _ in 0..10 {
            assert_eq!(target.act(1), Err(panicked));
            assert_eq!(target.act(0), Ok(0));
        }
        assert_eq!(served.target.act(1), Err(panicked));
        let manager = served.orb.root_poa().manager();
        eventually("nothing is in progress", || {
            manager.requests_in_progress() == 0
        });
        served.end();
    });
}

/// Conformance: POA - a servant that panics: UNKNOWN, the server goes on
#[test]
fn a_panicking_destructor_of_a_servant_harms_no_other_object() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let root = served.orb.root_poa();
        let state = Arc::new(orbium_testkit::TargetState::default());
        let doomed: orbium_testkit::probe::Target = root.activate(Arc::clone(&state)).unwrap();
        let (adapter, bomb) = (root.clone(), PanicsWhenDropped);
        state.on_act(move |call, v| {
            let _ = &bomb;
            adapter.deactivate(call.object_id()).unwrap();
            Ok(v)
        });
        // The request that ends the object is the last to hold its servant.
        drop(state);
        let client = client();
        let seen = orbium_testkit::reach(&client, &served.orb.object_to_string(&doomed));
        let _ = seen.act(1);
        let (_other, target) = served.client();
        assert_eq!(target.echo_long(2), Ok(2));
        eventually("nothing is in progress", || {
            root.manager().requests_in_progress() == 0
        });
        drop(root);
        served.end();
    });
}
