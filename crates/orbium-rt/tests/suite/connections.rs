// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections by priority: bands, private ones, marked ones, endpoints with
//! priorities; policies that exclude one another.

use crate::common;
use std::sync::Arc;

use crate::common::{
    adapter, client, client_with, on_a_thread, propagated, seen_by, server, server_with, soft,
};
use orbium_core::{
    Call, ClientStrategy, Completion, Config, ExceptionKind, Interface, Operation, Orb,
    SystemException, policy_type,
};
use orbium_giop::component::{HostPort, PolicyValue, PriorityEndpoint};
use orbium_giop::real_time::PriorityBandsValue;
use orbium_giop::{Ior, TaggedComponent};
use orbium_rt::{
    DscpMapping, PolicyType, PriorityBand, PriorityModelPolicy, Protocol, ProtocolList, RtObject,
    RtOrb, RtPolicies, TcpProtocolProperties, ThreadpoolConfig, ThreadpoolLane, ValidationError,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{TargetState, calling_by};

const LOW: PriorityBand = PriorityBand { low: 0, high: 9 };
const HIGH: PriorityBand = PriorityBand { low: 10, high: 29 };

const INV_POLICY_1: SystemException =
    SystemException::omg(ExceptionKind::InvPolicy, 1, Completion::No);

/// The client's port.
fn port(call: &Call<'_>) -> i32 {
    let peer = call.peer().map(ToString::to_string).unwrap_or_default();
    let port = peer.rsplit(':').next().and_then(|it| it.parse().ok());
    port.unwrap_or(-1)
}

/// An object with an `act` that returns by which of the client's ports the call came.
fn reports_ports(orb: &Orb, rt: &RtOrb, name: &str, policies: &RtPolicies) -> Target {
    let state = Arc::new(TargetState::default());
    state.on_act(|call, _| Ok(port(call)));
    adapter(orb, rt, name, policies).activate(state).unwrap()
}

/// Calls at some priorities, on a thread of its own.
fn at(rt: &RtOrb, target: &Target, priorities: &[i16]) -> Vec<Result<i32, SystemException>> {
    let (rt, target, priorities) = (rt.clone(), target.clone(), priorities.to_vec());
    on_a_thread(move || {
        let call = |priority: i16| {
            rt.current().set_the_priority(priority)?;
            target.act(0)
        };
        priorities.into_iter().map(call).collect()
    })
}

/// Conformance: RT 5.12 - PriorityBandedConnectionPolicy, at the client, its ORB, or published
#[test]
fn each_band_has_a_connection_of_its_own() {
    let (server_orb, server_rt) = server();
    let object = reports_ports(&server_orb, &server_rt, "a", &propagated(5));
    let (client_orb, client_rt) = client();
    let plain = seen_by(&client_orb, &server_orb, &object);
    let banded = plain.with_priority_bands(&[LOW, HIGH]).unwrap();
    let ports = at(&client_rt, &banded, &[5, 20, 0, 29, 9, 10]);
    let (low, high) = (ports[0].unwrap(), ports[1].unwrap());
    assert_ne!(low, high);
    let expected = [low, high, low, high, low, high].map(Ok);
    assert_eq!(ports, expected);
    let shared = at(&client_rt, &plain, &[5])[0].unwrap();
    assert!(shared != low && shared != high);
}

/// Conformance: RT 5.12 - PriorityBandedConnectionPolicy, at the client, its ORB, or published
#[test]
fn bands_and_priorities_go_with_every_client_strategy() {
    let (server_orb, server_rt) = server();
    let object = reports_ports(&server_orb, &server_rt, "a", &propagated(5));
    let teller: Target = adapter(&server_orb, &server_rt, "b", &propagated(5))
        .activate(common::teller())
        .unwrap();
    for strategy in ClientStrategy::ALL {
        let client_orb = Orb::new(calling_by(*strategy)).unwrap();
        let client_rt = soft().install(&client_orb).unwrap();
        let target = seen_by(&client_orb, &server_orb, &object);
        let banded = target.with_priority_bands(&[LOW, HIGH]).unwrap();
        let ports = at(&client_rt, &banded, &[5, 20, 6, 21]);
        let ports: Vec<_> = ports.into_iter().map(Result::unwrap).collect();
        assert_eq!(ports[..2], ports[2..], "{strategy}");
        assert_ne!(ports[0], ports[1], "{strategy}");
        let threads: Vec<_> = (0..4)
            .map(|thread: i16| {
                let target = seen_by(&client_orb, &server_orb, &teller);
                let rt = client_rt.clone();
                std::thread::spawn(move || {
                    for number in (0..200).map(|it| (it * 7 + thread) % 98) {
                        rt.current().set_the_priority(number).unwrap();
                        assert_eq!(target.act(0), Ok(number.into()));
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    }
}

/// Conformance: RT 5.12 - bands: a priority in no band: NO_RESOURCES 2
#[test]
fn a_priority_in_no_band_is_no_resources_2() {
    let (server_orb, server_rt) = server();
    let object = reports_ports(&server_orb, &server_rt, "a", &propagated(5));
    let (client_orb, client_rt) = client();
    let target = seen_by(&client_orb, &server_orb, &object);
    let target = target.with_priority_bands(&[LOW, HIGH]).unwrap();
    let outcomes = at(&client_rt, &target, &[30, 5]);
    let expected = SystemException::omg(ExceptionKind::NoResources, 2, Completion::No);
    assert_eq!(outcomes[0], Err(expected));
    assert!(outcomes[1].is_ok());
}

/// Conformance: RT 5.12 - PriorityBandedConnectionPolicy, at the client, its ORB, or published
#[test]
fn the_objects_priority_chooses_the_band_if_the_server_declares_it() {
    let (server_orb, server_rt) = server();
    let declared = RtPolicies {
        priority_model: Some(PriorityModelPolicy::server_declared(20)),
        ..RtPolicies::default()
    };
    let object = reports_ports(&server_orb, &server_rt, "a", &declared);
    let (client_orb, client_rt) = client();
    let plain = seen_by(&client_orb, &server_orb, &object);
    let target = plain.with_priority_bands(&[LOW, HIGH]).unwrap();
    let ports = at(&client_rt, &target, &[5, 20]);
    assert_eq!(ports[0], ports[1]);
    let outside = plain.with_priority_bands(&[LOW]).unwrap();
    let refused = at(&client_rt, &outside, &[5])[0].unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::NoResources);
}

/// Conformance: RT 5.12 - PriorityBandedConnectionPolicy, at the client, its ORB, or published
/// Conformance: TAO 39 - policies exposed in references - those of Real-time CORBA
#[test]
fn bands_of_the_reference_are_obeyed() {
    let (server_orb, server_rt) = server();
    let policies = RtPolicies {
        bands: Some(vec![LOW, HIGH]),
        ..propagated(5)
    };
    let object = reports_ports(&server_orb, &server_rt, "a", &policies);
    let (client_orb, client_rt) = client();
    let target = seen_by(&client_orb, &server_orb, &object);
    let ports = at(&client_rt, &target, &[5, 20, 6, 30]);
    assert_ne!(ports[0], ports[1]);
    assert_eq!(ports[0], ports[2]);
    assert_eq!(ports[3].unwrap_err().kind, ExceptionKind::NoResources);
}

/// Conformance: RT 5.12 - PriorityBandedConnectionPolicy, at the client, its ORB, or published
#[test]
fn bands_may_be_the_orbs() {
    let (server_orb, server_rt) = server();
    let object = reports_ports(&server_orb, &server_rt, "a", &propagated(5));
    let (client_orb, client_rt) = client_with(soft().client_bands(&[LOW, HIGH]));
    let target = seen_by(&client_orb, &server_orb, &object);
    let ports = at(&client_rt, &target, &[5, 20, 6]);
    assert_ne!(ports[0], ports[1]);
    assert_eq!(ports[0], ports[2]);
}

/// Conformance: RT 5.4 - these policies for a thread
#[test]
fn bands_and_private_connections_may_be_a_threads() {
    let (server_orb, server_rt) = server();
    let object = reports_ports(&server_orb, &server_rt, "a", &propagated(5));
    let (client_orb, client_rt) = client();
    let target = seen_by(&client_orb, &server_orb, &object);
    let (rt, banded) = (client_rt.clone(), target.clone());
    let ports = on_a_thread(move || {
        rt.set_thread_connections(Some(&[LOW, HIGH]), false)?;
        let call = |priority: i16| {
            rt.current().set_the_priority(priority)?;
            banded.act(0)
        };
        let ports: Result<Vec<_>, _> = [5, 20, 6, 21].into_iter().map(call).collect();
        assert_eq!(
            call(30).unwrap_err().kind,
            ExceptionKind::NoResources,
            "in no band"
        );
        let refused = rt.set_thread_connections(Some(&[]), false);
        assert_eq!(refused.unwrap_err().kind, ExceptionKind::BadParam);
        // Back to what the ORB has.
        rt.set_thread_connections(None, false)?;
        call(30)?;
        ports
    });
    let ports = ports.unwrap();
    assert_ne!(ports[0], ports[1]);
    assert_eq!(ports[0..2], ports[2..4]);
    let (rt, other) = (client_rt, seen_by(&client_orb, &server_orb, &object));
    on_a_thread(move || {
        rt.current().set_the_priority(5).unwrap();
        assert_eq!(target.act(0), other.act(0));
        rt.set_thread_connections(None, true).unwrap();
        assert_ne!(target.act(0), other.act(0));
        assert_eq!(target.act(0), target.act(0));
    });
}

/// Conformance: RT 5.12 - bands: `_bind_priority_band`; servers that do not know it serve all the
/// same
#[test]
fn a_server_that_does_not_know_bands_serves_all_the_same() {
    let served = orbium_testkit::Served::new(orbium_core::ServerStrategy::Reactive);
    served.state.on_act(|call, _| Ok(port(call)));
    let (client_orb, client_rt) = client();
    let target = served.seen_by(&client_orb);
    let target = target.with_priority_bands(&[LOW, HIGH]).unwrap();
    let ports = at(&client_rt, &target, &[5, 20, 6]);
    assert_ne!(ports[0].unwrap(), ports[1].unwrap());
    assert_eq!(ports[0], ports[2]);
}

/// Conformance: RT 5.12 - bands that the server does not serve: INV_POLICY
/// Conformance: faults - a band that the server does not serve: INV_POLICY
#[test]
fn a_band_that_the_server_does_not_serve_is_inv_policy() {
    let (server_orb, server_rt) = server();
    let lanes = [ThreadpoolLane::new(5, 1, 0)];
    let pool = server_rt.create_threadpool_with_lanes(&lanes, ThreadpoolConfig::default());
    let policies = RtPolicies {
        threadpool: Some(pool.unwrap()),
        ..propagated(5)
    };
    let object = reports_ports(&server_orb, &server_rt, "a", &policies);
    let (client_orb, client_rt) = client();
    let target = seen_by(&client_orb, &server_orb, &object);
    let target = target.with_priority_bands(&[LOW, HIGH]).unwrap();
    for _ in 0..3 {
        let outcomes = at(&client_rt, &target, &[20, 5]);
        assert_eq!(outcomes[0].unwrap_err().kind, ExceptionKind::InvPolicy);
        assert!(outcomes[1].is_ok());
    }
    server_orb.shutdown(true).unwrap();
}

/// Conformance: RT 5.12 - bands: `_bind_priority_band`; servers that do not know it serve all the
/// same
#[test]
fn a_band_must_be_named() {
    static BIND: Operation = Operation::new("_bind_priority_band");
    let (server_orb, server_rt) = server();
    let object = reports_ports(&server_orb, &server_rt, "a", &propagated(5));
    let plain = orbium_testkit::client();
    let target = seen_by(&plain, &server_orb, &object);
    let refused: Result<(), SystemException> = target.as_object().call(&BIND, |_| {}, |_| Ok(()));
    assert_eq!(refused.unwrap_err().kind, ExceptionKind::BadParam);
    // Without real-time policies there is no such operation.
    let object: Target = server_orb
        .root_poa()
        .activate(Arc::new(TargetState::default()))
        .unwrap();
    let target = seen_by(&plain, &server_orb, &object);
    let refused: Result<(), SystemException> = target.as_object().call(&BIND, |_| {}, |_| Ok(()));
    assert_eq!(refused.unwrap_err().kind, ExceptionKind::BadOperation);
}

/// Conformance: RT 5.12 - bands that are none: BAD_PARAM
#[test]
fn bands_that_are_none_are_bad_param() {
    let (orb, rt) = server();
    let object = reports_ports(&orb, &rt, "a", &propagated(5));
    let upside_down = PriorityBand { low: 2, high: 1 };
    for bands in [&[][..], &[LOW, upside_down]] {
        let refused = object.with_priority_bands(bands).err().unwrap();
        assert_eq!(refused.kind, ExceptionKind::BadParam);
    }
}

/// Conformance: RT 5.13 - PrivateConnectionPolicy
#[test]
fn a_private_connection_is_one_references_own() {
    let (server_orb, server_rt) = server();
    let object = reports_ports(&server_orb, &server_rt, "a", &RtPolicies::default());
    let (client_orb, _) = client();
    let shared = seen_by(&client_orb, &server_orb, &object);
    let other = seen_by(&client_orb, &server_orb, &object);
    assert_eq!(shared.act(0), other.act(0));
    let first = shared.with_private_connection();
    let second = shared.with_private_connection();
    let ports = [&first, &second, &shared].map(|it| it.act(0).unwrap());
    assert!(ports[0] != ports[1] && ports[0] != ports[2] && ports[1] != ports[2]);
    for _ in 0..3 {
        assert_eq!(first.act(0), Ok(ports[0]));
    }
    let (client_orb, _) = client_with(soft().private_connections());
    let of_orb = [0, 1].map(|_| seen_by(&client_orb, &server_orb, &object));
    assert_ne!(of_orb[0].act(0), of_orb[1].act(0));
}

/// Conformance: RT 5.14 - `_validate_connection`; both sides have what one may: INV_POLICY 1, and
/// the list
#[test]
fn validation_makes_the_connection() {
    let (server_orb, server_rt) = server();
    let object = reports_ports(&server_orb, &server_rt, "a", &propagated(5));
    let (client_orb, client_rt) = client();
    let target = seen_by(&client_orb, &server_orb, &object);
    let target = target.with_priority_bands(&[LOW, HIGH]).unwrap();
    on_a_thread(move || {
        client_rt.current().set_the_priority(20).unwrap();
        assert_eq!(target.validate_connection(), Ok(()));
        assert_eq!(target.validate_connection(), Ok(()));
        client_rt.current().set_the_priority(40).unwrap();
        let refused = target.validate_connection();
        assert!(
            matches!(refused, Err(ValidationError::System(it)) if it.kind == ExceptionKind::NoResources),
            "{refused:?}"
        );
    });
    server_orb.shutdown(true).unwrap();
    let gone = seen_by(&orbium_testkit::client(), &server_orb, &object);
    let refused = gone.with_private_connection().validate_connection();
    assert!(
        matches!(refused, Err(ValidationError::System(it)) if it.kind == ExceptionKind::Transient),
        "{refused:?}"
    );
}

/// Conformance: RT 5.14 - `_validate_connection`; both sides have what one may: INV_POLICY 1, and
/// the list
#[test]
fn policies_of_both_sides_are_listed_and_inv_policy() {
    const BANDS: u32 = PolicyType::PriorityBandedConnection as u32;
    let (server_orb, server_rt) = server();
    let policies = RtPolicies {
        bands: Some(vec![LOW, HIGH]),
        client_protocols: Some(ProtocolList(vec![Protocol::IIOP])),
        ..propagated(5)
    };
    let object = reports_ports(&server_orb, &server_rt, "a", &policies);
    let (client_orb, client_rt) = client();
    let plain = seen_by(&client_orb, &server_orb, &object);
    let iiop = ProtocolList(vec![Protocol::IIOP]);
    let banded = plain.with_priority_bands(&[LOW]).unwrap();
    let protocols = plain.with_client_protocols(&iiop);
    let both = banded.with_client_protocols(&iiop);
    for (target, expected) in [
        (&banded, vec![BANDS]),
        (&protocols, vec![policy_type::CLIENT_PROTOCOL]),
        (&both, vec![policy_type::CLIENT_PROTOCOL, BANDS]),
    ] {
        assert_eq!(
            target.validate_connection(),
            Err(ValidationError::Inconsistent(expected))
        );
        assert_eq!(at(&client_rt, target, &[5]), [Err(INV_POLICY_1)]);
    }
    assert!(at(&client_rt, &plain, &[5])[0].is_ok());
}

/// Conformance: RT 5.15 - ClientProtocolPolicy, ServerProtocolPolicy, TCPProtocolProperties
/// Conformance: TAO 39 - policies exposed in references - those of Real-time CORBA
#[test]
fn protocols_of_the_reference_are_obeyed() {
    let directory = std::env::temp_dir().join(format!("orbium-rt-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("socket");
    let mut config = Config::default();
    let endpoint = format!("uiop://{}", path.display());
    config.endpoints.push(endpoint.parse().unwrap());
    let (server_orb, server_rt) = server_with(config, soft());
    let with = |protocols: Vec<Protocol>| RtPolicies {
        client_protocols: Some(ProtocolList(protocols)),
        ..propagated(5)
    };
    let (client_orb, client_rt) = client();
    let scheme = |name: &str, policies: &RtPolicies| {
        let object = reports_ports(&server_orb, &server_rt, name, policies);
        let target = seen_by(&client_orb, &server_orb, &object);
        at(&client_rt, &target, &[5])[0].unwrap();
        target.as_object().channel().unwrap().scheme
    };
    // Unix sockets are nearer.
    assert_eq!(scheme("none", &propagated(5)), "uiop");
    assert_eq!(
        scheme("iiop", &with(vec![Protocol::IIOP, Protocol::UIOP])),
        "iiop"
    );
    assert_eq!(scheme("uiop", &with(vec![Protocol::UIOP])), "uiop");
    // And those of the server.
    let uiop_only = RtPolicies {
        server_protocols: Some(ProtocolList(vec![Protocol::UIOP])),
        ..propagated(5)
    };
    let object = reports_ports(&server_orb, &server_rt, "server", &uiop_only);
    let target = seen_by(&client_orb, &server_orb, &object);
    let over_iiop = target.with_client_protocols(&ProtocolList(vec![Protocol::IIOP]));
    let refused = at(&client_rt, &over_iiop, &[5])[0].unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::InvPolicy);
    server_orb.shutdown(true).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Conformance: RT 5.15 - ClientProtocolPolicy, ServerProtocolPolicy, TCPProtocolProperties
#[test]
fn transport_properties_have_connections_of_their_own() {
    let (server_orb, server_rt) = server();
    let object = reports_ports(&server_orb, &server_rt, "a", &RtPolicies::default());
    let (client_orb, _) = client();
    let plain = seen_by(&client_orb, &server_orb, &object);
    let tcp = TcpProtocolProperties {
        send_buffer_size: 32 << 10,
        no_delay: false,
        ..TcpProtocolProperties::default()
    };
    let own = plain.with_client_protocols(&ProtocolList(vec![Protocol::tcp(tcp)]));
    let same = plain.with_client_protocols(&ProtocolList(vec![Protocol::tcp(tcp)]));
    assert_ne!(own.act(0), plain.act(0));
    assert_eq!(own.act(0), same.act(0));
}

/// Conformance: RT - network priority
#[test]
fn requests_of_different_marks_do_not_share_connections() {
    let (server_orb, server_rt) = server_with(Config::default(), RtOrb::builder().soft());
    let object = reports_ports(&server_orb, &server_rt, "a", &propagated(5));
    let linear = || RtOrb::builder().soft().network_priorities(DscpMapping);
    let (client_orb, client_rt) = client_with(linear());
    let target = seen_by(&client_orb, &server_orb, &object);
    let ports = at(&client_rt, &target, &[0, 4095, 4096, 32767, 1]);
    let ports: Vec<_> = ports.into_iter().map(Result::unwrap).collect();
    assert_eq!(ports[0], ports[1]);
    assert_eq!(ports[0], ports[4]);
    assert!(ports[0] != ports[2] && ports[2] != ports[3] && ports[0] != ports[3]);
}

/// A reference with a component of TAO's that names lanes.
fn with_lanes(object: &Target, lanes: &[(u16, i16)], policies: &[PolicyValue]) -> Ior {
    let endpoints: Vec<_> = lanes
        .iter()
        .map(|(port, priority)| PriorityEndpoint {
            address: HostPort {
                host: "127.0.0.1".into(),
                port: *port,
            },
            priority: *priority,
        })
        .collect();
    let profile = object.as_object().ior().iiop_profiles().next().unwrap();
    let mut components = profile.components.clone();
    components.push(TaggedComponent::tao_endpoints(&endpoints));
    if !policies.is_empty() {
        components.push(TaggedComponent::policies(policies));
    }
    orbium_testkit::reference(2, &[lanes[0].0], &profile.object_key, &components)
}

/// Conformance: RT - an endpoint for each lane, read at its priority - as a client, of TAO's
/// references too
#[test]
fn endpoints_with_priorities_are_chosen_by_them() {
    let mut config = Config::default();
    config.endpoints.push("iiop://127.0.0.1:0".parse().unwrap());
    config.endpoints.push("iiop://127.0.0.1:0".parse().unwrap());
    let (server_orb, server_rt) = server_with(config, soft());
    let object = adapter(&server_orb, &server_rt, "a", &propagated(5))
        .activate::<Target, _>(Arc::new(TargetState::default()))
        .unwrap();
    let ports: Vec<_> = server_orb.addresses().unwrap();
    let lanes = [(ports[0].port, 5), (ports[1].port, 20), (ports[2].port, 60)];
    let (client_orb, client_rt) = client();
    let ior = with_lanes(&object, &lanes, &[]);
    let target = orbium_testkit::reach(&client_orb, &ior.to_string());
    for (priority, lane) in [(5, 0), (20, 1), (60, 2), (59, 1), (98, 2), (0, 0)] {
        let (rt, target, port) = (client_rt.clone(), target.clone(), lanes[lane].0);
        on_a_thread(move || {
            rt.current().set_the_priority(priority).unwrap();
            target.noop().unwrap();
            let channel = target.as_object().channel().unwrap();
            assert!(
                channel.address.ends_with(&format!(":{port}")),
                "{priority}: {channel}"
            );
        });
    }
    // A band keeps to its lanes.
    let bands = PriorityBandsValue(vec![LOW, HIGH]).to_policy();
    let ior = with_lanes(&object, &lanes, &[bands]);
    let banded = orbium_testkit::reach(&client_orb, &ior.to_string());
    let expected = lanes[1].0;
    on_a_thread(move || {
        client_rt.current().set_the_priority(12).unwrap();
        banded.noop().unwrap();
        let channel = banded.as_object().channel().unwrap();
        assert!(
            channel.address.ends_with(&format!(":{expected}")),
            "{channel}"
        );
    });
}
