// SPDX-License-Identifier: MIT OR Apache-2.0
//! From servants, ids and references to each other.

use std::sync::Arc;

use orbium::poa::{IdUniqueness, PoaError, Policies, RequestProcessing, ServantRetention};
use orbium_testkit::Served;
use orbium_testkit::probe::Target;

use crate::fixture::{child, refused, servant, user};

/// Conformance: POA - IMPLICIT_ACTIVATION, `servant_to_reference`, `servant_to_id`
#[test]
fn an_inactive_servant_is_activated_implicitly_where_the_policy_says_so() {
    let served = Served::new(Default::default());
    // The root adapter does.
    let root = served.orb.root_poa();
    let (one, state) = servant();
    let reference = root.servant_to_reference(&one).unwrap();
    assert_eq!(root.servant_to_reference(&one).unwrap(), reference);
    let id = root.servant_to_id(&one).unwrap();
    assert_eq!(root.reference_to_id(&reference).unwrap(), id);
    assert!(Arc::ptr_eq(
        &root.reference_to_servant(&reference).unwrap(),
        &one
    ));
    let target: Target = orbium::Interface::from_object(reference);
    target.noop().unwrap();
    assert_eq!(state.calls(), 1);

    // MULTIPLE_ID: a new object each time.
    let policies = Policies {
        implicit_activation: true,
        id_uniqueness: IdUniqueness::Multiple,
        ..Policies::default()
    };
    let multiple = child(&served, "multiple", policies);
    let (many, _) = servant();
    let ids = [(); 2].map(|()| multiple.servant_to_id(&many).unwrap());
    assert_ne!(ids[0], ids[1]);

    // Without, it must be active.
    let explicit = child(&served, "explicit", Policies::default());
    assert_eq!(
        refused(explicit.servant_to_id(&many)),
        PoaError::ServantNotActive
    );
    assert_eq!(
        refused(explicit.servant_to_reference(&many)),
        PoaError::ServantNotActive
    );
    served.end();
}

/// Conformance: POA - WrongPolicy, ServantNotActive, ObjectNotActive, WrongAdapter of the conversions
#[test]
fn conversions_are_refused_as_the_standard_says() {
    let served = Served::new(Default::default());
    let (one, _) = servant();
    let multiple = child(&served, "multiple", user());
    let reference = multiple.activate_servant_with_id(b"1", &one).unwrap();
    assert_eq!(refused(multiple.servant_to_id(&one)), PoaError::WrongPolicy);
    assert_eq!(
        refused(multiple.servant_to_reference(&one)),
        PoaError::WrongPolicy
    );
    assert_eq!(
        refused(multiple.id_to_servant(b"2")),
        PoaError::ObjectNotActive
    );
    assert_eq!(
        refused(multiple.id_to_reference(b"2")),
        PoaError::ObjectNotActive
    );
    assert!(Arc::ptr_eq(
        &multiple.reference_to_servant(&reference).unwrap(),
        &one
    ));
    let root = served.orb.root_poa();
    assert_eq!(
        refused(root.reference_to_servant(&reference)),
        PoaError::WrongAdapter
    );
    assert_eq!(
        refused(root.reference_to_id(&reference)),
        PoaError::WrongAdapter
    );
    let early: Target = multiple.create_reference_with_id(b"2").unwrap();
    assert_eq!(
        refused(multiple.reference_to_servant(&early)),
        PoaError::ObjectNotActive
    );

    // A default servant is that of every id.
    let policies = Policies {
        servant_retention: ServantRetention::NonRetain,
        request_processing: RequestProcessing::DefaultServant,
        ..user()
    };
    let defaulting = child(&served, "defaulting", policies);
    assert_eq!(
        refused(defaulting.id_to_servant(b"2")),
        PoaError::ObjectNotActive
    );
    defaulting.set_servant(Arc::clone(&one)).unwrap();
    assert!(Arc::ptr_eq(&defaulting.id_to_servant(b"2").unwrap(), &one));
    assert_eq!(
        refused(defaulting.id_to_reference(b"2")),
        PoaError::WrongPolicy
    );
    assert_eq!(
        refused(defaulting.servant_to_id(&one)),
        PoaError::ServantNotActive
    );
    assert_eq!(
        refused(defaulting.servant_to_reference(&one)),
        PoaError::ServantNotActive
    );
    served.end();
}

/// Conformance: POA - IMPLICIT_ACTIVATION, `servant_to_reference`, `servant_to_id`
#[test]
fn within_a_request_a_servant_has_the_id_of_the_object_called() {
    let served = Served::new(Default::default());
    for defaulting in [true, false] {
        let policies = Policies {
            current: true,
            request_processing: if defaulting {
                RequestProcessing::DefaultServant
            } else {
                RequestProcessing::ActiveObjectMapOnly
            },
            ..user()
        };
        let poa = child(&served, &defaulting.to_string(), policies);
        let (one, state) = servant();
        let target: Target = if defaulting {
            poa.set_servant(Arc::clone(&one)).unwrap();
            poa.create_reference_with_id(b"here").unwrap()
        } else {
            poa.activate_servant_with_id(b"other", &one).unwrap();
            let here = poa.activate_servant_with_id(b"here", &one).unwrap();
            orbium::Interface::from_object(here)
        };
        let (adapter, servant) = (poa.clone(), Arc::downgrade(&one));
        state.on_act(move |_, v| {
            let servant = servant.upgrade().unwrap();
            let reference = adapter.servant_to_reference(&servant).unwrap();
            assert_eq!(adapter.reference_to_id(&reference).unwrap(), b"here");
            if defaulting {
                assert_eq!(adapter.servant_to_id(&servant).unwrap(), b"here");
            } else {
                // This one is allowed the reference alone.
                assert_eq!(
                    refused(adapter.servant_to_id(&servant)),
                    PoaError::WrongPolicy
                );
            }
            Ok(v)
        });
        assert_eq!(target.act(1), Ok(1));
    }
    served.end();
}
