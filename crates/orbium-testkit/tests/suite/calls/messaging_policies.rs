// SPDX-License-Identifier: MIT OR Apache-2.0
//! RebindPolicy and SyncScopePolicy of references.

use std::thread;

use orbium::giop::{Ior, ReplyStatus, ResponseFlags};
use orbium::{
    Completion, Config, ExceptionKind, Interface, Orb, SystemException,
    config::{Limits, ServerStrategy},
    policy::{RebindMode, SyncScope},
};
use orbium_cdr::{CdrWriter, Encode};
use orbium_testkit::probe::Target;
use orbium_testkit::{
    FakeServer, Peer, Served, calling_by, client, dead_port, each_client_strategy, each_strategy,
    eventually, reach, reference, within,
};

type Outcome<T> = Result<T, SystemException>;

/// A scripted server, and the object there as a client sees it.
fn scripted() -> (FakeServer, Orb, Target) {
    let server = FakeServer::listen();
    let client = client();
    let target = reach(&client, &at(&server).to_string());
    (server, client, target)
}

fn at(server: &FakeServer) -> Ior {
    reference(2, &[server.port()], b"x", &[])
}

/// Calls on another thread, so that the test can play the server.
fn calling<T: Send + 'static>(
    target: &Target,
    call: impl FnOnce(&Target) -> Outcome<T> + Send + 'static,
) -> thread::JoinHandle<Outcome<T>> {
    let target = target.clone();
    orbium_testkit::spawn(move || call(&target))
}

fn outcome<T: Send + 'static>(call: thread::JoinHandle<Outcome<T>>) -> Outcome<T> {
    within("the call", move || call.join().unwrap())
}

fn answer(peer: &mut Peer, v: u32) {
    let request = peer.expect_request("echo_long");
    peer.answer(&request, |w| w.write_u32(v));
}

fn forward(peer: &mut Peer, operation: &str, to: &Ior) {
    let request = peer.expect_request(operation);
    peer.answer_with(&request, ReplyStatus::LocationForward, |w| {
        let mut octets = CdrWriter::new(w.format());
        to.encode(&mut octets);
        w.write_raw(&octets.finish().unwrap());
    });
}

/// One call over a new connection.
fn bound(server: &FakeServer, target: &Target) -> Peer {
    let call = calling(target, |it| it.echo_long(1));
    let mut peer = server.accept();
    answer(&mut peer, 7);
    assert_eq!(outcome(call), Ok(7));
    peer
}

/// Conformance: Messaging - RebindPolicy - forwards: TRANSPARENT follows, NO_REBIND and NO_RECONNECT raise REBIND
#[test]
fn a_forward_is_followed_where_the_policy_permits_it() {
    let other = FakeServer::listen();
    for rebind in [
        RebindMode::NoRebind,
        RebindMode::NoReconnect,
        RebindMode::Transparent,
    ] {
        let (server, _client, target) = scripted();
        let call = calling(&target.with_rebind(rebind), |it| it.echo_long(1));
        forward(&mut server.accept(), "echo_long", &at(&other));
        if rebind == RebindMode::Transparent {
            answer(&mut other.accept(), 3);
            assert_eq!(outcome(call), Ok(3));
        } else {
            let exception = outcome(call).unwrap_err();
            assert_eq!(exception.kind, ExceptionKind::Rebind, "{rebind:?}");
        }
    }
}

/// Conformance: Messaging - RebindPolicy - NO_REBIND opens closed connections again
#[test]
fn a_closed_connection_is_opened_again_without_rebinding() {
    let (server, _client, target) = scripted();
    let target = target.with_rebind(RebindMode::NoRebind);
    let mut first = bound(&server, &target);
    let call = calling(&target, |it| it.echo_long(1));
    first.expect_request("echo_long");
    first.close();
    answer(&mut server.accept(), 8);
    assert_eq!(outcome(call), Ok(8));
}

/// Conformance: Messaging - RebindPolicy - NO_RECONNECT: REBIND once the connection is closed
#[test]
fn a_closed_connection_ends_the_binding_without_reconnecting() {
    let (server, _client, target) = scripted();
    let binding = target.with_rebind(RebindMode::NoReconnect);
    let mut peer = bound(&server, &binding);
    // The connection is used as long as it is there.
    let call = calling(&binding, |it| it.echo_long(2));
    answer(&mut peer, 9);
    assert_eq!(outcome(call), Ok(9));
    let call = calling(&binding, |it| it.echo_long(3));
    peer.expect_request("echo_long");
    peer.close();
    assert_eq!(outcome(call).unwrap_err().kind, ExceptionKind::Rebind);
    for _ in 0..2 {
        let refused = outcome(calling(&binding, |it| it.echo_long(4)));
        assert_eq!(refused.unwrap_err().kind, ExceptionKind::Rebind);
    }
    // Another reference binds again.
    let again = target.with_rebind(RebindMode::NoReconnect);
    let call = calling(&again, |it| it.echo_long(5));
    let mut peer = server.accept();
    answer(&mut peer, 6);
    assert_eq!(outcome(call), Ok(6));
}

/// Conformance: Messaging - RebindPolicy - NO_RECONNECT: REBIND for oneways too, with every client strategy
#[test]
fn the_end_of_the_server_ends_the_binding() {
    each_client_strategy(|strategy| {
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let client = Orb::new(Config {
            // The client strategy `reactor` goes with no other.
            strategy: ServerStrategy::Reactive,
            client_strategy: strategy,
            ..Config::default()
        });
        let client = client.unwrap();
        let binding = served.seen_by(&client).with_rebind(RebindMode::NoReconnect);
        for v in 0..3 {
            assert_eq!(binding.echo_long(v), Ok(v));
            binding.post(v).unwrap();
        }
        eventually("all arrived", || served.state.posted().len() == 3);
        served.end();
        // The end of the connection need not have arrived yet.
        eventually("the binding has ended", || {
            binding
                .echo_long(1)
                .is_err_and(|it| it.kind == ExceptionKind::Rebind)
        });
        let exception = binding.post(1).unwrap_err();
        assert_eq!(exception.kind, ExceptionKind::Rebind);
    });
}

/// Regression: an argument longer than `limits.message_size`, of which nothing is sent, ended the
/// connection, the idle ones to the same server, and the binding.
#[test]
fn an_argument_that_is_too_large_leaves_the_binding() {
    each_client_strategy(|strategy| {
        let served = Served::new(ServerStrategy::ThreadPerConnection);
        let client = Orb::new(Config {
            limits: Limits {
                message_size: 1 << 16,
                ..Limits::default()
            },
            ..calling_by(strategy)
        });
        let client = client.unwrap();
        let binding = served.seen_by(&client).with_rebind(RebindMode::NoReconnect);
        assert_eq!(binding.echo_long(1), Ok(1));
        let octets = vec![0; 1 << 17];
        for sent in [
            binding.echo_octets(&octets).map(drop),
            binding.pour(&octets),
        ] {
            let refused = sent.unwrap_err();
            assert_eq!(refused.kind, ExceptionKind::Marshal);
            assert_eq!(refused.completed, Completion::No);
            assert_eq!(binding.echo_long(2), Ok(2));
        }
        client.shutdown(true).unwrap();
        served.end();
    });
}

/// Regression: a connection that could not be opened counted as one that was lost.
#[test]
fn a_connection_that_cannot_be_opened_leaves_the_binding() {
    let (server, _client, target) = scripted();
    let binding = target.with_rebind(RebindMode::NoReconnect);
    let mut peer = bound(&server, &binding);
    let first = calling(&binding, |it| it.echo_long(2));
    let request = peer.expect_request("echo_long");
    drop(server);
    // The only connection is busy.
    outcome(calling(&binding, |it| it.echo_long(3))).unwrap_err();
    peer.answer(&request, |w| w.write_u32(8));
    assert_eq!(outcome(first), Ok(8));
    let call = calling(&binding, |it| it.echo_long(4));
    answer(&mut peer, 9);
    assert_eq!(outcome(call), Ok(9));
}

/// A reference that was never bound says why it cannot be.
#[test]
fn without_a_binding_a_server_that_is_not_there_is_no_rebind() {
    let client = client();
    let nowhere = reference(2, &[dead_port()], b"x", &[]).to_string();
    let target = reach(&client, &nowhere).with_rebind(RebindMode::NoReconnect);
    for _ in 0..2 {
        let exception = target.echo_long(1).unwrap_err();
        assert_eq!(exception.kind, ExceptionKind::Transient);
    }
}

/// Conformance: Messaging - SyncScopePolicy - the flags of each scope
/// Conformance: TAO 19 - each SyncScope reports what it should - the client's side
#[test]
fn a_oneway_says_which_answer_it_wants() {
    let (server, _client, target) = scripted();
    let mut peer = None;
    for (scope, wanted) in [
        (SyncScope::WithTransport, ResponseFlags::None),
        (SyncScope::WithServer, ResponseFlags::SyncWithServer),
        (SyncScope::WithTarget, ResponseFlags::Full),
    ] {
        let call = calling(&target.with_sync_scope(scope), |it| it.post(5));
        let peer = peer.get_or_insert_with(|| server.accept());
        let request = peer.expect_request("post");
        assert_eq!(request.response, wanted);
        if wanted != ResponseFlags::None {
            assert!(!call.is_finished());
            peer.answer(&request, |_| {});
        }
        assert_eq!(outcome(call), Ok(()));
    }
}

/// Conformance: Messaging - SyncScopePolicy - SYNC_WITH_TARGET returns after the servant, SYNC_WITH_SERVER after the server
#[test]
fn acknowledged_oneways_arrive_with_every_server_strategy() {
    each_strategy(|strategy| {
        let served = Served::new(strategy);
        let (client, target) = served.client();
        let awaited = target.with_sync_scope(SyncScope::WithTarget);
        for v in 0..20 {
            awaited.post(v).unwrap();
            assert_eq!(served.state.posted().last(), Some(&v));
        }
        let received = target.with_sync_scope(SyncScope::WithServer);
        for v in 20..40 {
            received.post(v).unwrap();
        }
        eventually("all arrived", || served.state.posted().len() == 40);
        // Operations with a reply do not change.
        assert_eq!(received.echo_long(4), Ok(4));
        client.shutdown(true).unwrap();
        served.end();
    });
}

/// Conformance: Messaging - SyncScopePolicy - failures and forwards of acknowledged oneways
/// Conformance: TAO 19 - each SyncScope reports what it should - the client's side
#[test]
fn acknowledged_oneways_raise_failures_and_follow_forwards() {
    let served = Served::new(ServerStrategy::Reactive);
    let (client, target) = served.client();
    let unknown = target.as_object().with_object_key(b"Nobody", "").unwrap();
    let unknown = Target::from_object(unknown);
    unknown.post(1).unwrap();
    for scope in [SyncScope::WithServer, SyncScope::WithTarget] {
        let exception = unknown.with_sync_scope(scope).post(1).unwrap_err();
        assert_eq!(exception.kind, ExceptionKind::ObjectNotExist, "{scope:?}");
        let elsewhere = FakeServer::listen();
        let moved = reach(&client, &at(&elsewhere).to_string()).with_sync_scope(scope);
        let call = calling(&moved, |it| it.post(7));
        let mut peer = elsewhere.accept();
        forward(&mut peer, "post", target.as_object().ior());
        assert_eq!(outcome(call), Ok(()));
    }
    eventually("both arrived", || served.state.posted() == [7, 7]);
    client.shutdown(true).unwrap();
    served.end();
}

/// Within one ORB too.
#[test]
fn acknowledged_oneways_to_objects_of_the_same_orb() {
    let served = Served::new(ServerStrategy::Reactive);
    let here = served.seen_by(&served.orb);
    for scope in [SyncScope::WithServer, SyncScope::WithTarget] {
        here.with_sync_scope(scope).post(3).unwrap();
    }
    assert_eq!(served.state.posted(), [3, 3]);
    let binding = here.with_rebind(RebindMode::NoReconnect);
    assert_eq!(binding.echo_long(2), Ok(2));
    served.end();
}
