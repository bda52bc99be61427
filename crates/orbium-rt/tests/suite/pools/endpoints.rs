// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lanes of pools with endpoints of their own.

use orbium_core::{ExceptionKind, Interface};
use orbium_giop::Component;
use orbium_rt::{ThreadpoolConfig, ThreadpoolLane};

use super::{Pooled, with_endpoint};
use crate::common::{client, on_a_thread, seen_by, server};

/// Conformance: RT - an endpoint for each lane, read at its priority
#[test]
fn lanes_may_have_endpoints_of_their_own() {
    let lanes = [5, 20, 60].map(with_endpoint);
    let pooled = Pooled::with_lanes(&lanes, ThreadpoolConfig::default());
    let profile = pooled.object.as_object().ior().iiop_profiles().next();
    let published = profile
        .unwrap()
        .components
        .iter()
        .find_map(|it| match Component::parse(it) {
            Ok(Component::TaoEndpoints(endpoints)) => Some(endpoints),
            _ => None,
        });
    let mut published: Vec<_> = published.unwrap();
    published.sort_by_key(|it| it.priority);
    let priorities: Vec<_> = published.iter().map(|it| it.priority).collect();
    assert_eq!(priorities, [5, 20, 60]);
    // Each priority comes in where it is served.
    let (client_orb, client_rt) = client();
    for (priority, lane) in [(5, 0), (20, 1), (60, 2), (59, 1), (98, 2)] {
        let target = seen_by(&client_orb, &pooled.orb, &pooled.object);
        let (rt, at) = (client_rt.clone(), published[lane].clone());
        on_a_thread(move || {
            rt.current().set_the_priority(priority).unwrap();
            assert_eq!(target.act(0), Ok(at.priority.into()));
            let channel = target.as_object().channel().unwrap();
            assert_eq!(channel.address, at.address.to_string());
        });
    }
    // Wherever a request comes in, its lane serves it: a client without
    // priorities knows nothing of them.
    let plain = orbium_testkit::client();
    let target = seen_by(&plain, &pooled.orb, &pooled.object);
    assert_eq!(target.act(0), Ok(5));
    let refused = pooled.served_at(4).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::InvPolicy);
    // Within the process the same.
    let (rt, object) = (pooled.rt.clone(), pooled.object.clone());
    on_a_thread(move || {
        let none = object.act(0).unwrap_err();
        assert_eq!(none.kind, ExceptionKind::DataConversion);
        rt.current().set_the_priority(20).unwrap();
        assert_eq!(object.act(0), Ok(20));
    });
    drop(target);
    pooled.end();
}

/// Conformance: RT - an endpoint for each lane, read at its priority
#[test]
fn of_a_pool_all_lanes_have_endpoints_or_none() {
    let (_orb, rt) = server();
    let lanes = [with_endpoint(5), ThreadpoolLane::new(20, 1, 0)];
    let refused = rt.create_threadpool_with_lanes(&lanes, ThreadpoolConfig::default());
    assert_eq!(refused.unwrap_err().kind, ExceptionKind::BadParam);
    let nowhere = ThreadpoolLane {
        endpoints: vec!["iiop://203.0.113.1:1".parse().unwrap()],
        ..ThreadpoolLane::new(20, 1, 0)
    };
    let lanes = [with_endpoint(5), nowhere];
    let refused = rt.create_threadpool_with_lanes(&lanes, ThreadpoolConfig::default());
    assert_eq!(refused.unwrap_err().kind, ExceptionKind::Initialize);
}
