// SPDX-License-Identifier: MIT OR Apache-2.0
//! At which priority requests are served.

use std::sync::Arc;

use crate::common::{
    adapter, client, client_with, on_a_thread, propagated, seen_by, server, server_with, soft,
    teller,
};
use orbium_core::{Completion, Config, ExceptionKind, Orb, Priority, SystemException};
use orbium_giop::real_time::PriorityModelValue;
use orbium_rt::{
    LinearMapping, PriorityModel, PriorityModelPolicy, PriorityTransform, RtOrb, RtOrbBuilder,
    RtPolicies,
};
use orbium_testkit::TargetState;
use orbium_testkit::probe::Target;

fn declared(server_priority: i16) -> RtPolicies {
    RtPolicies {
        priority_model: Some(PriorityModelPolicy::server_declared(server_priority)),
        ..RtPolicies::default()
    }
}

/// An object behind a server of these policies, as a client of Real-time CORBA
/// sees it; and that client.
struct Called {
    target: Target,
    rt: RtOrb,
    /// The serving and the calling side.
    _orbs: Vec<Orb>,
}

impl Called {
    fn new(policies: &RtPolicies) -> Self {
        Self::by(soft(), policies)
    }

    /// By a server that is made so.
    fn by(builder: RtOrbBuilder, policies: &RtPolicies) -> Self {
        let (server_orb, server_rt) = server_with(Config::default(), builder);
        let target = object(&server_orb, &server_rt, policies);
        let (client_orb, rt) = client();
        Self {
            target: seen_by(&client_orb, &server_orb, &target),
            rt,
            _orbs: vec![server_orb, client_orb],
        }
    }

    /// What `act` answers to calls at these priorities, made by one thread, which
    /// keeps its own.
    fn at<const N: usize>(self, priorities: [i16; N]) -> [Result<i32, SystemException>; N] {
        on_a_thread(move || {
            priorities.map(|number| {
                self.rt.current().set_the_priority(number).unwrap();
                let answer = self.target.act(0);
                assert_eq!(self.rt.current().the_priority().unwrap().number(), number);
                answer
            })
        })
    }
}

/// A server made so, with a servant that calls another one.
fn two_behind_each_other(middle: RtOrbBuilder) -> Called {
    let (last_orb, last_rt) = server();
    let last = object(&last_orb, &last_rt, &propagated(3));
    let (middle_orb, middle_rt) = server_with(Config::default(), middle);
    let beyond = seen_by(&middle_orb, &last_orb, &last);
    let state = Arc::new(TargetState::default());
    state.on_act(move |_, _| beyond.act(0));
    let poa = adapter(&middle_orb, &middle_rt, "middle", &propagated(3));
    let middle: Target = poa.activate(state).unwrap();
    let (client_orb, rt) = client();
    Called {
        target: seen_by(&client_orb, &middle_orb, &middle),
        rt,
        _orbs: vec![last_orb, middle_orb, client_orb],
    }
}

/// An object of an adapter with these policies.
fn object(orb: &Orb, rt: &RtOrb, policies: &RtPolicies) -> Target {
    let name = format!("{policies:?}").len().to_string();
    adapter(orb, rt, &name, policies)
        .activate(teller())
        .unwrap()
}

/// Conformance: RT 5.7.1 - CLIENT_PROPAGATED, published, carried, obeyed
#[test]
fn the_priority_of_the_client_goes_with_the_request() {
    let called = Called::new(&propagated(3));
    assert_eq!(called.at([40, 0, 98]), [Ok(40), Ok(0), Ok(98)]);
}

/// Conformance: RT 5.7.1 - CLIENT_PROPAGATED, published, carried, obeyed
/// Conformance: TAO 39 - policies exposed in references - those of Real-time CORBA
#[test]
fn the_model_is_published() {
    let called = Called::new(&propagated(3));
    let published = orbium_core::Interface::as_object(&called.target).published_policies();
    let expected = PriorityModelValue {
        model: PriorityModel::ClientPropagated,
        server_priority: 3,
    };
    assert_eq!(published.priority_model, Some(expected));
}

/// Conformance: RT 5.7.1 - CLIENT_PROPAGATED: clients without priorities are served at the server's
#[test]
fn a_client_without_priorities_is_served_at_the_servers() {
    let (server_orb, server_rt) = server();
    let target = object(&server_orb, &server_rt, &propagated(3));
    let plain = orbium_testkit::client();
    let target = seen_by(&plain, &server_orb, &target);
    assert_eq!(target.act(0), Ok(3));
}

/// Conformance: RT 5.7.1 - CLIENT_PROPAGATED: the thread's native priority if it was given none;
/// DATA_CONVERSION 2
#[test]
fn a_thread_without_a_priority_has_what_its_native_one_means() {
    let (server_orb, server_rt) = server();
    let target = object(&server_orb, &server_rt, &propagated(3));
    let (client_orb, _) = client();
    let seen = seen_by(&client_orb, &server_orb, &target);
    // No real-time priority is native 0, which has none.
    let refused = on_a_thread(move || seen.act(0)).unwrap_err();
    let expected = SystemException::omg(ExceptionKind::DataConversion, 2, Completion::No);
    assert_eq!(refused, expected);
    let mapping = LinearMapping::over(0..=9);
    let (client_orb, _) = client_with(RtOrb::builder().mapping(mapping).soft());
    let seen = seen_by(&client_orb, &server_orb, &target);
    assert_eq!(on_a_thread(move || seen.act(0)), Ok(0));
}

/// Conformance: RT 5.7.2 - SERVER_DECLARED
#[test]
fn the_server_declares_the_priority() {
    let called = Called::new(&declared(12));
    let target = called.target.clone();
    let without = on_a_thread(move || target.act(0));
    assert_eq!(without, Ok(12), "a thread without a priority");
    assert_eq!(called.at([40]), [Ok(12)]);
}

/// Conformance: RT 5.7 - no model: nothing is said
#[test]
fn an_adapter_without_a_model_says_nothing_of_priorities() {
    let called = Called::new(&RtPolicies::default());
    assert_eq!(called.at([40]), [Ok(-1)]);
}

/// Conformance: RT 5.4 - policies for the whole ORB
#[test]
fn the_orb_may_have_the_model_for_all_adapters() {
    let (server_orb, server_rt) = server_with(Config::default(), soft().policies(declared(9)));
    let target = object(&server_orb, &server_rt, &RtPolicies::default());
    let own = object(&server_orb, &server_rt, &declared(10));
    let plain = orbium_testkit::client();
    assert_eq!(seen_by(&plain, &server_orb, &target).act(0), Ok(9));
    assert_eq!(seen_by(&plain, &server_orb, &own).act(0), Ok(10));
}

/// Conformance: RT 5.7.1 - CLIENT_PROPAGATED, published, carried, obeyed
#[test]
fn nested_calls_carry_the_priority_on() {
    assert_eq!(two_behind_each_other(soft()).at([33]), [Ok(33)]);
}

/// Conformance: RT 5.7 - the thread's priority is restored after the upcall
#[test]
fn the_thread_has_its_priority_back_after_the_upcall() {
    let (orb, rt) = server();
    let target = object(&orb, &rt, &declared(12));
    on_a_thread(move || {
        // Within the process the servant runs on the caller's thread.
        rt.current().set_the_priority(40).unwrap();
        assert_eq!(target.act(0), Ok(12));
        assert_eq!(rt.current().the_priority().unwrap().number(), 40);
    });
}

/// Conformance: RT 5.7.1 - CLIENT_PROPAGATED, published, carried, obeyed
#[test]
fn calls_within_the_process_have_the_same_model() {
    let (orb, rt) = server();
    let target = object(&orb, &rt, &propagated(3));
    on_a_thread(move || {
        assert!(target.act(0).is_err(), "no priority that could be mapped");
        rt.current().set_the_priority(40).unwrap();
        assert_eq!(target.act(0), Ok(40));
    });
}

/// Inbound by a table of one, outbound one more.
struct Shift;

impl PriorityTransform for Shift {
    fn inbound(&self, priority: Priority, object_id: &[u8]) -> Option<Priority> {
        assert!(!object_id.is_empty());
        match priority.number() {
            13 => None,
            other => Priority::new(other + 10),
        }
    }

    fn outbound(&self, priority: Priority, _: &[u8]) -> Option<Priority> {
        match priority.number() {
            50 => None,
            other => Priority::new(other + 1),
        }
    }
}

/// Conformance: RT 5.7.4 - PriorityTransform, in and out; refused: UNKNOWN
#[test]
fn priorities_are_transformed_on_their_way_in() {
    let called = Called::by(soft().transform(Shift), &propagated(3));
    assert_eq!(called.at([7]), [Ok(17)]);
}

/// Conformance: RT 5.7.4 - PriorityTransform, in and out; refused: UNKNOWN
#[test]
fn priorities_are_transformed_on_their_way_out_of_servants() {
    let called = two_behind_each_other(soft().transform(Shift));
    let [shifted, out_of_50] = called.at([7, 40]);
    assert_eq!(shifted, Ok(18), "7, in 17, out 18");
    assert_eq!(out_of_50.unwrap_err().kind, ExceptionKind::Unknown);
}

/// Conformance: RT 5.7.4 - PriorityTransform, in and out; refused: UNKNOWN
#[test]
fn a_transform_that_refuses_is_unknown() {
    let called = Called::by(soft().transform(Shift), &propagated(3));
    let [refused, shifted] = called.at([13, 14]);
    assert_eq!(refused.unwrap_err().kind, ExceptionKind::Unknown);
    assert_eq!(shifted, Ok(24));
}

/// Conformance: RT 5.7.1 - CLIENT_PROPAGATED: the server cannot map it: DATA_CONVERSION 2
/// Conformance: faults - a priority that the server cannot map, or the kernel does not have:
/// DATA_CONVERSION 2
#[test]
fn a_priority_that_the_server_cannot_map_is_data_conversion_2() {
    let narrow = RtOrb::builder()
        .mapping(orbium_rt::ContinuousMapping::over(1..=5))
        .soft();
    let called = Called::by(narrow, &propagated(3));
    let expected = SystemException::omg(ExceptionKind::DataConversion, 2, Completion::No);
    assert_eq!(called.at([40, 4]), [Err(expected), Ok(4)]);
}
