// SPDX-License-Identifier: MIT OR Apache-2.0
//! Priorities of requests, and the policies of Real-time CORBA in references.

use crate::octets::{Chance, octets};
use orbium_cdr::{ByteOrder, CdrErrorKind};
use orbium_giop::component::{self, HostPort, PolicyValue, PriorityEndpoint};
use orbium_giop::real_time::{
    ClientProtocolsValue, ExposedProperties, ExposedProtocol, ExposedTcp, PriorityBand,
    PriorityBandsValue, PriorityModel, PriorityModelValue, PublishedPolicies, priority_context,
    priority_range_context, read_priority_context, read_priority_range_context,
};
use orbium_giop::{Component, TaggedComponent, profile};

const TCP: ExposedTcp = ExposedTcp {
    send_buffer_size: 0x1_0000,
    recv_buffer_size: -1,
    keep_alive: true,
    dont_route: false,
    no_delay: true,
};

fn model() -> PriorityModelValue {
    PriorityModelValue {
        model: PriorityModel::ServerDeclared,
        server_priority: 0x0102,
    }
}

fn bands() -> PriorityBandsValue {
    PriorityBandsValue(vec![
        PriorityBand { low: 0, high: 9 },
        PriorityBand {
            low: 10,
            high: i16::MAX,
        },
    ])
}

fn protocols() -> ClientProtocolsValue {
    let of = |protocol_type, transport| ExposedProtocol {
        protocol_type,
        transport,
    };
    ClientProtocolsValue(vec![
        of(
            profile::TAG_TAO_UIOP,
            ExposedProperties::Unix {
                send_buffer_size: 1,
                recv_buffer_size: 2,
            },
        ),
        of(profile::TAG_INTERNET_IOP, ExposedProperties::Tcp(TCP)),
        of(
            profile::TAG_TAO_DIOP,
            ExposedProperties::Datagram {
                enable_network_priority: true,
            },
        ),
        of(profile::TAG_ORBIUM_IOP, ExposedProperties::None),
    ])
}

/// Conformance: RT 5.7, 5.12 - service contexts RTCorbaPriority, RTCorbaPriorityRange
#[test]
fn the_priority_of_a_request_is_four_octets() {
    let big = octets("00 00 01 02");
    let little = octets("01 00 02 01");
    for data in [&big, &little] {
        assert_eq!(read_priority_context(data), Ok(0x0102));
    }
    let own = priority_context(0x0102);
    let expected = match ByteOrder::NATIVE {
        ByteOrder::Big => big,
        ByteOrder::Little => little,
    };
    assert_eq!(own, *expected);
    for priority in [0, 1, 255, 256, i16::MAX, -1, i16::MIN] {
        let data = priority_context(priority);
        assert_eq!(read_priority_context(&data), Ok(priority));
        for end in 0..data.len() {
            let error = read_priority_context(&data[..end]).unwrap_err();
            assert_eq!(error.kind, CdrErrorKind::Truncated);
        }
    }
    // Later versions may add members.
    assert_eq!(read_priority_context(&octets("00 ff 00 07 09")), Ok(7));
}

/// Conformance: RT 5.7, 5.12 - service contexts RTCorbaPriority, RTCorbaPriorityRange
#[test]
fn the_range_of_a_connection_is_six_octets() {
    let band = PriorityBand {
        low: 10,
        high: 0x1234,
    };
    assert_eq!(
        read_priority_range_context(&octets("00 00 00 0a 12 34")),
        Ok(band)
    );
    assert_eq!(
        read_priority_range_context(&octets("01 00 0a 00 34 12")),
        Ok(band)
    );
    let data = priority_range_context(band);
    assert_eq!(read_priority_range_context(&data), Ok(band));
    for end in 0..data.len() {
        assert!(read_priority_range_context(&data[..end]).is_err());
    }
}

/// Conformance: RT 5.7, 5.12, 5.15 - policies 40, 43, 45 in references; TAO's endpoints with
/// priorities
#[test]
fn the_policies_are_encapsulations() {
    // Flag, three octets of gap, model, priority.
    let value = PriorityModelValue::decode(&octets("00 000000 00000001 0102"));
    assert_eq!(value, Ok(model()));
    let value = PriorityBandsValue::decode(&octets("00 000000 00000002 0000 0009 000a 7fff"));
    assert_eq!(value, Ok(bands()));
    let value = ClientProtocolsValue::decode(&octets(
        "00 000000 00000001 00000000 00010000 ffffffff 01 00 01",
    ));
    let tcp = ExposedProtocol {
        protocol_type: 0,
        transport: ExposedProperties::Tcp(TCP),
    };
    assert_eq!(value, Ok(ClientProtocolsValue(vec![tcp])));
}

/// Conformance: RT 5.7, 5.12, 5.15 - policies 40, 43, 45 in references; TAO's endpoints with
/// priorities
#[test]
fn published_policies_are_read_back() {
    let policies = [
        PolicyValue {
            kind: 0x5454,
            data: vec![1, 2, 3],
        },
        model().to_policy(),
        protocols().to_policy(),
        bands().to_policy(),
    ];
    let components = [
        TaggedComponent::orb_type(1),
        TaggedComponent::policies(&policies),
    ];
    let expected = PublishedPolicies {
        priority_model: Some(model()),
        bands: Some(bands()),
        has_client_protocols: true,
        client_protocols: Some(protocols()),
    };
    assert_eq!(PublishedPolicies::find(&components), expected);
    assert!(!expected.is_client_propagated());
    assert_eq!(
        PublishedPolicies::find(&components[..1]),
        PublishedPolicies::default()
    );
}

#[test]
fn policies_are_shown_for_people() {
    let shown = |policy| {
        let component = TaggedComponent::policies(&[policy]);
        Component::parse(&component).unwrap().to_string()
    };
    assert_eq!(shown(model().to_policy()), "SERVER_DECLARED priority 258");
    assert_eq!(shown(bands().to_policy()), "bands 0 to 9, 10 to 32767");
    let strange = PolicyValue {
        kind: 40,
        data: vec![0, 7],
    };
    assert_eq!(shown(strange), "type 40 value 0007");
}

#[test]
fn a_malformed_policy_is_none() {
    let cut = |policy: PolicyValue| PolicyValue {
        data: policy.data[..policy.data.len() - 1].to_vec(),
        ..policy
    };
    let policies = [
        cut(model().to_policy()),
        cut(bands().to_policy()),
        cut(protocols().to_policy()),
    ];
    let found = PublishedPolicies::find(&[TaggedComponent::policies(&policies)]);
    let expected = PublishedPolicies {
        // That there is one is known.
        has_client_protocols: true,
        ..PublishedPolicies::default()
    };
    // The last protocol has no properties, so one octet less cuts its tag.
    assert_eq!(found, expected);
    let unknown_model = octets("00 000000 00000002 0001");
    assert_eq!(
        PriorityModelValue::decode(&unknown_model).map_err(|error| error.kind),
        Err(CdrErrorKind::BadEnumerator)
    );
    let unknown_protocol = octets("00 000000 00000001 0badcafe");
    assert_eq!(
        ClientProtocolsValue::decode(&unknown_protocol).map_err(|error| error.kind),
        Err(CdrErrorKind::NotSupported)
    );
}

#[test]
fn counts_are_not_believed() {
    for count in ["ffffffff", "7fffffff", "00010000"] {
        let data = octets(&format!("00 000000 {count} 0001 0002"));
        assert_eq!(
            PriorityBandsValue::decode(&data).map_err(|error| error.kind),
            Err(CdrErrorKind::CountTooLarge)
        );
        assert_eq!(
            ClientProtocolsValue::decode(&data).map_err(|error| error.kind),
            Err(CdrErrorKind::CountTooLarge)
        );
    }
    let many = PriorityBandsValue(vec![PriorityBand { low: 0, high: 1 }; 1025]);
    assert_eq!(
        PriorityBandsValue::decode(&many.to_policy().data).map_err(|error| error.kind),
        Err(CdrErrorKind::CountTooLarge)
    );
}

/// Conformance: RT 5.7, 5.12, 5.15 - policies 40, 43, 45 in references; TAO's endpoints with
/// priorities
#[test]
fn endpoints_with_priorities_are_as_tao_has_them() {
    let endpoints = vec![
        PriorityEndpoint {
            address: HostPort {
                host: "h".into(),
                port: 5000,
            },
            priority: 7,
        },
        PriorityEndpoint {
            address: HostPort {
                host: "::1".into(),
                port: 5001,
            },
            priority: -1,
        },
    ];
    let component = TaggedComponent::tao_endpoints(&endpoints);
    assert_eq!(component.tag, component::TAG_TAO_ENDPOINTS);
    assert_eq!(
        Component::parse(&component),
        Ok(Component::TaoEndpoints(endpoints))
    );
}

/// Conformance: RT 5.7, 5.12, 5.15 - policies 40, 43, 45 in references; TAO's endpoints with
/// priorities
#[test]
fn octets_changed_at_random_end_in_a_value_or_an_error() {
    let mut chance = Chance(0x5eed_0040);
    let policies = [
        model().to_policy(),
        bands().to_policy(),
        protocols().to_policy(),
    ];
    let whole = TaggedComponent::policies(&policies);
    for _ in 0..20_000 {
        let mut component = whole.clone();
        chance.mutate(&mut component.data);
        let found = PublishedPolicies::find(std::slice::from_ref(&component));
        let again: Vec<_> = [
            found.priority_model.map(PriorityModelValue::to_policy),
            found.bands.as_ref().map(PriorityBandsValue::to_policy),
            found
                .client_protocols
                .as_ref()
                .map(ClientProtocolsValue::to_policy),
        ]
        .into_iter()
        .flatten()
        .collect();
        // What was understood says the same when it is written again.
        let again = PublishedPolicies::find(&[TaggedComponent::policies(&again)]);
        assert_eq!(again.priority_model, found.priority_model);
        assert_eq!(again.bands, found.bands);
        assert_eq!(again.client_protocols, found.client_protocols);
        let _ = read_priority_context(&component.data);
        let _ = read_priority_range_context(&component.data);
    }
}
