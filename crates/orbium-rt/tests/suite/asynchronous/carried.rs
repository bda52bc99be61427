// SPDX-License-Identifier: MIT OR Apache-2.0
//! The priority that a request carries, whenever and by whomever it is sent.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use orbium_core::{
    Completion, Config, ExceptionKind, Interface, Orb, Priority, SystemException, TimePolicies,
};
use orbium_giop::real_time::{PriorityModelValue, read_priority_context};
use orbium_giop::{Ior, ReplyStatus, TaggedComponent, service_context};
use orbium_rt::{PriorityModel, PriorityModelPolicy, PriorityTransform, RtPolicies};
use orbium_testkit::probe::Target;
use orbium_testkit::{FakeServer, Peer, TargetState, each_strategy, reach, reference};

use super::{act, act_at, block_on, handled, result};
use crate::common::{
    adapter, client, client_with, on_a_thread, propagated, seen_by, server, server_with, soft,
    teller,
};

/// A reference to a scripted server to which clients send their priorities.
fn at(server: &FakeServer) -> Ior {
    let model = PriorityModelValue {
        model: PriorityModel::ClientPropagated,
        server_priority: 3,
    };
    let policies = TaggedComponent::policies(&[model.to_policy()]);
    reference(2, &[server.port()], b"x", &[policies])
}

/// Takes a request, which carries that priority.
#[track_caller]
fn expect(peer: &mut Peer, priority: i16) -> orbium_testkit::Request {
    let request = peer.expect_request("act");
    let mut said = request.contexts.iter();
    let said = said.find(|(id, _)| *id == service_context::RT_CORBA_PRIORITY);
    let (_, data) = said.expect("a priority");
    assert_eq!(read_priority_context(data), Ok(priority));
    request
}

#[track_caller]
fn answer(peer: &mut Peer, priority: i16, result: u32) {
    let request = expect(peer, priority);
    peer.answer(&request, |writer| writer.write_u32(result));
}

fn timed(target: &Target, times: TimePolicies) -> Target {
    Target::from_object(target.as_object().with_time_policies(times))
}

/// A client, and the object of a scripted server as it sees it.
fn scripted() -> (FakeServer, Orb, orbium_rt::RtOrb, Target) {
    let server = FakeServer::listen();
    let (orb, rt) = client();
    let target = reach(&orb, &at(&server).to_string());
    (server, orb, rt, target)
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations at their caller's priority: carried, in each
/// form, within the process too
#[test]
fn each_form_of_a_call_is_served_at_its_callers_priority() {
    each_strategy(|strategy| {
        let config = Config {
            strategy,
            ..Config::default()
        };
        let (server_orb, server_rt) = server_with(config, soft());
        let object: Target = adapter(&server_orb, &server_rt, "a", &propagated(3))
            .activate(teller())
            .unwrap();
        let (client_orb, rt) = client();
        let target = seen_by(&client_orb, &server_orb, &object);
        for priority in [40, 0, 98] {
            let call = || act_at(&rt, &target, priority);
            assert_eq!(result(call()), Ok(priority.into()), "{strategy}");
            assert_eq!(block_on(call()), Ok(priority.into()), "{strategy}");
            assert_eq!(handled(call(), |it| it), Ok(priority.into()), "{strategy}");
        }
        client_orb.shutdown(true).unwrap();
        server_orb.shutdown(true).unwrap();
    });
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations at their caller's priority: carried, in each
/// form, within the process too
#[test]
fn one_thread_may_have_called_at_several() {
    let (server_orb, server_rt) = server();
    let object: Target = adapter(&server_orb, &server_rt, "a", &propagated(3))
        .activate(teller())
        .unwrap();
    let (client_orb, rt) = client();
    let target = seen_by(&client_orb, &server_orb, &object);
    let calls = on_a_thread(move || {
        let call = |priority| {
            rt.current().set_the_priority(priority).unwrap();
            (priority, act(&target, 0))
        };
        [7, 98, 0, 7, 50, 98].map(call)
    });
    for (priority, call) in calls {
        assert_eq!(result(call), Ok(priority.into()));
    }
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations at their caller's priority: carried, in each
/// form, within the process too
#[test]
fn the_server_may_declare_the_priority() {
    let (server_orb, server_rt) = server();
    let declared = RtPolicies {
        priority_model: Some(PriorityModelPolicy::server_declared(12)),
        ..RtPolicies::default()
    };
    let object: Target = adapter(&server_orb, &server_rt, "a", &declared)
        .activate(teller())
        .unwrap();
    let (client_orb, rt) = client();
    let target = seen_by(&client_orb, &server_orb, &object);
    assert_eq!(result(act(&target, 0)), Ok(12), "a thread without one");
    let of_handler = rt.current();
    let seen = handled(act_at(&rt, &target, 40), move |it| {
        (it, of_handler.the_priority())
    });
    assert_eq!(seen, (Ok(12), Ok(Priority::new(40).unwrap())));
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations at their caller's priority: carried, in each
/// form, within the process too
#[test]
fn without_a_priority_it_is_what_the_native_one_means() {
    let (server_orb, server_rt) = server();
    let object: Target = adapter(&server_orb, &server_rt, "a", &propagated(3))
        .activate(teller())
        .unwrap();
    let (client_orb, _) = client();
    let refused = result(act(&seen_by(&client_orb, &server_orb, &object), 0));
    let expected = SystemException::omg(ExceptionKind::DataConversion, 2, Completion::No);
    assert_eq!(refused, Err(expected));
    let mapping = orbium_rt::LinearMapping::over(0..=9);
    let (client_orb, _) = client_with(orbium_rt::RtOrb::builder().mapping(mapping).soft());
    let target = seen_by(&client_orb, &server_orb, &object);
    assert_eq!(result(act(&target, 0)), Ok(0));
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations at their caller's priority: carried, in each
/// form, within the process too
#[test]
fn calls_within_the_process_are_served_at_it_too() {
    let (orb, rt) = server();
    let target: Target = adapter(&orb, &rt, "a", &propagated(3))
        .activate(teller())
        .unwrap();
    for priority in [40, 0] {
        let call = || act_at(&rt, &target, priority);
        assert_eq!(result(call()), Ok(priority.into()));
        let current = rt.current();
        let seen = handled(call(), move |it| (it, current.the_priority()));
        let own = Priority::new(priority).unwrap();
        assert_eq!(seen, (Ok(priority.into()), Ok(own)));
    }
}

/// Whichever thread sends it: it waits for its time, or has to go elsewhere, and its caller's
/// thread has long had another priority, or ended.
///
/// Conformance: RT 5.7, 5.3 - asynchronous invocations: priority of a request that is sent later,
/// again, or elsewhere, out of servants too
#[test]
fn a_request_that_is_sent_later_carries_it() {
    let (server, _orb, rt, target) = scripted();
    let later = TimePolicies {
        request_start: Some(SystemTime::now() + Duration::from_millis(60)),
        ..TimePolicies::NONE
    };
    let target = timed(&target, later);
    let calls = on_a_thread(move || {
        let call = |priority| {
            rt.current().set_the_priority(priority).unwrap();
            act(&target, 0)
        };
        let calls = [40, 9].map(call);
        rt.current().set_the_priority(1).unwrap();
        calls
    });
    // Each has a connection of its own, whichever comes first.
    let mut peers = [server.accept(), server.accept()];
    let requests = peers.each_mut().map(|peer| peer.expect_request("act"));
    let mut said = Vec::new();
    for (peer, request) in peers.iter_mut().zip(&requests) {
        let mut contexts = request.contexts.iter();
        let priority = contexts.find(|(id, _)| *id == service_context::RT_CORBA_PRIORITY);
        let priority = read_priority_context(&priority.unwrap().1).unwrap();
        said.push(priority);
        peer.answer(request, |writer| {
            writer.write_u32(priority.unsigned_abs().into());
        });
    }
    said.sort_unstable();
    assert_eq!(said, [9, 40]);
    assert_eq!(calls.map(result), [Ok(40), Ok(9)]);
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: priority of a request that is sent later,
/// again, or elsewhere, out of servants too
#[test]
fn one_that_is_sent_again_carries_it() {
    let (server, _orb, rt, target) = scripted();
    let call = act_at(&rt, &target, 40);
    // Not begun: the connection is closed in order, twice.
    for _ in 0..2 {
        let mut peer = server.accept();
        expect(&mut peer, 40);
        peer.close();
    }
    let mut peer = server.accept();
    answer(&mut peer, 40, 1);
    assert_eq!(result(call), Ok(1));
    // And over the connection that is there.
    let call = act_at(&rt, &target, 40);
    answer(&mut peer, 40, 2);
    assert_eq!(result(call), Ok(2));
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: priority of a request that is sent later,
/// again, or elsewhere, out of servants too
#[test]
fn one_that_is_forwarded_carries_it() {
    let (first, _orb, rt, target) = scripted();
    let second = FakeServer::listen();
    let there = at(&second);
    let call = act_at(&rt, &target, 40);
    let mut peer = first.accept();
    let request = expect(&mut peer, 40);
    peer.forward(&request, &there);
    let mut peer = second.accept();
    answer(&mut peer, 40, 1);
    assert_eq!(result(call), Ok(1));
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: priority of a request that is sent later,
/// again, or elsewhere, out of servants too
#[test]
fn a_request_sent_again_with_another_addressing_carries_it() {
    let (server, _orb, rt, target) = scripted();
    let call = act_at(&rt, &target, 40);
    let mut peer = server.accept();
    let request = expect(&mut peer, 40);
    peer.answer_with(&request, ReplyStatus::NeedsAddressingMode, |writer| {
        writer.write_u16(2);
    });
    let request = expect(&mut peer, 40);
    assert_eq!(request.addressing, 2);
    peer.answer(&request, |writer| writer.write_u32(1));
    assert_eq!(result(call), Ok(1));
}

/// Outbound one more.
struct Shift;

impl PriorityTransform for Shift {
    fn inbound(&self, priority: Priority, _: &[u8]) -> Option<Priority> {
        Some(priority)
    }

    fn outbound(&self, priority: Priority, _: &[u8]) -> Option<Priority> {
        Priority::new(priority.number() + 1)
    }
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: priority of a request that is sent later,
/// again, or elsewhere, out of servants too
#[test]
fn priorities_are_transformed_on_their_way_out_of_servants_also_later() {
    let (server, orb, rt, beyond) = {
        let server = FakeServer::listen();
        let (orb, rt) = server_with(Config::default(), soft().transform(Shift));
        let target = reach(&orb, &at(&server).to_string());
        (server, orb, rt, target)
    };
    let state = Arc::new(TargetState::default());
    state.on_act(move |_, _| {
        let start = SystemTime::now() + Duration::from_millis(20);
        let later = TimePolicies {
            request_start: Some(start),
            ..TimePolicies::NONE
        };
        // The servant does not wait for it.
        act(&beyond, 0).detach();
        act(&timed(&beyond, later), 0).detach();
        Ok(0)
    });
    let object: Target = adapter(&orb, &rt, "a", &propagated(3))
        .activate(state)
        .unwrap();
    let (client_orb, client_rt) = client();
    let target = seen_by(&client_orb, &orb, &object);
    assert_eq!(result(act_at(&client_rt, &target, 40)), Ok(0));
    let mut peer = server.accept();
    answer(&mut peer, 41, 1);
    answer(&mut peer, 41, 1);
    // Out of no servant nothing is shifted.
    let (client_orb, client_rt) = client();
    let target = reach(&client_orb, &at(&server).to_string());
    let call = act_at(&client_rt, &target, 40);
    answer(&mut server.accept(), 40, 1);
    assert_eq!(result(call), Ok(1));
}
