// SPDX-License-Identifier: MIT OR Apache-2.0
//! The policies of Messaging for routers: their encoding, and their reconciliation.

use orbium_giop::component::TAG_POLICIES;
use orbium_giop::time::{EndTimes, UtcTime};
use orbium_giop::{TaggedComponent, real_time};
use orbium_invocation::router_policies::{
    MAX_HOPS_POLICY, PriorityRange, QUEUE_ORDER_POLICY, QueueOrder, REPLY_PRIORITY_POLICY,
    REQUEST_PRIORITY_POLICY, ROUTING_POLICY, RouterPolicies, RoutingTypeRange,
};

fn all() -> RouterPolicies {
    RouterPolicies {
        request_priority: Some(PriorityRange { min: -2, max: 9 }),
        reply_priority: Some(PriorityRange { min: 3, max: 3 }),
        routing: Some(RoutingTypeRange { min: 0, max: 2 }),
        max_hops: Some(7),
        queue_order: Some(QueueOrder::TEMPORAL | QueueOrder::DEADLINE),
    }
}

fn deadlines() -> EndTimes {
    EndTimes {
        request: Some(UtcTime(5)),
        reply: Some(UtcTime(6)),
    }
}

/// Conformance: Messaging - policies for routers - in INVOCATION_POLICIES, with deadlines
#[test]
fn policies_and_deadlines_are_read_from_the_same_data() {
    for ends in [EndTimes::default(), deadlines()] {
        for policies in [RouterPolicies::NONE, all()] {
            let data = policies.encode_behind(&ends);
            assert_eq!(EndTimes::decode(&data), Ok(ends));
            assert_eq!(RouterPolicies::decode(&data), Ok(policies));
        }
    }
    let alone = RouterPolicies::NONE.encode_behind(&deadlines());
    assert_eq!(alone, deadlines().encode().as_slice());
}

/// Written by hand, most significant octet first.
#[test]
fn the_other_byte_order_is_understood() {
    let mut data = vec![0, 0, 0, 0, 0, 0, 0, 2];
    data.extend([0, 0, 0, 25, 0, 0, 0, 6, 0, 0, 0xFF, 0xFE, 0, 9, 0, 0]);
    data.extend([0, 0, 0, 35, 0, 0, 0, 4, 0, 0, 0, 10]);
    let policies = RouterPolicies {
        request_priority: all().request_priority,
        queue_order: all().queue_order,
        ..RouterPolicies::NONE
    };
    assert_eq!(RouterPolicies::decode(&data), Ok(policies));
}

/// Conformance: Messaging - policies for routers - malformed data is refused
#[test]
fn data_that_ends_early_is_refused() {
    let data = all().encode_behind(&deadlines());
    for cut in 0..data.len() {
        assert!(RouterPolicies::decode(&data[..cut]).is_err(), "{cut}");
    }
    let mut count = data.to_vec();
    count[4..8].copy_from_slice(&u32::MAX.to_ne_bytes());
    assert!(RouterPolicies::decode(&count).is_err());
    let mut length = data.to_vec();
    length[12..16].copy_from_slice(&u32::MAX.to_ne_bytes());
    assert!(RouterPolicies::decode(&length).is_err());
    // A value too short for its type.
    let mut short = vec![0, 0, 0, 0, 0, 0, 0, 1];
    short.extend([0, 0, 0, 33, 0, 0, 0, 3, 0, 0, 0]);
    assert!(RouterPolicies::decode(&short).is_err());
}

/// Conformance: Messaging - policies for routers - ranges and orders of client and reference intersect
#[test]
fn two_sides_have_what_both_allow() {
    let own = all();
    assert_eq!(own.reconcile(RouterPolicies::NONE), own);
    let none = RouterPolicies::NONE;
    assert_eq!(none.reconcile(all()), none);
    let published = RouterPolicies {
        request_priority: Some(PriorityRange { min: 0, max: 20 }),
        reply_priority: Some(PriorityRange { min: 4, max: 5 }),
        routing: Some(RoutingTypeRange { min: 1, max: 2 }),
        max_hops: None,
        queue_order: Some(QueueOrder::PRIORITY),
    };
    let both = own.reconcile(published);
    assert_eq!(
        both.request_priority,
        Some(PriorityRange { min: 0, max: 9 })
    );
    assert_eq!(both.max_hops, Some(7));
    let wrong: Vec<u32> = both.unsatisfiable().collect();
    let expected = [REPLY_PRIORITY_POLICY, ROUTING_POLICY, QUEUE_ORDER_POLICY];
    assert_eq!(wrong, expected);
    assert_eq!(own.unsatisfiable().next(), None);
    let any = QueueOrder::ANY;
    assert_eq!(any.intersect(QueueOrder::DEADLINE), QueueOrder::DEADLINE);
    assert_eq!(QueueOrder::DEADLINE.intersect(any), QueueOrder::DEADLINE);
}

#[test]
fn ranges_without_a_value_and_unknown_orders_satisfy_nothing() {
    let empty = Some(PriorityRange { min: 1, max: 0 });
    let policies = RouterPolicies {
        request_priority: empty,
        reply_priority: empty,
        routing: Some(RoutingTypeRange { min: 0, max: -1 }),
        max_hops: Some(0),
        queue_order: Some(QueueOrder(16)),
    };
    let wrong: Vec<u32> = policies.unsatisfiable().collect();
    assert_eq!(
        wrong,
        [
            REQUEST_PRIORITY_POLICY,
            REPLY_PRIORITY_POLICY,
            ROUTING_POLICY,
            QUEUE_ORDER_POLICY
        ]
    );
    assert!(!wrong.contains(&MAX_HOPS_POLICY));
}

/// Conformance: Messaging - policies for routers - published by references (TAG_POLICIES)
#[test]
fn references_publish_them_with_others() {
    let bands = real_time::PriorityBandsValue(vec![real_time::PriorityBand { low: 1, high: 2 }]);
    let mut components = vec![TaggedComponent::policies(&[bands.to_policy()])];
    RouterPolicies::NONE.publish_in(&mut components);
    assert_eq!(RouterPolicies::find(&components), RouterPolicies::NONE);
    all().publish_in(&mut components);
    let tags: Vec<u32> = components.iter().map(|it| it.tag).collect();
    assert_eq!(tags, [TAG_POLICIES]);
    assert_eq!(RouterPolicies::find(&components), all());
    let others = real_time::PublishedPolicies::find(&components);
    assert_eq!(others.bands, Some(bands));
}
