// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections: one for each priority of callers, each band, each private
//! reference; and those that ask for a thread.

use std::sync::Arc;
use std::time::Duration;

use orbium_channel::dedication::{DedicationReply, Undedicated};
use orbium_core::{
    Call, Completion, Config, ExceptionKind, Interface, Limits, Orb, Priority, SystemException,
};
use orbium_giop::real_time::read_priority_range_context;
use orbium_giop::{MessageKind, service_context};
use orbium_rt::{
    Budget, PriorityBand, RtObject, RtOrb, RtPolicies, ThreadpoolConfig, ThreadpoolLane,
};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, TargetState, each_client_strategy, each_strategy, eventually, reach, reference,
};

use super::{act, act_at, result};
use crate::common::{
    adapter, client, client_with, on_a_thread, propagated, seen_by, server, server_with, soft,
    teller,
};

const LOW: PriorityBand = PriorityBand { low: 0, high: 9 };
const HIGH: PriorityBand = PriorityBand { low: 10, high: 29 };

/// The client's port.
fn port(call: &Call<'_>) -> i32 {
    let peer = call.peer().map(ToString::to_string).unwrap_or_default();
    let port = peer.rsplit(':').next().and_then(|it| it.parse().ok());
    port.unwrap_or(-1)
}

/// An object with an `act` that returns by which of the client's ports the call came.
fn reports_ports(orb: &Orb, rt: &RtOrb, policies: &RtPolicies) -> Target {
    let state = Arc::new(TargetState::default());
    state.on_act(|call, _| Ok(port(call)));
    adapter(orb, rt, "ports", policies).activate(state).unwrap()
}

fn at<const N: usize>(
    rt: &RtOrb,
    target: &Target,
    priorities: [i16; N],
) -> [Result<i32, SystemException>; N] {
    priorities.map(|priority| result(act_at(rt, target, priority)))
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: a connection for each priority: an urgent
/// reply waits for no other
#[test]
fn callers_of_each_priority_have_a_connection() {
    each_client_strategy(|strategy| {
        let (server_orb, server_rt) = server();
        let object = reports_ports(&server_orb, &server_rt, &RtPolicies::default());
        let orb = Orb::new(orbium_testkit::calling_by(strategy)).unwrap();
        let rt = soft().install(&orb).unwrap();
        let target = seen_by(&orb, &server_orb, &object);
        let [low, high, low_again, high_again] = at(&rt, &target, [5, 20, 5, 20]);
        assert_ne!(low.unwrap(), high.unwrap(), "{strategy}");
        assert_eq!((low, high), (low_again, high_again), "{strategy}");
        // Whatever else leads there.
        let other = seen_by(&orb, &server_orb, &object);
        assert_eq!(at(&rt, &other, [5, 20]), [low, high], "{strategy}");
        let without = on_a_thread({
            let target = target.clone();
            move || result(act(&target, 0)).unwrap()
        });
        assert!(Ok(without) != low && Ok(without) != high, "{strategy}");
    });
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: a connection for each priority: an urgent
/// reply waits for no other
#[test]
fn an_urgent_reply_never_waits_for_the_rest_of_another() {
    let server = FakeServer::listen();
    let (orb, rt) = client();
    let text = reference(2, &[server.port()], b"x", &[]).to_string();
    let target = reach(&orb, &text);
    let slow = act_at(&rt, &target, 5);
    let mut slow_peer = server.accept();
    let slow_request = slow_peer.expect_request("act");
    let reply = orbium_testkit::reply(
        2,
        orbium_cdr::ByteOrder::NATIVE,
        slow_request.id,
        orbium_giop::ReplyStatus::NoException,
        |writer| writer.write_u32(5),
    );
    slow_peer.send(&reply[..20]);
    let urgent = act_at(&rt, &target, 90);
    let mut urgent_peer = server.accept();
    let request = urgent_peer.expect_request("act");
    urgent_peer.answer(&request, |writer| writer.write_u32(90));
    assert_eq!(result(urgent), Ok(90));
    assert!(!slow.is_ready(Some(Duration::ZERO)));
    slow_peer.send(&reply[20..]);
    assert_eq!(result(slow), Ok(5));
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: bands, private connections, markers,
/// bindings
#[test]
fn the_server_gets_the_band_before_the_first_request() {
    let server = FakeServer::listen();
    let (orb, rt) = client();
    let text = reference(2, &[server.port()], b"x", &[]).to_string();
    let target = reach(&orb, &text)
        .with_priority_bands(&[LOW, HIGH])
        .unwrap();
    let calls = [act_at(&rt, &target, 20), act_at(&rt, &target, 20)];
    let mut peer = server.accept();
    let bind = peer.expect_request("_bind_priority_band");
    let mut said = bind.contexts.iter();
    let range = said.find(|(id, _)| *id == service_context::RT_CORBA_PRIORITY_RANGE);
    assert_eq!(read_priority_range_context(&range.unwrap().1), Ok(HIGH));
    assert!(peer.is_silent(Duration::from_millis(30)));
    peer.answer(&bind, |_| {});
    for value in [1, 2] {
        let request = peer.expect_request("act");
        peer.answer(&request, |writer| writer.write_u32(value));
    }
    assert_eq!(calls.map(result), [Ok(1), Ok(2)]);
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: bands, private connections, markers,
/// bindings
#[test]
fn each_band_has_a_connection_and_a_priority_in_none_is_no_resources_2() {
    each_strategy(|strategy| {
        let config = Config {
            strategy,
            ..Config::default()
        };
        let (server_orb, server_rt) = server_with(config, soft());
        let object = reports_ports(&server_orb, &server_rt, &propagated(5));
        let (client_orb, rt) = client();
        let plain = seen_by(&client_orb, &server_orb, &object);
        let banded = plain.with_priority_bands(&[LOW, HIGH]).unwrap();
        let [low, high, low_again, high_again] = at(&rt, &banded, [5, 20, 5, 20]);
        assert_ne!(low.unwrap(), high.unwrap(), "{strategy}");
        assert_eq!((low, high), (low_again, high_again), "{strategy}");
        let no_band = SystemException::omg(ExceptionKind::NoResources, 2, Completion::No);
        assert_eq!(at(&rt, &banded, [30, 5]), [Err(no_band), low], "{strategy}");
        let shared = at(&rt, &plain, [5, 20]);
        assert!(shared[0] != low && shared[1] != high, "{strategy}");
        server_orb.shutdown(true).unwrap();
    });
}

#[test]
fn bands_may_be_the_orbs_the_references_or_a_threads() {
    let (server_orb, server_rt) = server();
    let object = reports_ports(&server_orb, &server_rt, &propagated(5));
    let (client_orb, rt) = client_with(soft().client_bands(&[LOW, HIGH]));
    let target = seen_by(&client_orb, &server_orb, &object);
    let [low, outside] = at(&rt, &target, [5, 30]);
    assert!(low.is_ok());
    assert_eq!(outside.unwrap_err().kind, ExceptionKind::NoResources);
    let (client_orb, rt) = client();
    let target = seen_by(&client_orb, &server_orb, &object);
    let (call, later) = on_a_thread(move || {
        rt.current().set_the_priority(30).unwrap();
        rt.set_thread_connections(Some(&[LOW, HIGH]), false)
            .unwrap();
        let call = act(&target, 0);
        rt.set_thread_connections(None, false).unwrap();
        (call, act(&target, 0))
    });
    assert_eq!(result(call).unwrap_err().kind, ExceptionKind::NoResources);
    assert!(result(later).is_ok());
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: bands, private connections, markers,
/// bindings
#[test]
fn a_band_that_the_server_does_not_serve_is_inv_policy() {
    let (server_orb, server_rt) = server();
    let lanes = [ThreadpoolLane::new(5, 1, 0)];
    let pool = server_rt.create_threadpool_with_lanes(&lanes, ThreadpoolConfig::default());
    let policies = RtPolicies {
        threadpool: Some(pool.unwrap()),
        ..propagated(5)
    };
    let object = reports_ports(&server_orb, &server_rt, &policies);
    let (client_orb, rt) = client();
    let target = seen_by(&client_orb, &server_orb, &object);
    let target = target.with_priority_bands(&[LOW, HIGH]).unwrap();
    for _ in 0..3 {
        let [refused, served] = at(&rt, &target, [20, 5]);
        assert_eq!(refused.unwrap_err().kind, ExceptionKind::InvPolicy);
        assert!(served.is_ok());
    }
    server_orb.shutdown(true).unwrap();
}

#[test]
fn a_server_that_does_not_know_bands_serves_all_the_same() {
    let served = orbium_testkit::Served::new(orbium_core::ServerStrategy::Reactive);
    served.state.on_act(|call, _| Ok(port(call)));
    let (client_orb, rt) = client();
    let target = served.seen_by(&client_orb);
    let target = target.with_priority_bands(&[LOW, HIGH]).unwrap();
    let [low, high, again] = at(&rt, &target, [5, 20, 5]);
    assert_ne!(low.unwrap(), high.unwrap());
    assert_eq!(low, again);
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: bands, private connections, markers,
/// bindings
#[test]
fn a_private_connection_is_one_references_own_and_ends_with_it() {
    let server = FakeServer::listen();
    let (orb, rt) = client();
    let text = reference(2, &[server.port()], b"x", &[]).to_string();
    let shared = reach(&orb, &text);
    let answered = |target: &Target, peer: Option<orbium_testkit::Peer>| {
        let call = act_at(&rt, target, 40);
        let mut peer = peer.unwrap_or_else(|| server.accept());
        let request = peer.expect_request("act");
        peer.answer(&request, |writer| writer.write_u32(7));
        assert_eq!(result(call), Ok(7));
        peer
    };
    let of_shared = answered(&shared, None);
    let private = shared.with_private_connection();
    let other = shared.with_private_connection();
    let of_private = answered(&private, None);
    let of_other = answered(&other, None);
    let mut of_private = answered(&private, Some(of_private));
    drop(private);
    of_private.expect(MessageKind::CloseConnection);
    of_private.expect_end();
    // The others stay.
    answered(&other, Some(of_other));
    answered(&shared, Some(of_shared));
    assert!(server.accept_at_once().is_none());
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: bands, private connections, markers,
/// bindings
#[test]
fn a_reference_that_goes_while_it_is_called_leaves_nothing() {
    let server = FakeServer::listen();
    let (orb, rt) = client();
    let text = reference(2, &[server.port()], b"x", &[]).to_string();
    let private = reach(&orb, &text).with_private_connection();
    let call = act_at(&rt, &private, 40);
    drop(private);
    let mut peer = server.accept();
    let request = peer.expect_request("act");
    peer.answer(&request, |writer| writer.write_u32(7));
    assert_eq!(result(call), Ok(7));
    peer.expect(MessageKind::CloseConnection);
    peer.expect_end();
    // Also one that is dropped before there is a connection.
    let private = reach(&orb, &text).with_private_connection();
    drop(act_at(&rt, &private, 40));
    drop(private);
    server.accept().expect_end();
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: bands, private connections, markers,
/// bindings
#[test]
fn connections_end_when_they_are_idle() {
    let server = FakeServer::listen();
    let orb = Orb::new(Config {
        limits: Limits {
            client_idle_time: Some(Duration::from_millis(100)),
            ..Limits::default()
        },
        ..Config::default()
    });
    let orb = orb.unwrap();
    let rt = soft().install(&orb).unwrap();
    let text = reference(2, &[server.port()], b"x", &[]).to_string();
    let shared = reach(&orb, &text);
    for target in [shared.with_private_connection(), shared] {
        let call = act_at(&rt, &target, 40);
        let mut peer = server.accept();
        let request = peer.expect_request("act");
        // One that is awaited is not.
        assert!(peer.is_silent(Duration::from_millis(300)));
        peer.answer(&request, |writer| writer.write_u32(7));
        assert_eq!(result(call), Ok(7));
        peer.expect(MessageKind::CloseConnection);
        peer.expect_end();
    }
}

fn granted(priority: i16) -> Option<DedicationReply> {
    Some(DedicationReply::Granted {
        priority: Some(priority),
    })
}

fn granting(config: Config) -> (Orb, RtOrb, Target) {
    let (orb, rt) = server_with(config, soft());
    rt.serve_bindings(Budget::new().priorities(0..=50)).unwrap();
    let object: Target = orb.root_poa().activate(teller()).unwrap();
    (orb, rt, object)
}

/// Conformance: RT 5.7, 5.3 - asynchronous invocations: bands, private connections, markers,
/// bindings
#[test]
fn a_marked_connection_has_one_thread_and_its_client_gets_the_answer() {
    each_strategy(|strategy| {
        let (server_orb, _, object) = granting(Config {
            strategy,
            ..Config::default()
        });
        let (orb, rt) = client();
        let plain = seen_by(&orb, &server_orb, &object);
        let marked = plain.with_dedicated_thread(Priority::new(30));
        assert_eq!(marked.dedication(), None);
        // Many at once ask for one thread.
        let (of_calls, target) = (rt.clone(), marked.clone());
        let calls = on_a_thread(move || {
            of_calls.current().set_the_priority(40).unwrap();
            (0..50).map(|_| act(&target, 0)).collect::<Vec<_>>()
        });
        for call in calls {
            assert_eq!(result(call), Ok(30), "{strategy}");
        }
        assert_eq!(marked.dedication(), granted(30), "{strategy}");
        assert_eq!(server_orb.dedicated_threads(), 1, "{strategy}");
        assert_eq!(at(&rt, &plain, [40]), [Ok(-1)], "{strategy}");
        drop(marked);
        eventually("the thread is free", || server_orb.dedicated_threads() == 0);
        server_orb.shutdown(true).unwrap();
    });
}

#[test]
fn beyond_the_limit_marked_connections_are_served_as_ever() {
    let (server_orb, _, object) = granting(Config {
        limits: Limits {
            dedicated_threads: 1,
            ..Limits::default()
        },
        ..Config::default()
    });
    let (orb, rt) = client();
    let plain = seen_by(&orb, &server_orb, &object);
    let first = plain.with_dedicated_thread(Priority::new(30));
    let second = plain.with_dedicated_thread(Priority::new(30));
    assert_eq!(at(&rt, &first, [40]), [Ok(30)]);
    assert_eq!(at(&rt, &second, [40]), [Ok(-1)]);
    let refused = Some(DedicationReply::Refused(Undedicated::Limit));
    assert_eq!(second.dedication(), refused);
    drop(first);
    eventually("the thread is free", || server_orb.dedicated_threads() == 0);
    let third = plain.with_dedicated_thread(Priority::new(30));
    assert_eq!(at(&rt, &third, [40]), [Ok(30)]);
    drop(third);
    eventually("the thread is free", || server_orb.dedicated_threads() == 0);
    let refused = plain.with_dedicated_thread(Priority::new(51));
    assert_eq!(at(&rt, &refused, [40]), [Ok(-1)]);
    let why = Some(DedicationReply::Refused(Undedicated::Priority));
    assert_eq!(refused.dedication(), why);
    assert_eq!(
        refused.as_object().ior().to_string(),
        plain.as_object().ior().to_string()
    );
}
