// SPDX-License-Identifier: MIT OR Apache-2.0
//! `validate_connection`: policies of references, threads and ORBs that cannot be had with what
//! a reference says.

use orbium::giop::TaggedComponent;
use orbium::interceptor::Policy;
use orbium::policy::router_policies::{PriorityRange, QueueOrder, RouterPolicies};
use orbium::{
    Completion, ExceptionKind, Interface, Orb, SystemException,
    config::BidirectionalPolicy,
    policy::{SetOverride, ValidationError, policy_type},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{FakeServer, client, dead_port, reach, reference, within};

const INV_POLICY_1: SystemException =
    SystemException::omg(ExceptionKind::InvPolicy, 1, Completion::No);

/// A reference that says which requests routers take.
fn queued(orb: &Orb, server: &FakeServer) -> Target {
    let published = RouterPolicies {
        request_priority: Some(PriorityRange { min: 4, max: 10 }),
        queue_order: Some(QueueOrder::DEADLINE),
        ..RouterPolicies::NONE
    };
    let mut components = Vec::<TaggedComponent>::new();
    published.publish_in(&mut components);
    let ior = reference(2, &[server.port()], b"x", &components);
    reach(orb, &ior.to_string())
}

fn too_urgent() -> Policy {
    let range = PriorityRange { min: 11, max: 12 };
    Policy::new(policy_type::REQUEST_PRIORITY, range)
}

fn inconsistent(types: &[u32]) -> Result<(), ValidationError> {
    Err(ValidationError::Inconsistent(types.to_vec()))
}

/// Conformance: ORB - validate_connection: makes the connection of the next call, once
#[test]
fn a_valid_connection_is_that_of_the_next_call() {
    let (server, client) = (FakeServer::listen(), client());
    let target = queued(&client, &server);
    assert_eq!(target.validate_connection(), Ok(()));
    assert_eq!(target.validate_connection(), Ok(()));
    let mut peer = server.accept();
    let call = orbium_testkit::spawn(move || target.echo_long(1));
    let request = peer.expect_request("echo_long");
    peer.answer(&request, |w| w.write_u32(1));
    assert_eq!(within("the call", move || call.join().unwrap()), Ok(1));
}

/// The list of Real-time CORBA left out the types of other policies, so that the caller was
/// given INV_POLICY in place of a list.
///
/// Conformance: ORB - validate_connection: lists the inconsistent policies of references, threads and ORBs
#[test]
fn inconsistent_policies_of_every_scope_are_listed() {
    let (server, client) = (FakeServer::listen(), client());
    let target = queued(&client, &server);
    let kind = policy_type::REQUEST_PRIORITY;
    let own = [
        too_urgent(),
        Policy::new(policy_type::QUEUE_ORDER, QueueOrder::TEMPORAL),
    ];
    let of_reference = target.with_policies(&own, SetOverride::Add).unwrap();
    let both = [kind, policy_type::QUEUE_ORDER];
    assert_eq!(of_reference.validate_connection(), inconsistent(&both));
    assert_eq!(of_reference.echo_long(1), Err(INV_POLICY_1));
    assert_eq!(target.validate_connection(), Ok(()));

    let of_thread = [too_urgent()];
    client
        .set_thread_policies(&of_thread, SetOverride::Set)
        .unwrap();
    assert_eq!(target.validate_connection(), inconsistent(&[kind]));
    assert_eq!(target.echo_long(1), Err(INV_POLICY_1));
    assert_eq!(target.policy(kind).err(), Some(INV_POLICY_1));
    let other = target.clone();
    let elsewhere = orbium_testkit::spawn(move || other.validate_connection());
    assert_eq!(elsewhere.join().unwrap(), Ok(()));
    client.set_thread_policies(&[], SetOverride::Set).unwrap();
    assert_eq!(target.validate_connection(), Ok(()));

    let manager = client.policy_manager();
    manager
        .set_policies(&[too_urgent()], SetOverride::Set)
        .unwrap();
    assert_eq!(target.validate_connection(), inconsistent(&[kind]));
    assert_eq!(target.echo_long(1), Err(INV_POLICY_1));
    manager.set_policies(&[], SetOverride::Set).unwrap();
    assert_eq!(target.validate_connection(), Ok(()));
}

/// Conformance: ORB - validate_connection: lists the inconsistent policies of references, threads and ORBs
#[test]
fn a_policy_that_the_orb_cannot_have_is_listed() {
    let (server, client) = (FakeServer::listen(), client());
    let target = queued(&client, &server).with_bidirectional(BidirectionalPolicy::Both);
    let kind = policy_type::BIDIRECTIONAL;
    assert_eq!(target.validate_connection(), inconsistent(&[kind]));
    assert_eq!(target.policy(kind).err(), Some(INV_POLICY_1));
    assert_eq!(target.echo_long(1), Err(INV_POLICY_1));
}

/// Conformance: ORB - validate_connection: raises what connecting raises
#[test]
fn exceptions_of_connecting_are_no_list_of_policies() {
    let client = client();
    let gone = reach(&client, &format!("corbaloc::localhost:{}/x", dead_port()));
    let refused = gone.validate_connection();
    assert!(
        matches!(refused, Err(ValidationError::System(it)) if it.kind == ExceptionKind::Transient),
        "{refused:?}"
    );
}

#[test]
fn the_sentence_names_the_policies() {
    let error = ValidationError::Inconsistent(vec![policy_type::ROUTING, 0x4F52_4201]);
    let text = "inconsistent with the reference or the ORB: RoutingPolicy policy 1330790913";
    assert_eq!(error.to_string(), text);
    assert_eq!(format!("{error:?}"), text);
}
