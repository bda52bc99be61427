// SPDX-License-Identifier: MIT OR Apache-2.0
//! Servers that say that an object is elsewhere, to clients that choose connections by thread.

use crate::common::client;
use orbium_core::{Completion, ExceptionKind, ProtocolPolicy};
use orbium_giop::{Ior, ReplyStatus};
use orbium_testkit::{FakeServer, Peer, reach, reference};

/// A forward that a thread with private connections was sent once held for all threads, with its policies, and not for
/// the thread itself: each of its calls went to the first server.
///
/// Conformance: RT 5.4 - these policies for a thread
#[test]
fn a_forward_is_remembered_for_the_policies_that_it_was_sent_under() {
    let (first, second) = (FakeServer::listen(), FakeServer::listen());
    let there = reference(2, &[second.port()], b"there", &[]);
    let (client_orb, client_rt) = client();
    let here = reference(2, &[first.port()], b"here", &[]);
    let target = reach(&client_orb, &here.to_string());
    let call_privately = |result: i32| {
        let (rt, target) = (client_rt.clone(), target.clone());
        std::thread::spawn(move || {
            rt.set_thread_connections(None, true).unwrap();
            assert_eq!(target.echo_long(0), Ok(result));
        })
    };
    let calling = call_privately(1);
    let mut private = first.accept();
    forward(&mut private, &there);
    let mut private_there = second.accept();
    answer(&mut private_there, 1);
    calling.join().unwrap();
    // The next such call goes there, over that connection.
    let calling = call_privately(2);
    answer(&mut private_there, 2);
    calling.join().unwrap();
    // Calls of other threads share connections, so they ask the first server themselves.
    let calling = std::thread::spawn(move || assert_eq!(target.echo_long(0), Ok(3)));
    forward(&mut first.accept(), &there);
    answer(&mut second.accept(), 3);
    calling.join().unwrap();
}

/// A call on a forward held the reference with its policies only weakly: when calls under eight other
/// policies had replaced that, the call fell back without its policies, and its next forward held
/// for all threads.
///
/// Conformance: RT 5.4 - these policies for a thread
#[test]
fn a_call_falls_back_under_its_policies_after_others_have_replaced_them() {
    let (first, second) = (FakeServer::listen(), FakeServer::listen());
    let there = reference(2, &[second.port()], b"there", &[]);
    let (client_orb, client_rt) = client();
    let here = reference(2, &[first.port()], b"here", &[]);
    let target = reach(&client_orb, &here.to_string());
    let private = target.clone();
    let calling = std::thread::spawn(move || {
        client_rt.set_thread_connections(None, true).unwrap();
        private.echo_long(0)
    });
    let mut private = first.accept();
    forward(&mut private, &there);
    let mut private_there = second.accept();
    let request = private_there.expect_request("echo_long");
    for other in 0..8 {
        let unusable = ProtocolPolicy::new([format!("other-{other}")]);
        client_orb.set_thread_protocols(Some(unusable));
        let refused = target.echo_long(0).map_err(|refused| refused.kind);
        assert_eq!(refused, Err(ExceptionKind::InvPolicy));
    }
    client_orb.set_thread_protocols(None);
    private_there.answer_with(&request, ReplyStatus::SystemException, |writer| {
        writer.write_name("IDL:omg.org/CORBA/TRANSIENT:1.0");
        writer.write_u32(0);
        writer.write_u32(Completion::No as u32);
    });
    let mut private = first.accept();
    forward(&mut private, &there);
    answer(&mut second.accept(), 1);
    assert_eq!(calling.join().unwrap(), Ok(1));
    // Calls without policies have neither its connections nor its forward.
    let calling = std::thread::spawn(move || target.echo_long(0));
    answer(&mut first.accept(), 2);
    assert_eq!(calling.join().unwrap(), Ok(2));
}

fn forward(peer: &mut Peer, to: &Ior) {
    let request = peer.expect_request("echo_long");
    peer.forward(&request, to);
}

fn answer(peer: &mut Peer, value: u32) {
    let request = peer.expect_request("echo_long");
    peer.answer(&request, |writer| writer.write_u32(value));
}
