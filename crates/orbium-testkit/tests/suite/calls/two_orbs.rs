// SPDX-License-Identifier: MIT OR Apache-2.0
//! ORBs side by side know nothing of each other.

use orbium::{Completion, Config, ExceptionKind, SystemException, config::ServerStrategy};
use orbium_testkit::{Served, each_strategy, within};

/// Conformance: ORB - several ORBs in a process
#[test]
fn the_end_of_one_is_not_the_end_of_the_other() {
    each_strategy(|strategy| {
        let (a, b) = (Served::new(strategy), Served::new(strategy));
        assert_ne!(a.port(), b.port());
        let (_client, in_b) = b.client();
        in_b.noop().unwrap();
        a.end();
        assert_eq!(in_b.echo_long(1), Ok(1));
        b.end();
    });
}

/// Conformance: ORB - several ORBs in a process
#[test]
fn one_may_be_ended_from_within_a_request_to_the_other() {
    each_strategy(|strategy| {
        let (a, b) = (Served::new(strategy), Served::new(strategy));
        let other = b.orb.clone();
        a.state.on_act(move |_, v| other.shutdown(true).map(|()| v));
        let (_client, target) = a.client();
        assert_eq!(within("the call", move || target.act(2)), Ok(2));
        assert!(b.orb.addresses().is_err());
        a.end();
    });
}

/// A collocated call of one ORB from a servant of another: its servant waited for its own end.
#[test]
fn neither_of_two_orbs_on_a_stack_waits_for_itself() {
    each_strategy(|strategy| {
        let (a, b) = (Served::new(strategy), Served::new(strategy));
        let (outer, inner) = (a.orb.clone(), b.orb.clone());
        b.state.on_act(move |_, v| {
            let ended = if v == 0 { &outer } else { &inner };
            ended.shutdown(true).map(|()| v)
        });
        let collocated = b.target.clone();
        a.state.on_act(move |_, v| collocated.act(v));
        let (_client, target) = a.client();
        for of_inner in [0, 1] {
            let target = target.clone();
            let ended = within("the call", move || target.act(of_inner)).unwrap_err();
            let kind = ExceptionKind::BadInvOrder;
            assert_eq!(ended, SystemException::omg(kind, 3, Completion::No));
        }
        b.end();
        a.end();
    });
}

/// Conformance: ORB - several ORBs in a process
/// Conformance: TAO 36 - several ORBs of different configuration in a process
#[test]
fn strategies_and_limits_are_each_their_own() {
    let threads = Served::new(ServerStrategy::ThreadPerConnection);
    let reactive = Served::with(Config {
        strategy: ServerStrategy::Reactive,
        fragment_size: Some(100),
        ..Config::default()
    });
    let octets = vec![3; 10_000];
    let there = reactive.seen_by(&threads.orb);
    let back = threads.seen_by(&reactive.orb);
    assert_eq!(there.echo_octets(&octets).unwrap(), octets);
    assert_eq!(back.echo_octets(&octets).unwrap(), octets);
    assert_eq!(there.nest(Some(&threads.target), 6), Ok(6));
    threads.end();
    reactive.end();
}
