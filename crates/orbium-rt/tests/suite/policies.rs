// SPDX-License-Identifier: MIT OR Apache-2.0
//! Policies of adapters are checked when the adapter is made.

use crate::common::{adapter, propagated, server};
use orbium_core::{Orb, PoaError, Policies};
use orbium_rt::{
    PolicyType, PriorityBand, PriorityModelPolicy, Protocol, ProtocolList, RtOrb, RtPoaError,
    RtPolicies, TcpProtocolProperties, ThreadpoolConfig, ThreadpoolId, ThreadpoolLane, Why,
};

const fn band(low: i16, high: i16) -> PriorityBand {
    PriorityBand { low, high }
}

fn refusal(orb: &Orb, rt: &RtOrb, policies: &RtPolicies) -> (PolicyType, Why) {
    let refused = rt.create_poa(
        &orb.root_poa(),
        "refused",
        None,
        Policies::default(),
        policies,
    );
    match refused {
        Err(RtPoaError::InvalidPolicy(invalid)) => (invalid.policy, invalid.why),
        other => panic!("{other:?}"),
    }
}

fn lanes(rt: &RtOrb, priorities: &[i16]) -> ThreadpoolId {
    let lanes: Vec<_> = priorities
        .iter()
        .map(|it| ThreadpoolLane::new(*it, 1, 0))
        .collect();
    rt.create_threadpool_with_lanes(&lanes, ThreadpoolConfig::default())
        .unwrap()
}

fn declared(server_priority: i16) -> RtPolicies {
    RtPolicies {
        priority_model: Some(PriorityModelPolicy::server_declared(server_priority)),
        ..RtPolicies::default()
    }
}

/// Conformance: RT 5.7 to 5.15 - policies checked at `create_POA`: InvalidPolicy
#[test]
fn a_thread_pool_must_be_there() {
    let (orb, rt) = server();
    let policies = RtPolicies {
        threadpool: Some(ThreadpoolId(77)),
        ..RtPolicies::default()
    };
    let expected = (PolicyType::Threadpool, Why::NoSuchThreadpool);
    assert_eq!(refusal(&orb, &rt, &policies), expected);
}

/// Conformance: RT 5.7 to 5.15 - policies checked at `create_POA`: InvalidPolicy
#[test]
fn lanes_take_a_priority_model() {
    let (orb, rt) = server();
    let policies = RtPolicies {
        threadpool: Some(lanes(&rt, &[5])),
        ..RtPolicies::default()
    };
    let expected = (PolicyType::Threadpool, Why::NoPriorityModel);
    assert_eq!(refusal(&orb, &rt, &policies), expected);
}

/// Conformance: RT 5.7 to 5.15 - policies checked at `create_POA`: InvalidPolicy
#[test]
fn the_servers_priority_is_a_lanes() {
    let (orb, rt) = server();
    let pool = Some(lanes(&rt, &[5, 9]));
    let with = |policies: RtPolicies| RtPolicies {
        threadpool: pool,
        ..policies
    };
    let expected = (PolicyType::PriorityModel, Why::NotALane);
    assert_eq!(refusal(&orb, &rt, &with(declared(7))), expected);
    adapter(&orb, &rt, "declared", &with(declared(9)));
    // The client says which.
    adapter(&orb, &rt, "propagated", &with(propagated(0)));
}

/// Conformance: RT 5.7 to 5.15 - policies checked at `create_POA`: InvalidPolicy
#[test]
fn bands_take_a_priority_model() {
    let (orb, rt) = server();
    let policies = RtPolicies {
        bands: Some(vec![band(0, 9)]),
        ..RtPolicies::default()
    };
    let expected = (PolicyType::PriorityBandedConnection, Why::NoPriorityModel);
    assert_eq!(refusal(&orb, &rt, &policies), expected);
}

/// Conformance: RT 5.7 to 5.15 - policies checked at `create_POA`: InvalidPolicy
#[test]
fn bands_must_be_bands() {
    let (orb, rt) = server();
    for (bands, why) in [
        (vec![], Why::NoBands),
        (vec![band(0, 9), band(8, 7)], Why::UpsideDown),
        (vec![band(-1, 7)], Why::NoPriority),
        (vec![band(i16::MIN, -1)], Why::NoPriority),
    ] {
        let policies = RtPolicies {
            bands: Some(bands),
            ..propagated(0)
        };
        let expected = (PolicyType::PriorityBandedConnection, why);
        assert_eq!(refusal(&orb, &rt, &policies), expected);
    }
    // They may overlap: the first that holds a priority counts.
    let policies = RtPolicies {
        bands: Some(vec![band(0, 9), band(5, 20)]),
        ..propagated(0)
    };
    adapter(&orb, &rt, "overlap", &policies);
}

/// Conformance: RT 5.7 to 5.15 - policies checked at `create_POA`: InvalidPolicy
#[test]
fn the_servers_priority_is_in_a_band() {
    let (orb, rt) = server();
    let with = |policies: RtPolicies| RtPolicies {
        bands: Some(vec![band(0, 9), band(20, 29)]),
        ..policies
    };
    let expected = (PolicyType::PriorityBandedConnection, Why::InNoBand);
    assert_eq!(refusal(&orb, &rt, &with(declared(10))), expected);
    adapter(&orb, &rt, "declared", &with(declared(20)));
}

/// Conformance: RT 5.7 to 5.15 - policies checked at `create_POA`: InvalidPolicy
#[test]
fn every_band_has_a_lane() {
    let (orb, rt) = server();
    let pool = Some(lanes(&rt, &[5, 25]));
    let with = |bands: &[PriorityBand]| RtPolicies {
        bands: Some(bands.to_vec()),
        threadpool: pool,
        ..propagated(0)
    };
    let expected = (PolicyType::PriorityBandedConnection, Why::BandWithoutLane);
    let missing = with(&[band(0, 9), band(10, 19), band(20, 29)]);
    assert_eq!(refusal(&orb, &rt, &missing), expected);
    adapter(&orb, &rt, "all", &with(&[band(0, 9), band(20, 29)]));
}

/// Conformance: RT 5.7 to 5.15 - policies checked at `create_POA`: InvalidPolicy
#[test]
fn the_servers_priority_is_a_priority_that_is_mapped() {
    let (orb, rt) = server();
    let of_model = |why| (PolicyType::PriorityModel, why);
    assert_eq!(refusal(&orb, &rt, &declared(-1)), of_model(Why::NoPriority));
    assert_eq!(refusal(&orb, &rt, &declared(500)), of_model(Why::NotMapped));
}

/// Conformance: RT 5.7 to 5.15 - policies checked at `create_POA`: InvalidPolicy
#[test]
fn a_servers_protocols_have_endpoints() {
    let (orb, rt) = server();
    let with = |protocols: Vec<Protocol>| RtPolicies {
        server_protocols: Some(ProtocolList(protocols)),
        ..RtPolicies::default()
    };
    let of_server = |why| (PolicyType::ServerProtocol, why);
    let missing = with(vec![Protocol::IIOP, Protocol::UIOP]);
    assert_eq!(refusal(&orb, &rt, &missing), of_server(Why::NoEndpoint));
    let properties = with(vec![Protocol::tcp(TcpProtocolProperties::default())]);
    let expected = of_server(Why::PropertiesOfEndpoints);
    assert_eq!(refusal(&orb, &rt, &properties), expected);
    adapter(&orb, &rt, "iiop", &with(vec![Protocol::IIOP]));
}

#[test]
fn errors_of_plain_adapters_are_passed_on() {
    let (orb, rt) = server();
    adapter(&orb, &rt, "twice", &declared(1));
    let root = orb.root_poa();
    let refused = rt.create_poa(&root, "twice", None, Policies::default(), &declared(1));
    let expected = RtPoaError::Poa(PoaError::AdapterAlreadyExists);
    assert_eq!(refused.unwrap_err(), expected);
}

#[test]
fn refusals_are_sentences() {
    let (orb, rt) = server();
    let refused = rt.create_poa(
        &orb.root_poa(),
        "refused",
        None,
        Policies::default(),
        &declared(-1),
    );
    assert_eq!(
        refused.unwrap_err().to_string(),
        "PriorityModelPolicy: a priority is not from 0 to 32767"
    );
}
