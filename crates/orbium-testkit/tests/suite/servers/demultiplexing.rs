// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many objects, deep adapters, and keys that are stale or made up.

use std::sync::Arc;

use orbium::giop::ReplyStatus;
use orbium::{
    ExceptionKind, Interface,
    poa::{IdAssignment, Lifespan, Policies},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    Peer, RequestLine, Served, TargetState, client, each_strategy, reach, request,
};

/// Conformance: POA - many objects, deep adapters, stale and invented keys
#[test]
fn ten_thousand_objects_are_distinguished() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let root = served.orb.root_poa();
        let objects: Vec<(Arc<TargetState>, Target)> = (0..10_000)
            .map(|_| {
                let state = Arc::new(TargetState::default());
                let target = root.activate(Arc::clone(&state)).unwrap();
                (state, target)
            })
            .collect();
        let client = client();
        for (state, target) in objects.iter().step_by(97) {
            let seen = reach(&client, &served.orb.object_to_string(target));
            seen.noop().unwrap();
            assert_eq!(state.calls(), 1);
        }
        let called = objects.iter().filter(|(state, _)| state.calls() > 0);
        assert_eq!(called.count(), 10_000_usize.div_ceil(97));
        drop(root);
        served.end();
    });
}

/// Conformance: POA - many objects, deep adapters, stale and invented keys
#[test]
fn objects_twenty_adapters_deep_are_found_by_hint_and_by_path() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let root = served.orb.root_poa();
        let policies = Policies {
            lifespan: Lifespan::Persistent,
            id_assignment: IdAssignment::User,
            ..Policies::default()
        };
        let mut poa = root.clone();
        for depth in 0..20 {
            poa = poa
                .create_poa(
                    &format!("level {depth}"),
                    Some(root.manager()),
                    policies.clone(),
                )
                .unwrap();
        }
        let client = client();
        let early: Target = poa.create_reference_with_id(b"deep").unwrap();
        let hinted: Target = poa
            .activate_with_id(b"deep", TargetState::default())
            .unwrap();
        for target in [&early, &hinted] {
            let seen = reach(&client, &served.orb.object_to_string(target));
            assert_eq!(seen.echo_long(9), Ok(9));
        }
        poa.deactivate(b"deep").unwrap();
        let seen = reach(&client, &served.orb.object_to_string(&hinted));
        assert_eq!(seen.noop().unwrap_err().kind, ExceptionKind::ObjectNotExist);
        drop(root);
        served.end();
    });
}

/// Conformance: POA - many objects, deep adapters, stale and invented keys
#[test]
fn keys_that_were_never_given_find_nothing() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let key = served.target.as_object().ior().profiles[0]
            .object_key()
            .unwrap();
        let mut keys = vec![
            vec![],
            vec![0],
            vec![0xFF; 1000],
            b"target".to_vec(),
            [&key[..], b"x"].concat(),
            key[..key.len() - 1].to_vec(),
        ];
        for place in 0..key.len() {
            let mut garbled = key.clone();
            garbled[place] ^= 0x40;
            keys.push(garbled);
        }
        let mut peer = Peer::connect(served.port());
        for key in &keys {
            let line = RequestLine {
                key,
                ..RequestLine::new(2, "noop")
            };
            peer.send(&request(line, |_| {}));
            let (_, status, body) = peer.receive().reply();
            assert_eq!(status, ReplyStatus::SystemException, "{key:?}");
            assert!(String::from_utf8_lossy(&body).contains("OBJECT_NOT_EXIST"));
        }
        assert_eq!(served.state.calls(), 0);
        served.end();
    });
}
