// SPDX-License-Identifier: MIT OR Apache-2.0
//! References that follow the scopes of their `Qos`.

use std::time::Duration;

use orbium_core::{ExceptionKind, Interface, Priority};
use orbium_qos::{CommunicationClass, Qos, QosError, QosScopes};

use crate::{connections, served};

fn priority(number: i16) -> Qos {
    Qos {
        priority: Priority::new(number),
        ..Qos::NONE
    }
}

/// `bind` took a snapshot, and no reference had a scope of the call.
///
/// Conformance: RT - one QoS value: fields, scopes, what makes no sense together
#[test]
fn a_scoped_reference_reads_its_scopes_for_each_call() {
    let (served, _, _) = served();
    served
        .state
        .on_act(|call, _| Ok(call.priority().map_or(-1, |it| it.number().into())));
    let (_client, target) = served.client();
    let scopes = QosScopes::new(priority(1));
    let bound = scopes.bind(&target, &Qos::NONE).unwrap();
    let follows = scopes.follow(&target, &Qos::NONE);
    let act = |call: &Qos| follows.for_call(call).unwrap().act(0).unwrap();
    assert_eq!(act(&Qos::NONE), 1);
    scopes.set_orb(priority(2));
    assert_eq!(act(&Qos::NONE), 2);
    scopes.set_thread(priority(3));
    assert_eq!(act(&Qos::NONE), 3);
    assert_eq!(act(&priority(4)), 4);
    // It was that of one call, and of this thread.
    assert_eq!(follows.now().unwrap().act(0), Ok(3));
    let elsewhere = std::thread::scope(|scope| scope.spawn(|| act(&Qos::NONE)).join());
    assert_eq!(elsewhere.unwrap(), 2);
    assert_eq!(follows.in_force(), Ok(priority(3)));
    // The reference goes before the thread.
    let own = scopes.follow(&target, &priority(5));
    assert_eq!(own.now().unwrap().act(0), Ok(5));
    assert_eq!(bound.act(0), Ok(1), "bind reads the scopes once");
    // All of them share the connection of the plain reference.
    assert_eq!(target.noop(), Ok(()));
    assert_eq!(connections(&served.orb), 1);
    served.end();
}

#[test]
fn a_deadline_of_the_call_ends_that_call() {
    let (served, _, _) = served();
    let (_client, target) = served.client();
    let scopes = QosScopes::new(Qos {
        deadline: Some(Duration::from_secs(60)),
        ..Qos::NONE
    });
    let follows = scopes.follow(&target, &Qos::NONE);
    let short = Qos {
        deadline: Some(Duration::from_millis(20)),
        ..Qos::NONE
    };
    let ended = follows.for_call(&short).unwrap().gate();
    assert_eq!(ended.unwrap_err().kind, ExceptionKind::Timeout);
    served.state.gate.open();
    assert_eq!(follows.now().unwrap().gate(), Ok(()));
    served.end();
}

/// Connections of a class belong to a reference: an unchanged value uses the same one again, and
/// references of old values do not accumulate.
#[test]
fn references_are_cached_by_value_and_bounded() {
    let (served, _, _) = served();
    let (_client, target) = served.client();
    let burst = Qos {
        class: Some(CommunicationClass::Burst),
        ..Qos::NONE
    };
    let scopes = QosScopes::new(burst);
    let follows = scopes.follow(&target, &Qos::NONE);
    let first = follows.now().unwrap();
    for _ in 0..20 {
        let again = follows.now().unwrap();
        assert!(again.as_object().has_private_connections());
        assert_eq!(again.noop(), Ok(()));
    }
    assert_eq!(first.noop(), Ok(()));
    assert_eq!(connections(&served.orb), 1);
    drop(first);
    for number in 0..100 {
        follows.for_call(&priority(number)).unwrap().noop().unwrap();
    }
    orbium_testkit::eventually("connections of old values end", || {
        connections(&served.orb) <= 8
    });
    served.end();
}

#[test]
fn scopes_that_contradict_each_other_are_refused_for_each_call() {
    let (served, _, _) = served();
    let (_client, target) = served.client();
    let scopes = QosScopes::default();
    let follows = scopes.follow(&target, &Qos::NONE);
    assert_eq!(follows.now().unwrap().noop(), Ok(()));
    scopes.set_orb(Qos {
        class: Some(CommunicationClass::MessageStream),
        ..Qos::NONE
    });
    let refused = follows.now().map(drop);
    assert_eq!(refused, Err(QosError::StreamWithoutPeriod));
    scopes.set_orb(Qos::NONE);
    assert_eq!(follows.now().unwrap().noop(), Ok(()));
    served.end();
}
