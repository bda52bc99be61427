// SPDX-License-Identifier: MIT OR Apache-2.0
//! SYNC_NONE: the connection of a buffer, which calls need too, and what becomes of the buffer
//! without one.

use std::sync::mpsc;
use std::time::Duration;

use orbium::interceptor::Policy;
use orbium::{
    Config, ExceptionKind, Interface, Orb,
    config::Limits,
    policy::{SetOverride, SyncScope, policy_type},
};
use orbium_core::Operation;
use orbium_testkit::{FakeServer, client, eventually, spawn_blocked, within};

use super::buffered_oneways::{HELD, NEVER, counted, posts, target_of};

/// A client that has at most one connection to a server for calls of one sort.
fn client_with_one_connection() -> Orb {
    let config = Config {
        limits: Limits {
            connections_per_server: 1,
            ..Limits::default()
        },
        ..Config::default()
    };
    Orb::new(config).unwrap()
}

/// A oneway that was being written when a call began to wait for the only connection stayed in the
/// buffer, and the connection with it: the call waited for ever.
#[test]
fn a_call_gets_the_only_connection_once_a_oneway_is_written() {
    static POST: Operation = Operation::oneway("post");
    let (server, client) = (FakeServer::listen(), client_with_one_connection());
    let target = target_of(&server, &client).with_buffering(HELD);
    let (begun, is_begun) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let writing = {
        let object = target.as_object().clone();
        orbium_testkit::spawn(move || {
            object.send(&POST, |w| {
                begun.send(()).unwrap();
                may_go_on.recv().unwrap();
                w.write_u32(5);
            })
        })
    };
    is_begun.recv().unwrap();
    let call = spawn_blocked(move || target.echo_long(7));
    go_on.send(()).unwrap();
    let mut peer = server.accept();
    assert_eq!(posts(&mut peer, 1), [5]);
    let request = peer.expect_request("echo_long");
    peer.answer(&request, |w| w.write_u32(7));
    assert_eq!(within("the oneway", || writing.join().unwrap()), Ok(()));
    assert_eq!(within("the call", || call.join().unwrap()), Ok(7));
}

/// A call that had the only connection made waited for another one to send the buffer over, for ever.
#[test]
fn a_call_sends_the_buffer_over_the_only_connection() {
    // Where the end of the first connection has not arrived yet, the system takes the oneways.
    eventually("the oneways go before the call", || {
        let (server, client) = (FakeServer::listen(), client_with_one_connection());
        let target = target_of(&server, &client).with_buffering(HELD);
        (0..3).for_each(|v| target.post(v).unwrap());
        server.accept().close();
        let call = orbium_testkit::spawn(move || target.echo_long(7));
        let mut peer = server.accept();
        let mut arrived = Vec::new();
        loop {
            let request = peer.receive().request();
            if request.operation == "echo_long" {
                peer.answer(&request, |w| w.write_u32(7));
                break;
            }
            arrived.push(i32::from_ne_bytes(request.body[..4].try_into().unwrap()));
        }
        assert_eq!(within("the call", || call.join().unwrap()), Ok(7));
        arrived == [0, 1, 2]
    });
}

/// Conformance: Messaging - buffered oneways - TIMEOUT of flush_oneways: they stay in the buffer
#[test]
fn a_flush_without_time_to_connect_keeps_the_buffer() {
    // Where the end of the first connection has not arrived yet, the system takes the oneways.
    eventually("the flush has no time to connect", || {
        let (server, client) = (FakeServer::listen(), client());
        let target = target_of(&server, &client).with_buffering(HELD);
        (0..3).for_each(|v| target.post(v).unwrap());
        server.accept().close();
        let flushed = target.flush_oneways(Duration::ZERO);
        if flushed.map_err(|exception| exception.kind) != Err(ExceptionKind::Timeout) {
            return false;
        }
        target.flush_oneways(NEVER).unwrap();
        assert_eq!(posts(&mut server.accept(), 3), [0, 1, 2]);
        assert_eq!(counted(&client, "lost"), 0);
        true
    });
}

/// Conformance: ORB - set_policy_overrides: SET_OVERRIDE replaces all, ADD_OVERRIDE merges
#[test]
fn buffering_constraints_go_with_the_policies_that_set_override_removes() {
    let (server, client) = (FakeServer::listen(), client());
    let target = target_of(&server, &client).with_buffering(HELD);
    let at_once = [Policy::new(policy_type::SYNC_SCOPE, SyncScope::None)];
    let target = target.with_policies(&at_once, SetOverride::Set).unwrap();
    target.post(1).unwrap();
    assert_eq!(posts(&mut server.accept(), 1), [1]);
}
