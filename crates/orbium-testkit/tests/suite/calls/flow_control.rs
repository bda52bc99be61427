// SPDX-License-Identifier: MIT OR Apache-2.0
//! The notice of flow control of buffered oneways.

use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use orbium::{
    Interface, Orb,
    policy::{FlowControl, SyncScope},
};
use orbium_testkit::probe::Target;
use orbium_testkit::{FakeServer, Peer, within};

use super::buffered_oneways::{client_with_room_for, fill, posts, target_of};

fn buffering() -> (FakeServer, Orb, Target) {
    let (server, client) = (FakeServer::listen(), client_with_room_for(100_000));
    let target = target_of(&server, &client).with_sync_scope(SyncScope::None);
    (server, client, target)
}

/// Every change, in order.
fn observed(client: &Orb) -> Receiver<FlowControl> {
    let (changes, observed) = mpsc::channel();
    assert!(client.observe_flow_control(move |_, change| changes.send(change).unwrap()));
    observed
}

fn next(observed: &Receiver<FlowControl>) -> FlowControl {
    observed.recv_timeout(Duration::from_secs(60)).unwrap()
}

/// Receives what fills the buffer.
fn drained(server: &FakeServer, sent: usize) -> Peer {
    let mut peer = server.accept();
    for _ in 0..sent {
        peer.expect_request("pour");
    }
    peer
}

/// Conformance: Messaging - buffered oneways - begin and end of flow control are handed to a call-back
#[test]
fn the_observer_gets_the_begin_and_the_end() {
    let (server, client, target) = buffering();
    let (changes, observed) = mpsc::channel();
    let orb = client.clone();
    let is_observed = client.observe_flow_control(move |channel, change| {
        // It may use the ORB.
        orb.policy_manager().set_sync_scope(None);
        changes.send((channel.to_string(), change)).unwrap();
    });
    assert!(is_observed);
    assert!(!client.observe_flow_control(|_, _| {}));
    let next = || observed.recv_timeout(Duration::from_secs(60)).unwrap();
    let sent = within("the calls", {
        let target = target.clone();
        move || fill(&target)
    });
    let (channel, change) = next();
    assert_eq!(change, FlowControl::Begins);
    assert!(channel.contains(&server.port().to_string()), "{channel}");
    let mut peer = drained(&server, sent);
    assert_eq!(next(), (channel, FlowControl::Ends));
    target.post(5).unwrap();
    assert_eq!(posts(&mut peer, 1), [5]);
    assert!(observed.try_recv().is_err());
}

/// Conformance: Messaging - buffered oneways - begin and end of flow control are handed to a call-back
#[test]
fn flow_control_ends_with_the_connection() {
    let (server, client, target) = buffering();
    let observed = observed(&client);
    within("the calls", move || fill(&target));
    assert_eq!(next(&observed), FlowControl::Begins);
    drop(server);
    within("the shutdown", move || client.shutdown(true)).unwrap();
    assert_eq!(next(&observed), FlowControl::Ends);
    // The thread of the notice ends.
    let end = observed.recv_timeout(Duration::from_secs(60));
    assert_eq!(end, Err(mpsc::RecvTimeoutError::Disconnected));
}

fn blocks_until(open: Receiver<()>, began: Sender<()>) -> impl FnMut(FlowControl) + Send {
    move |_| {
        began.send(()).unwrap();
        let _ = open.recv();
    }
}

/// Conformance: Messaging - buffered oneways - a call-back that blocks or panics holds up no oneway
#[test]
fn an_observer_that_blocks_or_panics_holds_up_nothing() {
    let (server, client, target) = buffering();
    let ((open, opened), (begin, began)) = (mpsc::channel(), mpsc::channel());
    let mut block = blocks_until(opened, begin);
    assert!(client.observe_flow_control(move |_, change| {
        block(change);
        panic!("an observer's");
    }));
    let sent = within("the calls", {
        let target = target.clone();
        move || fill(&target)
    });
    began.recv_timeout(Duration::from_secs(60)).unwrap();
    // It blocks now, and the buffer is sent all the same.
    let mut peer = drained(&server, sent);
    target.post(5).unwrap();
    assert_eq!(posts(&mut peer, 1), [5]);
    assert!(began.try_recv().is_err());
    // It panics, and is called again.
    drop(open);
    began.recv_timeout(Duration::from_secs(60)).unwrap();
    target.post(6).unwrap();
    assert_eq!(posts(&mut peer, 1), [6]);
}
