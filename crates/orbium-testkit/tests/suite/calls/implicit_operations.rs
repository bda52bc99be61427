// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations that every object has.

use std::collections::HashSet;

use orbium::giop::{ReplyStatus, SystemException, SystemExceptionBody};
use orbium::{Completion, ExceptionKind, Interface, ObjectRef, reference::NarrowError};
use orbium_cdr::CdrReader;
use orbium_testkit::kitchen;
use orbium_testkit::probe::Target;
use orbium_testkit::{Peer, RequestLine, Served, client, each_strategy, request};

/// Conformance: ORB - `_is_a`, `_non_existent`, `_repository_id`, narrow
#[test]
fn an_object_is_of_its_interface_and_of_object() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let client = client();
        let url = format!("corbaloc::127.0.0.1:{}/Target", served.port());
        let object = client.string_to_object(&url).unwrap().unwrap();
        for object in [&object, served.target.as_object()] {
            assert_eq!(object.is_a(Target::REPOSITORY_ID), Ok(true));
            assert_eq!(object.is_a(ObjectRef::REPOSITORY_ID), Ok(true));
            assert_eq!(object.is_a("IDL:Nothing:1.0"), Ok(false));
            assert_eq!(object.non_existent(), Ok(false));
            assert_eq!(object.repository_id().unwrap(), Target::REPOSITORY_ID);
            assert!(object.narrow::<Target>().is_ok());
            let wrong = object.narrow::<kitchen::Peer>();
            assert_eq!(wrong, Err(NarrowError::WrongType));
        }
        served.end();
    });
}

/// Conformance: ORB - `_interface`
/// Conformance: ORB - `_domain_managers`
#[test]
fn operations_that_are_not_offered_are_refused_by_name() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let mut peer = Peer::connect(served.port());
        let no_implement = SystemException::new(ExceptionKind::NoImplement, 0, Completion::No);
        let bad_operation = SystemException::omg(ExceptionKind::BadOperation, 2, Completion::No);
        let cases = [
            (
                "_interface",
                SystemException::omg(ExceptionKind::IntfRepos, 1, Completion::No),
            ),
            ("_domain_managers", no_implement),
            ("_unheard_of", bad_operation),
            ("_get_nothing", bad_operation),
            ("unheard_of", bad_operation),
            ("", bad_operation),
            ("Noop", bad_operation),
        ];
        for (operation, expected) in cases {
            peer.send(&request(RequestLine::new(2, operation), |_| {}));
            let message = peer.receive();
            let (_, status, mut body) = message.reply();
            assert_eq!(status, ReplyStatus::SystemException, "{operation}");
            let mut reader = CdrReader::at(&mut body, 24, message.header.format());
            let raised = SystemExceptionBody::read(&mut reader).unwrap().exception();
            assert_eq!(raised, expected, "{operation}");
        }
        peer.send(&request(RequestLine::new(2, "_not_existent"), |_| {}));
        assert_eq!(
            peer.receive().reply(),
            (2, ReplyStatus::NoException, vec![0])
        );
        served.end();
    });
}

/// Conformance: ORB - `_component` - nil: there are no components
#[test]
fn an_object_is_no_facet_of_a_component() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (_client, remote) = served.client();
        for target in [&remote, &served.target] {
            assert_eq!(target.as_object().component(), Ok(None));
        }
        served.end();
    });
}

/// Conformance: ORB - `hash`
#[test]
fn equal_references_have_equal_hashes() {
    let served = Served::new(orbium::config::ServerStrategy::default());
    let (client, target) = served.client();
    let text = client.object_to_string(&target);
    let again = client.string_to_object(&text).unwrap().unwrap();
    for maximum in [0, 1, 6, 1023, u32::MAX] {
        let hash = again.hash_up_to(maximum);
        assert!(hash <= maximum);
        assert_eq!(hash, target.as_object().hash_up_to(maximum));
    }
    let root = served.orb.root_poa();
    let buckets: HashSet<u32> = (0..100)
        .map(|_| root.create_object_reference("IDL:X:1.0").unwrap())
        .map(|object| object.hash_up_to(1023))
        .collect();
    assert!(buckets.len() > 50, "{buckets:?}");
    served.end();
}

/// Conformance: ORB - `object_to_string`, `string_to_object`, `is_equivalent`
#[test]
fn references_compare_and_travel_as_strings() {
    let served = Served::new(orbium::config::ServerStrategy::default());
    let (client, target) = served.client();
    let text = client.object_to_string(&target);
    assert_eq!(text, served.orb.object_to_string(&served.target));
    let again = client.string_to_object(&text).unwrap().unwrap();
    assert_eq!(&again, target.as_object());
    assert!(again.is_equivalent(target.as_object()));
    let other: Target = served
        .orb
        .root_poa()
        .activate(orbium_testkit::TargetState::default())
        .unwrap();
    assert!(!again.is_equivalent(other.as_object()));
    let nil = orbium::giop::Ior::NIL.to_string();
    assert_eq!(client.string_to_object(&nil), Ok(None));
    let foreign = client.bind_key("x", &target);
    assert_eq!(
        foreign,
        Err(SystemException::new(
            ExceptionKind::BadParam,
            0,
            Completion::No
        ))
    );
    served.end();
}
