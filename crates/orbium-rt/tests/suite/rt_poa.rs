// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects with priorities of their own.

use std::sync::Arc;

use crate::common::{adapter, seen_by, server, teller};
use orbium_core::{
    Completion, ExceptionKind, IdAssignment, Interface, PoaError, Policies, SystemException,
    servant_of,
};
use orbium_rt::{
    PriorityBand, PriorityModelPolicy, RtPoa, RtPolicies, ThreadpoolConfig, ThreadpoolLane,
};
use orbium_testkit::probe::Target;

fn declared(server_priority: i16) -> RtPolicies {
    RtPolicies {
        priority_model: Some(PriorityModelPolicy::server_declared(server_priority)),
        ..RtPolicies::default()
    }
}

/// Ids are the program's own.
fn user() -> Policies {
    Policies {
        id_assignment: IdAssignment::User,
        ..Policies::default()
    }
}

const BAD_PARAM: PoaError = PoaError::System(SystemException::new(
    ExceptionKind::BadParam,
    0,
    Completion::No,
));

const SETTLED: PoaError = PoaError::System(SystemException::omg(
    ExceptionKind::BadInvOrder,
    18,
    Completion::No,
));

/// The priority that a reference publishes.
fn published(object: &Target) -> i16 {
    let model = object.as_object().published_policies().priority_model;
    model.unwrap().server_priority
}

/// Conformance: RT 5.7.3 - `activate_object_with_priority`, `…_with_id_and_priority`
#[test]
fn an_object_has_the_priority_it_was_activated_with() {
    let (orb, rt) = server();
    let poa = adapter(&orb, &rt, "declared", &declared(5));
    let plain: Target = poa.activate(teller()).unwrap();
    let urgent: Target = poa.activate_object_with_priority(teller(), 50).unwrap();
    assert_eq!((published(&plain), published(&urgent)), (5, 50));
    let client = orbium_testkit::client();
    assert_eq!(seen_by(&client, &orb, &plain).act(0), Ok(5));
    assert_eq!(seen_by(&client, &orb, &urgent).act(0), Ok(50));
    let again = poa.id_to_reference(&poa.reference_to_id(&urgent).unwrap());
    assert_eq!(published(&Target::from_object(again.unwrap())), 50);
}

/// Conformance: RT 5.7.3 - `create_reference_with_priority`, `…_with_id_and_priority`
#[test]
fn a_reference_has_the_priority_it_was_created_with() {
    let (orb, rt) = server();
    let poa = adapter(&orb, &rt, "declared", &declared(5));
    let later: Target = poa.create_reference_with_priority(30).unwrap();
    assert_eq!(published(&later), 30);
    // A plain activation under its id is of that object.
    let id = poa.reference_to_id(&later).unwrap();
    let _: Target = poa.activate_with_id(&id, teller()).unwrap();
    let client = orbium_testkit::client();
    assert_eq!(seen_by(&client, &orb, &later).act(0), Ok(30));
}

/// Conformance: RT 5.7.3 - `create_reference_with_priority`, `…_with_id_and_priority`
#[test]
fn users_may_name_the_objects() {
    let (orb, rt) = server();
    let root = orb.root_poa();
    let manager = Some(root.manager());
    let poa = rt.create_poa(&root, "user", manager, user(), &declared(5));
    let poa = poa.unwrap();
    let object: Target = poa
        .activate_object_with_id_and_priority(b"a", teller(), 20)
        .unwrap();
    let reference: Target = poa.create_reference_with_id_and_priority(b"a", 20).unwrap();
    assert_eq!((published(&object), published(&reference)), (20, 20));
    let refused = poa.create_reference_with_priority::<Target>(20);
    assert_eq!(refused.unwrap_err(), PoaError::WrongPolicy);
    let refused = poa.activate_object_with_priority::<Target, _>(teller(), 20);
    assert_eq!(refused.unwrap_err(), PoaError::WrongPolicy);
}

/// Conformance: RT 5.7.3 - activating with a priority: another one for the same object:
/// BAD_INV_ORDER 18
#[test]
fn another_priority_for_the_same_object_is_bad_inv_order_18() {
    let (orb, rt) = server();
    let root = orb.root_poa();
    let poa = rt
        .create_poa(&root, "user", None, user(), &declared(5))
        .unwrap();
    let _: Target = poa.create_reference_with_id_and_priority(b"a", 20).unwrap();
    let refused = poa.create_reference_with_id_and_priority::<Target>(b"a", 21);
    assert_eq!(refused.unwrap_err(), SETTLED);
    let refused = poa.activate_object_with_id_and_priority::<Target, _>(b"a", teller(), 21);
    assert_eq!(refused.unwrap_err(), SETTLED);
    let _: Target = poa
        .activate_object_with_id_and_priority(b"a", teller(), 20)
        .unwrap();
    poa.deactivate(b"a").unwrap();
    let refused = poa.activate_object_with_id_and_priority::<Target, _>(b"a", teller(), 21);
    assert_eq!(refused.unwrap_err(), SETTLED);
    // An active object that was given none has the server's.
    let _: Target = poa.activate_with_id(b"b", teller()).unwrap();
    let refused = poa.create_reference_with_id_and_priority::<Target>(b"b", 21);
    assert_eq!(refused.unwrap_err(), SETTLED);
    let _: Target = poa.create_reference_with_id_and_priority(b"b", 5).unwrap();
}

/// The priority stayed, and another one was BAD_INV_ORDER 18.
///
/// Conformance: RT 5.7.3 - `activate_object_with_priority`, `…_with_id_and_priority`
#[test]
fn an_activation_that_fails_does_not_settle_the_priority() {
    let (orb, rt) = server();
    let root = orb.root_poa();
    let poa = rt
        .create_poa(&root, "user", None, user(), &declared(5))
        .unwrap();
    let active = servant_of::<Target, _>(teller());
    poa.activate_servant_with_id_and_priority(b"a", &active, 20)
        .unwrap();
    let twice = poa.activate_servant_with_id_and_priority(b"b", &active, 10);
    assert_eq!(twice.unwrap_err(), PoaError::ServantAlreadyActive);
    let b: Target = poa
        .activate_object_with_id_and_priority(b"b", teller(), 20)
        .unwrap();
    assert_eq!(published(&b), 20);
}

/// Conformance: RT 5.7.3 - `activate_object_with_priority`, `…_with_id_and_priority`
#[test]
fn objects_already_active_are_refused() {
    let (orb, rt) = server();
    let root = orb.root_poa();
    let poa = rt
        .create_poa(&root, "user", None, user(), &declared(5))
        .unwrap();
    let state = teller();
    let _: Target = poa
        .activate_object_with_id_and_priority(b"a", Arc::clone(&state), 20)
        .unwrap();
    let refused = poa.activate_object_with_id_and_priority::<Target, _>(b"a", teller(), 20);
    assert_eq!(refused.unwrap_err(), PoaError::ObjectAlreadyActive);
}

/// Conformance: RT 5.7.3 - activating with a priority: WrongPolicy unless SERVER_DECLARED
/// Conformance: faults - a priority model that an adapter does not offer: WrongPolicy
#[test]
fn the_model_must_be_server_declared() {
    let (orb, rt) = server();
    let propagated = RtPolicies {
        priority_model: Some(PriorityModelPolicy::client_propagated(5)),
        ..RtPolicies::default()
    };
    let propagated = adapter(&orb, &rt, "propagated", &propagated);
    let without = adapter(&orb, &rt, "without", &RtPolicies::default());
    for poa in [propagated, without, RtPoa::from(orb.root_poa())] {
        let refused = poa.activate_object_with_priority::<Target, _>(teller(), 5);
        assert_eq!(refused.unwrap_err(), PoaError::WrongPolicy);
        let refused = poa.create_reference_with_priority::<Target>(5);
        assert_eq!(refused.unwrap_err(), PoaError::WrongPolicy);
        let refused = poa.create_reference_with_id_and_priority::<Target>(&[0; 16], 5);
        assert_eq!(refused.unwrap_err(), PoaError::WrongPolicy);
        let refused = poa.activate_object_with_id_and_priority::<Target, _>(&[0; 16], teller(), 5);
        assert_eq!(refused.unwrap_err(), PoaError::WrongPolicy);
    }
}

/// Conformance: RT 5.7.3 - activating with a priority: out of range, no lane's, in no band:
/// BAD_PARAM
#[test]
fn a_priority_out_of_range_is_bad_param() {
    let (orb, rt) = server();
    let poa = adapter(&orb, &rt, "declared", &declared(5));
    let refused = poa.activate_object_with_priority::<Target, _>(teller(), -1);
    assert_eq!(refused.unwrap_err(), BAD_PARAM);
    // One that is not mapped.
    let refused = poa.activate_object_with_priority::<Target, _>(teller(), 99);
    let expected = SystemException::omg(ExceptionKind::DataConversion, 2, Completion::No);
    assert_eq!(refused.unwrap_err(), PoaError::System(expected));
}

/// Conformance: RT 5.7.3 - activating with a priority: out of range, no lane's, in no band:
/// BAD_PARAM
#[test]
fn a_priority_of_no_lane_is_bad_param() {
    let (orb, rt) = server();
    let lanes = [ThreadpoolLane::new(5, 1, 0), ThreadpoolLane::new(9, 1, 0)];
    let pool = rt.create_threadpool_with_lanes(&lanes, ThreadpoolConfig::default());
    let policies = RtPolicies {
        threadpool: Some(pool.unwrap()),
        ..declared(5)
    };
    let poa = adapter(&orb, &rt, "lanes", &policies);
    let refused = poa.activate_object_with_priority::<Target, _>(teller(), 7);
    assert_eq!(refused.unwrap_err(), BAD_PARAM);
    let urgent: Target = poa.activate_object_with_priority(teller(), 9).unwrap();
    let client = orbium_testkit::client();
    assert_eq!(seen_by(&client, &orb, &urgent).act(0), Ok(9));
    drop((client, urgent, poa));
    orb.shutdown(true).unwrap();
}

/// Conformance: RT 5.7.3 - activating with a priority: out of range, no lane's, in no band:
/// BAD_PARAM
#[test]
fn a_priority_in_no_band_is_bad_param() {
    let (orb, rt) = server();
    let policies = RtPolicies {
        bands: Some(vec![PriorityBand { low: 0, high: 9 }]),
        ..declared(5)
    };
    let poa = adapter(&orb, &rt, "bands", &policies);
    let refused = poa.create_reference_with_priority::<Target>(10);
    assert_eq!(refused.unwrap_err(), BAD_PARAM);
    let _: Target = poa.create_reference_with_priority(9).unwrap();
}
