// SPDX-License-Identifier: MIT OR Apache-2.0
//! Policies of references, threads and the ORB by the numbers of their types.

use std::thread;
use std::time::{Duration, SystemTime};

use orbium::giop::{Ior, time::UtcT};
use orbium::interceptor::{Interceptors, Policy, PolicyError};
use orbium::policy::router_policies::{PriorityRange, QueueOrder, RoutingTypeRange};
use orbium::{
    Any, Completion, ExceptionKind, Interface, Orb, SystemException,
    policy::{OverrideError, RebindMode, SetOverride, SyncScope, policy_type},
    protocol::ProtocolPolicy,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{FakeServer, client, reach, reference, within};

const REGION: u32 = 0x4F52_4201;
const TENANT: u32 = 0x4F52_4202;
const HOUR: Duration = Duration::from_secs(3600);

fn at(server: &FakeServer) -> Ior {
    reference(2, &[server.port()], b"x", &[])
}

/// A scripted server, and the object there as a client sees it.
fn scripted(client: &Orb) -> (FakeServer, Target) {
    let server = FakeServer::listen();
    let target = reach(client, &at(&server).to_string());
    (server, target)
}

fn roundtrip(within: Duration) -> Policy {
    Policy::new(policy_type::RELATIVE_ROUNDTRIP_TIMEOUT, within)
}

fn types(policies: &[Policy]) -> Vec<u32> {
    policies.iter().map(Policy::policy_type).collect()
}

fn region(policy: Option<Policy>) -> &'static str {
    policy.map_or("", |it| *it.value::<&'static str>().unwrap())
}

/// Every policy that a reference can have by its number.
fn every_policy() -> Vec<Policy> {
    let time = SystemTime::now() + HOUR;
    vec![
        Policy::new(policy_type::REBIND, RebindMode::NoRebind),
        Policy::new(policy_type::SYNC_SCOPE, SyncScope::WithServer),
        Policy::new(policy_type::REQUEST_START_TIME, time),
        Policy::new(policy_type::REQUEST_END_TIME, time),
        Policy::new(policy_type::REPLY_START_TIME, time),
        Policy::new(policy_type::REPLY_END_TIME, time),
        Policy::new(policy_type::RELATIVE_REQUEST_TIMEOUT, HOUR),
        roundtrip(HOUR),
        Policy::new(policy_type::CLIENT_PROTOCOL, protocols()),
        Policy::new(
            policy_type::REQUEST_PRIORITY,
            PriorityRange { min: 1, max: 5 },
        ),
        Policy::new(
            policy_type::REPLY_PRIORITY,
            PriorityRange { min: 2, max: 2 },
        ),
        Policy::new(policy_type::ROUTING, RoutingTypeRange { min: 0, max: 1 }),
        Policy::new(policy_type::MAX_HOPS, 3u16),
        Policy::new(policy_type::QUEUE_ORDER, QueueOrder::TEMPORAL),
        Policy::new(REGION, "north"),
    ]
}

fn protocols() -> ProtocolPolicy {
    ProtocolPolicy::new(["iiop"])
}

/// Conformance: ORB - set_policy_overrides and get_policy_overrides of references, threads and ORBs
#[test]
fn policies_set_by_number_are_read_by_number() {
    let client = client();
    let (_server, target) = scripted(&client);
    let all = every_policy();
    let object = target.with_policies(&all, SetOverride::Add).unwrap();
    assert_eq!(types(&object.policy_overrides(&[])), types(&all));
    assert_eq!(
        object.as_object().time_policies().roundtrip_timeout,
        Some(HOUR)
    );
    let two = object.policy_overrides(&[REGION, TENANT, policy_type::REBIND]);
    assert_eq!(types(&two), [REGION, policy_type::REBIND]);
    assert_eq!(two[1].value(), Some(&RebindMode::NoRebind));
    // The reference that it was made of stays as it was.
    assert_eq!(types(&target.policy_overrides(&[])), [0; 0]);
    client.set_thread_policies(&all, SetOverride::Set).unwrap();
    assert_eq!(types(&client.thread_policies(&[])), types(&all));
    client
        .policy_manager()
        .set_policies(&all, SetOverride::Set)
        .unwrap();
    assert_eq!(types(&client.policies(&[])), types(&all));
    client
        .policy_manager()
        .set_policies(&[], SetOverride::Set)
        .unwrap();
    assert_eq!(types(&client.policies(&[])), [0; 0]);
}

/// Conformance: ORB - set_policy_overrides: SET_OVERRIDE replaces all, ADD_OVERRIDE merges
#[test]
fn policies_are_added_or_take_the_place_of_all() {
    let client = client();
    let (_server, target) = scripted(&client);
    let all = target.with_policies(&every_policy(), SetOverride::Set);
    let all = all.unwrap();
    let south = [Policy::new(REGION, "south")];
    let added = all.with_policies(&south, SetOverride::Add).unwrap();
    assert_eq!(added.policy_overrides(&[]).len(), every_policy().len());
    assert_eq!(region(added.client_policy(REGION)), "south");
    let set = all.with_policies(&south, SetOverride::Set).unwrap();
    assert_eq!(types(&set.policy_overrides(&[])), [REGION]);
    let copy = all.with_policies(&[], SetOverride::Add).unwrap();
    assert_eq!(copy.policy_overrides(&[]).len(), every_policy().len());
    let none = all.with_policies(&[], SetOverride::Set).unwrap();
    assert_eq!(types(&none.policy_overrides(&[])), [0; 0]);
}

/// Conformance: ORB - set_policy_overrides: InvalidPolicies with the places; BAD_PARAM 30
#[test]
fn policies_that_are_not_of_calls_are_refused() {
    let client = client();
    let (_server, target) = scripted(&client);
    // LifespanPolicy, a value of another type, PriorityModelPolicy, ServerProtocolPolicy.
    let policies = [
        Policy::new(17, 0i16),
        roundtrip(HOUR),
        Policy::new(policy_type::REBIND, 1i16),
        Policy::new(REGION, "north"),
        Policy::new(40, 0i16),
        Policy::new(42, 0i16),
    ];
    let invalid = OverrideError::InvalidPolicies(vec![0, 2, 4, 5]);
    for how in [SetOverride::Add, SetOverride::Set] {
        let refused = target.with_policies(&policies, how);
        assert_eq!(refused.err(), Some(invalid.clone()));
        assert_eq!(
            client.set_thread_policies(&policies, how),
            Err(invalid.clone())
        );
        assert_eq!(
            client.policy_manager().set_policies(&policies, how),
            Err(invalid.clone())
        );
    }
    let twice = [Policy::new(REGION, "north"), Policy::new(REGION, "south")];
    let exception = SystemException::omg(ExceptionKind::BadParam, 30, Completion::No);
    let refused = target.with_policies(&twice, SetOverride::Add);
    assert_eq!(refused.err(), Some(OverrideError::System(exception)));
    assert_eq!(types(&client.thread_policies(&[])), [0; 0]);
}

/// Conformance: ORB - get_client_policy: of the reference, else of the thread, else of the
/// ORB
#[test]
fn the_narrowest_scope_has_the_policy() {
    let mut interceptors = Interceptors::new();
    interceptors.add_policy(Policy::new(REGION, "of the ORB"));
    interceptors.add_policy(Policy::new(TENANT, "of the ORB"));
    let client = Orb::builder()
        .call_timeout(3 * HOUR)
        .interceptors(interceptors)
        .build()
        .unwrap();
    let (_server, target) = scripted(&client);
    let orb_types = [policy_type::RELATIVE_ROUNDTRIP_TIMEOUT, REGION, TENANT];
    assert_eq!(types(&client.policies(&[])), orb_types);
    assert_eq!(region(target.client_policy(REGION)), "of the ORB");
    let of_thread = [roundtrip(2 * HOUR), Policy::new(REGION, "of the thread")];
    client
        .set_thread_policies(&of_thread, SetOverride::Add)
        .unwrap();
    assert_eq!(region(target.client_policy(REGION)), "of the thread");
    assert_eq!(region(target.client_policy(TENANT)), "of the ORB");
    let own = [Policy::new(REGION, "its own"), roundtrip(HOUR)];
    let object = target.with_policies(&own, SetOverride::Add).unwrap();
    assert_eq!(region(object.client_policy(REGION)), "its own");
    assert!(object.client_policy(policy_type::REBIND).is_none());
    let hours = |object: &Target| {
        let policy = object.policy(policy_type::RELATIVE_ROUNDTRIP_TIMEOUT);
        *policy.unwrap().unwrap().value::<Duration>().unwrap()
    };
    assert_eq!((hours(&object), hours(&target)), (HOUR, 2 * HOUR));
    let elsewhere = {
        let (target, client) = (target.clone(), client.clone());
        orbium_testkit::spawn(move || (hours(&target), client.thread_policies(&[]).len()))
    };
    assert_eq!(elsewhere.join().unwrap(), (3 * HOUR, 0));
    client.set_thread_policies(&[], SetOverride::Set).unwrap();
    assert_eq!(hours(&target), 3 * HOUR);
    // What the ORB is given comes before its configuration.
    let given = [roundtrip(4 * HOUR), Policy::new(REGION, "given")];
    client
        .policy_manager()
        .set_policies(&given, SetOverride::Add)
        .unwrap();
    assert_eq!(hours(&target), 4 * HOUR);
    assert_eq!(region(target.client_policy(REGION)), "given");
    assert_eq!(region(target.client_policy(TENANT)), "of the ORB");
    assert_eq!(hours(&object), HOUR);
}

/// Conformance: ORB - policies that are set by number hold for calls
#[test]
fn calls_keep_what_was_set_by_number() {
    let client = client();
    let (server, target) = scripted(&client);
    target.as_object().connect().unwrap();
    let _peer = server.accept();
    let short = [roundtrip(Duration::from_millis(100))];
    let hurried = target.with_policies(&short, SetOverride::Add).unwrap();
    let late = within("the call", move || hurried.echo_long(1));
    assert_eq!(late.unwrap_err().kind, ExceptionKind::Timeout);
    let late = within("the call", move || {
        client
            .set_thread_policies(&short, SetOverride::Add)
            .unwrap();
        let late = target.echo_long(1);
        client.set_thread_policies(&[], SetOverride::Set).unwrap();
        client
            .policy_manager()
            .set_policies(&short, SetOverride::Add)
            .unwrap();
        [late, target.echo_long(1)]
    });
    for late in late {
        assert_eq!(late.unwrap_err().kind, ExceptionKind::Timeout);
    }
}

/// Conformance: ORB - set_policy_overrides of a running ORB: below those of threads, above its
/// configuration
#[test]
fn policies_of_a_running_orb_stand_between_threads_and_the_configuration() {
    let client = Orb::builder().call_timeout(3 * HOUR).build().unwrap();
    let (_server, target) = scripted(&client);
    let hours = |target: &Target| {
        let policy = target.client_policy(policy_type::RELATIVE_ROUNDTRIP_TIMEOUT);
        *policy.unwrap().value::<Duration>().unwrap()
    };
    assert_eq!(hours(&target), 3 * HOUR);
    let of_orb = [roundtrip(2 * HOUR), Policy::new(REGION, "of the ORB")];
    client
        .policy_manager()
        .set_policies(&of_orb, SetOverride::Add)
        .unwrap();
    let of_another = [Policy::new(TENANT, "of the ORB")];
    client
        .policy_manager()
        .set_policies(&of_another, SetOverride::Add)
        .unwrap();
    let all = [policy_type::RELATIVE_ROUNDTRIP_TIMEOUT, REGION, TENANT];
    assert_eq!(types(&client.policies(&[])), all);
    assert_eq!(
        (hours(&target), region(target.client_policy(REGION))),
        (2 * HOUR, "of the ORB")
    );
    client
        .set_thread_policies(&[roundtrip(HOUR)], SetOverride::Add)
        .unwrap();
    assert_eq!(hours(&target), HOUR);
    client.set_thread_policies(&[], SetOverride::Set).unwrap();
    client
        .policy_manager()
        .set_policies(&of_another, SetOverride::Set)
        .unwrap();
    assert_eq!(hours(&target), 3 * HOUR);
    assert_eq!(region(target.client_policy(REGION)), "");
    assert_eq!(region(target.client_policy(TENANT)), "of the ORB");
    // LifespanPolicy: nothing is changed.
    let lifespan = [Policy::new(17, 0i16), roundtrip(HOUR)];
    assert_eq!(
        client
            .policy_manager()
            .set_policies(&lifespan, SetOverride::Set),
        Err(OverrideError::InvalidPolicies(vec![0]))
    );
    assert_eq!(region(target.client_policy(TENANT)), "of the ORB");
    assert_eq!(hours(&target), 3 * HOUR);
}

/// Conformance: ORB - set_policy_overrides of a running ORB: the calls that follow
#[test]
fn calls_keep_the_policies_of_a_running_orb() {
    let client = client();
    let (server, target) = scripted(&client);
    target.as_object().connect().unwrap();
    let _peer = server.accept();
    let short = [roundtrip(Duration::from_millis(100))];
    client
        .policy_manager()
        .set_policies(&short, SetOverride::Add)
        .unwrap();
    let late = {
        let target = target.clone();
        within("the call", move || target.echo_long(1))
    };
    assert_eq!(late.unwrap_err().kind, ExceptionKind::Timeout);
    // Nothing is offered over it.
    let elsewhere = Policy::new(policy_type::CLIENT_PROTOCOL, ProtocolPolicy::new(["uiop"]));
    client
        .policy_manager()
        .set_policies(&[elsewhere], SetOverride::Set)
        .unwrap();
    let refused = {
        let target = target.clone();
        within("the call", move || target.echo_long(1))
    };
    assert_eq!(refused.unwrap_err().kind, ExceptionKind::InvPolicy);
    client
        .policy_manager()
        .set_policies(&[], SetOverride::Set)
        .unwrap();
    target.as_object().connect().unwrap();
}

/// Conformance: ORB - set_policy_overrides of a running ORB: all of them at once
#[test]
fn policies_of_a_running_orb_change_all_at_once() {
    const CHANGES: usize = 2_000;
    let client = client();
    let both = |name| [Policy::new(REGION, name), Policy::new(TENANT, name)];
    client
        .policy_manager()
        .set_policies(&both("north"), SetOverride::Set)
        .unwrap();
    thread::scope(|scope| {
        let changing = scope.spawn(|| {
            for turn in 0..CHANGES {
                let name = if turn % 2 == 0 { "south" } else { "north" };
                client
                    .policy_manager()
                    .set_policies(&both(name), SetOverride::Set)
                    .unwrap();
            }
        });
        loop {
            let is_over = changing.is_finished();
            let seen = client.policies(&[REGION, TENANT]);
            assert_eq!(seen.len(), 2);
            assert_eq!(region(seen.first().cloned()), region(seen.last().cloned()));
            if is_over {
                break;
            }
        }
    });
}

/// Conformance: ORB - create_policy of standard policies: values, and PolicyError
#[test]
fn standard_policies_are_made_of_their_values() {
    let client = client();
    let span = client.create_policy(32, &Any::from(20_000_000u64)).unwrap();
    assert_eq!(span.value(), Some(&Duration::from_secs(2)));
    let rebind = client.create_policy(23, &Any::from(2i16)).unwrap();
    assert_eq!(rebind.value(), Some(&RebindMode::NoReconnect));
    let scope = client.create_policy(24, &Any::from(3i16)).unwrap();
    assert_eq!(scope.value(), Some(&SyncScope::WithTarget));
    let refused = [
        (32, Any::from(1i16), PolicyError::BadPolicyValue),
        (31, Any::from(u64::MAX), PolicyError::UnsupportedPolicyValue),
        (23, Any::from(3i16), PolicyError::BadPolicyValue),
        (24, Any::from(1u32), PolicyError::BadPolicyValue),
        (27, Any::from(1u64), PolicyError::BadPolicyValue),
        (30, Any::from(1u64), PolicyError::BadPolicyValue),
        (16, Any::from(0i16), PolicyError::BadPolicyType),
        (REGION, Any::from(0i16), PolicyError::BadPolicyType),
    ];
    for (policy_type, value, reason) in refused {
        let made = client.create_policy(policy_type, &value);
        assert_eq!(made.err(), Some(reason), "{policy_type}");
    }
}

/// Conformance: ORB - create_policy of RequestStartTimePolicy, RequestEndTimePolicy, ReplyStartTimePolicy and ReplyEndTimePolicy: of a UtcT
#[test]
fn policies_of_points_of_time_are_made_of_a_utct() {
    let client = client();
    let at = |time| UtcT {
        time,
        inacclo: 1,
        inacchi: 2,
        tdf: 60,
    };
    // Ten seconds into 1970.
    let point = Any::new(&at(0x01B2_1DD2_1381_4000 + 100_000_000)).unwrap();
    let expected = SystemTime::UNIX_EPOCH + Duration::from_secs(10);
    for policy_type in 27..=30 {
        let policy = client.create_policy(policy_type, &point).unwrap();
        assert_eq!(policy.policy_type(), policy_type);
        assert_eq!(policy.value(), Some(&expected));
    }
    // Its end has passed: the call is not made.
    let (server, target) = scripted(&client);
    let passed = client.create_policy(30, &point).unwrap();
    let late = target.with_policies(&[passed], SetOverride::Add).unwrap();
    assert_eq!(late.noop().unwrap_err().kind, ExceptionKind::Timeout);
    drop(server);
}
