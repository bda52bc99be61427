// SPDX-License-Identifier: MIT OR Apache-2.0
//! SyncScopePolicy and RebindPolicy of threads and of ORBs.

use std::thread;

use orbium::giop::{Ior, ReplyStatus, ResponseFlags};
use orbium::interceptor::Policy;
use orbium::{
    ExceptionKind, Interface, Orb, SystemException,
    asynchronous::Asynchronous,
    policy::{BufferingConstraint, RebindMode, SetOverride, SyncScope, policy_type},
};
use orbium_cdr::{CdrWriter, Decode, Encode};
use orbium_core::Operation;
use orbium_testkit::probe::Target;
use orbium_testkit::{FakeServer, Peer, client, reference, within};

use super::buffered_oneways::{A_MOMENT, HELD, posts, target_of};

static ECHO_LONG: Operation = Operation::new("echo_long");

/// Runs on a thread of its own; the policies of the thread end with it.
fn on_thread<T: Send + 'static>(
    target: &Target,
    run: impl FnOnce(&Target) -> Result<T, SystemException> + Send + 'static,
) -> thread::JoinHandle<Result<T, SystemException>> {
    let target = target.clone();
    orbium_testkit::spawn(move || run(&target))
}

fn ended<T: Send + 'static>(
    call: thread::JoinHandle<Result<T, SystemException>>,
) -> Result<T, SystemException> {
    within("the call", move || call.join().unwrap())
}

/// Clients of one scripted server, over one connection.
struct Oneways {
    server: FakeServer,
    client: Orb,
    target: Target,
    peer: Option<Peer>,
}

impl Oneways {
    fn new() -> Self {
        let (server, client) = (FakeServer::listen(), client());
        let target = target_of(&server, &client);
        Self {
            server,
            client,
            target,
            peer: None,
        }
    }

    /// Sends a oneway on a thread with that policy; what it asks of the server.
    fn asks(&mut self, target: &Target, of_thread: Option<SyncScope>) -> ResponseFlags {
        let orb = self.client.clone();
        let call = on_thread(target, move |it| {
            orb.policy_current().set_sync_scope(of_thread);
            it.post(5)
        });
        let peer = self.peer.get_or_insert_with(|| self.server.accept());
        let request = peer.expect_request("post");
        if request.response != ResponseFlags::None {
            assert!(!call.is_finished());
            peer.answer(&request, |_| {});
        }
        assert_eq!(ended(call), Ok(()));
        request.response
    }
}

/// Conformance: Messaging - SyncScopePolicy - of references, threads and ORBs: the narrowest scope that has it
#[test]
fn the_narrowest_scope_says_when_oneways_return() {
    let mut oneways = Oneways::new();
    let (client, target) = (oneways.client.clone(), oneways.target.clone());
    let server_answers = ResponseFlags::SyncWithServer;
    let of_thread = Some(SyncScope::WithServer);
    assert_eq!(oneways.asks(&target, None), ResponseFlags::None);
    assert_eq!(oneways.asks(&target, of_thread), server_answers);
    client
        .policy_manager()
        .set_sync_scope(Some(SyncScope::WithTarget));
    assert_eq!(oneways.asks(&target, None), ResponseFlags::Full);
    assert_eq!(oneways.asks(&target, of_thread), server_answers);
    // Its own, the default included.
    for (own, flags) in [
        (SyncScope::WithTransport, ResponseFlags::None),
        (SyncScope::WithTarget, ResponseFlags::Full),
    ] {
        let own = target.with_sync_scope(own);
        assert_eq!(oneways.asks(&own, of_thread), flags);
    }
    client.policy_manager().set_sync_scope(None);
    assert_eq!(oneways.asks(&target, None), ResponseFlags::None);
}

/// Conformance: Messaging - SyncScopePolicy - of references, threads and ORBs: the narrowest scope that has it
#[test]
fn policies_by_number_are_those_that_typed_methods_set() {
    let mut oneways = Oneways::new();
    let (client, target) = (oneways.client.clone(), oneways.target.clone());
    client
        .policy_manager()
        .set_sync_scope(Some(SyncScope::WithServer));
    let policy = &client.policies(&[policy_type::SYNC_SCOPE])[0];
    assert_eq!(policy.value(), Some(&SyncScope::WithServer));
    client
        .policy_current()
        .set_rebind(Some(RebindMode::NoRebind));
    let policy = target.client_policy(policy_type::REBIND).unwrap();
    assert_eq!(policy.value(), Some(&RebindMode::NoRebind));
    let awaited = [Policy::new(policy_type::SYNC_SCOPE, SyncScope::WithTarget)];
    client
        .policy_manager()
        .set_policies(&awaited, SetOverride::Set)
        .unwrap();
    assert_eq!(oneways.asks(&target, None), ResponseFlags::Full);
}

/// Conformance: Messaging - buffered oneways - of threads and ORBs
#[test]
fn a_thread_and_the_orb_buffer_oneways() {
    let (server, client) = (FakeServer::listen(), client());
    let target = target_of(&server, &client);
    let two = BufferingConstraint {
        message_count: Some(2),
        ..HELD
    };
    client
        .policy_current()
        .set_sync_scope(Some(SyncScope::None));
    client.policy_current().set_buffering(Some(two));
    target.post(1).unwrap();
    let mut peer = server.accept();
    assert!(peer.is_silent(A_MOMENT));
    target.post(2).unwrap();
    assert_eq!(posts(&mut peer, 2), [1, 2]);
    // Sent by hand, and before a call with a reply.
    target.post(3).unwrap();
    let flush = on_thread(&target, {
        let orb = client.clone();
        move |it| {
            orb.policy_current().set_sync_scope(Some(SyncScope::None));
            orb.policy_current().set_buffering(Some(two));
            it.flush_oneways(std::time::Duration::from_secs(60))
        }
    });
    assert_eq!(ended(flush), Ok(()));
    assert_eq!(posts(&mut peer, 1), [3]);
    client.policy_current().set_sync_scope(None);
    client.policy_current().set_buffering(None);
    client
        .policy_manager()
        .set_sync_scope(Some(SyncScope::None));
    client.policy_manager().set_buffering(Some(two));
    target.post(4).unwrap();
    let call = on_thread(&target, |it| it.echo_long(5));
    assert_eq!(posts(&mut peer, 1), [4]);
    let request = peer.expect_request("echo_long");
    peer.answer(&request, |w| w.write_u32(6));
    assert_eq!(ended(call), Ok(6));
}

fn forward(peer: &mut Peer, to: &Ior) {
    let request = peer.expect_request("echo_long");
    peer.answer_with(&request, ReplyStatus::LocationForward, |w| {
        let mut octets = CdrWriter::new(w.format());
        to.encode(&mut octets);
        w.write_raw(&octets.finish().unwrap());
    });
}

/// Conformance: Messaging - RebindPolicy - of references, threads and ORBs: the narrowest scope that has it
#[test]
fn the_narrowest_scope_says_whether_forwards_are_followed() {
    type Scopes = [Option<RebindMode>; 3];
    let follow = Some(RebindMode::Transparent);
    let stay = Some(RebindMode::NoRebind);
    let cases: [(Scopes, bool); 5] = [
        ([None, None, None], true),
        ([None, None, stay], false),
        ([None, stay, follow], false),
        ([None, follow, stay], true),
        ([follow, stay, stay], true),
    ];
    for ([own, of_thread, of_orb], is_followed) in cases {
        let (server, other) = (FakeServer::listen(), FakeServer::listen());
        let client = client();
        let target = target_of(&server, &client);
        let target = own.map_or(target.clone(), |own| target.with_rebind(own));
        client.policy_manager().set_rebind(of_orb);
        let orb = client.clone();
        let call = on_thread(&target, move |it| {
            orb.policy_current().set_rebind(of_thread);
            it.echo_long(1)
        });
        let to = reference(2, &[other.port()], b"y", &[]);
        forward(&mut server.accept(), &to);
        if is_followed {
            let mut peer = other.accept();
            let request = peer.expect_request("echo_long");
            peer.answer(&request, |w| w.write_u32(3));
            assert_eq!(ended(call), Ok(3));
        } else {
            let exception = ended(call).unwrap_err();
            assert_eq!(exception.kind, ExceptionKind::Rebind);
        }
    }
}

/// Conformance: Messaging - RebindPolicy - of references, threads and ORBs: the narrowest scope that has it
#[test]
fn asynchronous_calls_have_the_policies_of_the_thread_that_begins_them() {
    let (server, other, client) = (FakeServer::listen(), FakeServer::listen(), client());
    let target = target_of(&server, &client);
    client
        .policy_current()
        .set_rebind(Some(RebindMode::NoRebind));
    let object = target.as_object();
    let call: Asynchronous<i32> = object.call_async(&ECHO_LONG, 1, Encode::encode, i32::decode);
    client.policy_current().set_rebind(None);
    forward(
        &mut server.accept(),
        &reference(2, &[other.port()], b"y", &[]),
    );
    let exception = within("the call", move || call.wait()).unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::Rebind);
}

/// Conformance: Messaging - RebindPolicy - NO_RECONNECT of a thread: REBIND once the connection is closed
#[test]
fn a_thread_without_reconnecting_ends_its_binding() {
    let (server, client) = (FakeServer::listen(), client());
    let target = target_of(&server, &client);
    let orb = client.clone();
    let calls = on_thread(&target, move |it| {
        orb.policy_current()
            .set_rebind(Some(RebindMode::NoReconnect));
        it.echo_long(1)?;
        it.echo_long(2)
    });
    let mut peer = server.accept();
    let request = peer.expect_request("echo_long");
    peer.answer(&request, |w| w.write_u32(1));
    peer.expect_request("echo_long");
    peer.close();
    let exception = ended(calls).unwrap_err();
    assert_eq!(exception.kind, ExceptionKind::Rebind);
    // Other threads reconnect.
    let call = on_thread(&target, |it| it.echo_long(3));
    let mut peer = server.accept();
    let request = peer.expect_request("echo_long");
    peer.answer(&request, |w| w.write_u32(4));
    assert_eq!(ended(call), Ok(4));
}

/// Within one ORB, and through references that many policies were applied to.
#[test]
fn references_of_the_same_orb_keep_to_the_policies_of_the_thread() {
    let served = orbium_testkit::Served::new(orbium::config::ServerStrategy::Reactive);
    let here = served.seen_by(&served.orb);
    for scope in [
        SyncScope::WithServer,
        SyncScope::WithTarget,
        SyncScope::None,
    ] {
        served.orb.policy_current().set_sync_scope(Some(scope));
        here.post(3).unwrap();
    }
    orbium_testkit::eventually("all arrived", || served.state.posted() == [3, 3, 3]);
    for count in 2..30 {
        served
            .orb
            .policy_current()
            .set_buffering(Some(BufferingConstraint {
                message_count: Some(count),
                ..BufferingConstraint::default()
            }));
        assert_eq!(here.echo_long(2), Ok(2));
    }
    served.orb.policy_current().set_sync_scope(None);
    served.orb.policy_current().set_buffering(None);
    served.end();
}
