// SPDX-License-Identifier: MIT OR Apache-2.0
//! BidirectionalPolicy of adapters and of references.

use orbium::interceptor::Policy;
use orbium::{
    Completion, Config, ExceptionKind, Interface, SystemException,
    config::BidirectionalPolicy,
    poa::{PoaError, Policies},
    policy::{SetOverride, policy_type},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{Served, each_strategy, reach, within};

use crate::common::{both, seen_by, unreachable, with};

fn normal() -> Config {
    Config {
        bidirectional: BidirectionalPolicy::Normal,
        ..Config::default()
    }
}

/// An object with the servant of `served`, in an adapter with that policy.
fn in_adapter(served: &Served, name: &str, bidirectional: BidirectionalPolicy) -> Target {
    let policies = Policies {
        bidirectional: Some(bidirectional),
        ..Policies::default()
    };
    let root = served.orb.root_poa();
    let adapter = root.create_poa(name, Some(root.manager()), policies);
    let adapter = adapter.unwrap();
    adapter.activate(served.state.clone()).unwrap()
}

/// What a call-back of the server to that object of the client results in.
fn called_back(server: &Served, client: &Served, object: &Target) -> Result<i32, SystemException> {
    let back = reach(&server.orb, &client.orb.object_to_string(object));
    within("a call-back", move || back.echo_long(7))
}

/// Conformance: connections - bidirectional GIOP: BidirectionalPolicy of adapters, of the side that
/// opened the connection
#[test]
fn objects_of_adapters_with_normal_are_not_called_over_connections_of_their_orb() {
    each_strategy(|strategy| {
        let (server, client) = (Served::with(with(strategy)), unreachable(with(strategy)));
        let plain = in_adapter(&client, "plain", BidirectionalPolicy::Normal);
        let open = in_adapter(&client, "open", BidirectionalPolicy::Both);
        let target = server.seen_by(&client.orb);
        assert_eq!(within("a call", move || target.echo_long(3)), Ok(3));
        let calls = client.state.calls();
        let refused = SystemException::new(ExceptionKind::InvPolicy, 0, Completion::No);
        assert_eq!(called_back(&server, &client, &plain), Err(refused));
        assert_eq!(client.state.calls(), calls);
        assert_eq!(called_back(&server, &client, &open), Ok(7));
        assert_eq!(called_back(&server, &client, &client.target), Ok(7));
        // Calls of its own ORB are no call-backs.
        assert_eq!(plain.echo_long(9), Ok(9));
        client.end();
        server.end();
    });
}

/// The client announces its address, and is not called there.
///
/// Conformance: connections - bidirectional GIOP: BidirectionalPolicy of adapters, of the side that
/// accepted the connection
#[test]
fn requests_to_adapters_with_normal_let_no_client_be_called_back() {
    each_strategy(|strategy| {
        let (server, client) = (Served::with(with(strategy)), unreachable(with(strategy)));
        let plain = in_adapter(&server, "plain", BidirectionalPolicy::Normal);
        let plain = reach(&client.orb, &server.orb.object_to_string(&plain));
        assert_eq!(within("a call", move || plain.echo_long(3)), Ok(3));
        let refused = called_back(&server, &client, &client.target).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::Transient);
        client.end();
        server.end();
    });
}

/// Conformance: connections - bidirectional GIOP: BidirectionalPolicy of references, of the side
/// that opens the connection
#[test]
fn calls_through_references_with_normal_announce_no_listen_points() {
    let (server, client) = (Served::with(both()), unreachable(both()));
    let target = server.seen_by(&client.orb);
    let by_number = [Policy::new(
        policy_type::BIDIRECTIONAL,
        BidirectionalPolicy::Normal,
    )];
    let by_number = target.with_policies(&by_number, SetOverride::Add).unwrap();
    let own = by_number.policy_overrides(&[policy_type::BIDIRECTIONAL]);
    assert_eq!(own[0].value(), Some(&BidirectionalPolicy::Normal));
    let typed = target.with_bidirectional(BidirectionalPolicy::Normal);
    for quiet in [by_number, typed] {
        assert_eq!(within("a call", move || quiet.echo_long(3)), Ok(3));
        let refused = called_back(&server, &client, &client.target).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::Transient);
    }
    let open = target.with_bidirectional(BidirectionalPolicy::Both);
    assert_eq!(within("a call", move || open.echo_long(3)), Ok(3));
    assert_eq!(called_back(&server, &client, &client.target), Ok(7));
    client.end();
    server.end();
}

/// Conformance: connections - bidirectional GIOP: BidirectionalPolicy of references, of the side
/// that accepted the connection
#[test]
fn calls_through_references_with_normal_go_over_no_connection_of_a_client() {
    let (server, client) = (Served::with(both()), unreachable(both()));
    let target = server.seen_by(&client.orb);
    assert_eq!(within("a call", move || target.echo_long(3)), Ok(3));
    let back = seen_by(&server.orb, &client);
    let quiet = back.with_bidirectional(BidirectionalPolicy::Normal);
    let refused = within("a call-back", move || quiet.noop()).unwrap_err();
    assert_eq!(refused.kind, ExceptionKind::Transient);
    assert_eq!(within("a call-back", move || back.noop()), Ok(()));
    client.end();
    server.end();
}

/// Conformance: connections - bidirectional GIOP: single adapters and references with BOTH in an
/// ORB that has NORMAL
#[test]
fn single_adapters_and_references_go_both_ways_in_an_orb_that_does_not() {
    each_strategy(|strategy| {
        let mixed = || Config {
            strategy,
            bidirectional_overrides: true,
            ..normal()
        };
        let (server, client) = (Served::with(mixed()), unreachable(mixed()));
        let open = in_adapter(&client, "open", BidirectionalPolicy::Both);
        let plain = server.seen_by(&client.orb);
        let serving = in_adapter(&server, "serving", BidirectionalPolicy::Both);
        let serving = reach(&client.orb, &server.orb.object_to_string(&serving));
        let both = |object: &Target| object.with_bidirectional(BidirectionalPolicy::Both);
        let back = |object: &Target| {
            let text = client.orb.object_to_string(object);
            let back = both(&reach(&server.orb, &text));
            within("a call-back", move || back.echo_long(7))
        };
        let refused = |object: &Target| back(object).unwrap_err().kind;
        // Neither a reference nor an adapter without the policy opens the way back.
        for target in [&plain, &serving].map(Clone::clone) {
            assert_eq!(within("a call", move || target.echo_long(3)), Ok(3));
            assert_eq!(refused(&open), ExceptionKind::Transient);
        }
        let target = both(&serving);
        assert_eq!(within("a call", move || target.echo_long(3)), Ok(3));
        assert_eq!(back(&open), Ok(7));
        // Nor is an object of another adapter called back, or by another reference.
        assert_eq!(refused(&client.target), ExceptionKind::InvPolicy);
        let quiet = called_back(&server, &client, &open).unwrap_err();
        assert_eq!(quiet.kind, ExceptionKind::Transient);
        client.end();
        server.end();
    });
}

/// Conformance: connections - bidirectional GIOP: BidirectionalPolicy BOTH where the ORB has NORMAL
#[test]
fn both_takes_an_orb_that_has_it() {
    let (server, client) = (Served::with(normal()), Served::with(normal()));
    let policies = Policies {
        bidirectional: Some(BidirectionalPolicy::Both),
        ..Policies::default()
    };
    let refused = client.orb.root_poa().create_poa("both", None, policies);
    let place = (policy_type::BIDIRECTIONAL - 16) as u16;
    assert_eq!(refused.err(), Some(PoaError::InvalidPolicy(place)));
    let target = server.seen_by(&client.orb);
    let refused = target.with_bidirectional(BidirectionalPolicy::Both).noop();
    let not_reconciled = SystemException::omg(ExceptionKind::InvPolicy, 1, Completion::No);
    assert_eq!(refused, Err(not_reconciled));
    let quiet = target.with_bidirectional(BidirectionalPolicy::Normal);
    assert_eq!(quiet.noop(), Ok(()));
    client.end();
    server.end();
}
