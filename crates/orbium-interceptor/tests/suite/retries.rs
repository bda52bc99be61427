// SPDX-License-Identifier: MIT OR Apache-2.0
//! Retries of requests: the attempt ends with `receive_other`, TRANSPORT_RETRY, and the next one is
//! a separate flow.

use std::thread;

use orbium::giop::ReplyStatus;
use orbium::interceptor::{
    ClientInterceptor, ClientRequest, Interceptors, Interrupt, ReceiveOther, ReceiveReply,
    SendRequest, SlotId,
};
use orbium::{Any, Interface, Orb, SystemException};
use orbium_cdr::{Decode, Encode};
use orbium_core::Operation;
use orbium_testkit::probe::Target;
use orbium_testkit::{FakeServer, Peer, Request, reach, reference, within};

use crate::Tested;
use crate::recorder::Journal;

static ECHO: Operation = Operation::new("echo_long");

/// Records the points of each attempt, with its id and the slot of its caller.
#[derive(Clone)]
struct Noting {
    journal: Journal,
    slot: SlotId,
}

impl Noting {
    fn note(&self, point: &str, it: &ClientRequest<'_>) -> Result<(), SystemException> {
        let slot = it.get_slot(self.slot)?.extract::<i32>()?;
        self.journal
            .note(format!("{} {point}, slot {slot}", it.request_id()));
        Ok(())
    }
}

impl ClientInterceptor for Noting {
    fn send_request(&self, it: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        Ok(self.note("send_request", it)?)
    }

    fn receive_reply(&self, it: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        self.note("receive_reply", it)
    }

    fn receive_other(&self, it: &mut ReceiveOther<'_>) -> Result<(), Interrupt> {
        let point = format!("receive_other {:?}", it.reply_status());
        assert_eq!(it.forward_reference(), None);
        Ok(self.note(&point, it)?)
    }
}

/// Records only the ends without results, so that attempts with results bypass it.
struct Overlooking(Journal);

impl ClientInterceptor for Overlooking {
    fn receive_other(&self, it: &mut ReceiveOther<'_>) -> Result<(), Interrupt> {
        self.0.note(format!("{:?}", it.reply_status()));
        Ok(())
    }
}

fn scripted(interceptors: Interceptors) -> (FakeServer, Orb, Target) {
    let server = FakeServer::listen();
    let ior = reference(2, &[server.port()], b"x", &[]);
    let orb = Orb::builder().interceptors(interceptors).build().unwrap();
    let target = reach(&orb, &ior.to_string());
    (server, orb, target)
}

fn noting() -> (Journal, Interceptors, impl Fn(i32)) {
    let (journal, mut interceptors) = (Journal::default(), Interceptors::new());
    let slot = interceptors.allocate_slot();
    let current = interceptors.current();
    let noting = Noting {
        journal: journal.clone(),
        slot,
    };
    interceptors.add_client(noting).unwrap();
    let set = move |number| current.set_slot(slot, Any::from(number)).unwrap();
    (journal, interceptors, set)
}

fn expected(peer: &mut Peer) -> Request {
    peer.expect_request("echo_long")
}

fn answer(peer: &mut Peer) {
    let request = expected(peer);
    peer.answer(&request, |w| w.write_u32(7));
}

/// The points of a request that is retried once, without the ids of its attempts.
fn retried(points: &[String]) {
    let id_of = |at: usize| points[at].split(' ').next().unwrap();
    let (first, second) = (id_of(0), id_of(2));
    assert_ne!(first, second, "each attempt is a request of its own");
    let wanted = [
        format!("{first} send_request, slot 5"),
        format!("{first} receive_other TransportRetry, slot 5"),
        format!("{second} send_request, slot 5"),
        format!("{second} receive_reply, slot 5"),
    ];
    assert_eq!(points, wanted);
}

/// Conformance: PI - TRANSPORT_RETRY: receive_other, then a new flow with the slots of the call - after CloseConnection
#[test]
fn a_request_after_an_orderly_close_is_a_new_flow() -> Tested {
    let (journal, interceptors, set) = noting();
    let (server, _orb, target) = scripted(interceptors);
    let call = thread::spawn(move || {
        set(5);
        target.echo_long(1)
    });
    let mut first = server.accept();
    expected(&mut first);
    first.close();
    answer(&mut server.accept());
    assert_eq!(within("the call", move || call.join().unwrap())?, 7);
    retried(&journal.take());
    Ok(())
}

/// Conformance: PI - TRANSPORT_RETRY: receive_other, then a new flow with the slots of the call - after NEEDS_ADDRESSING_MODE
#[test]
fn a_request_with_another_address_is_a_new_flow() -> Tested {
    let (journal, interceptors, set) = noting();
    let (server, _orb, target) = scripted(interceptors);
    let call = thread::spawn(move || {
        set(5);
        target.echo_long(1)
    });
    let mut peer = server.accept();
    let request = expected(&mut peer);
    // The profile in place of the key.
    peer.answer_with(&request, ReplyStatus::NeedsAddressingMode, |w| {
        w.write_u16(1);
    });
    answer(&mut peer);
    assert_eq!(within("the call", move || call.join().unwrap())?, 7);
    retried(&journal.take());
    Ok(())
}

/// Conformance: PI - TRANSPORT_RETRY: receive_other, then a new flow with the slots of the call - of an asynchronous call: after `receive_other` with UNKNOWN and `send_poll`
#[test]
fn an_asynchronous_request_that_is_sent_again_is_a_new_flow() -> Tested {
    let (journal, interceptors, set) = noting();
    let (server, _orb, target) = scripted(interceptors);
    set(5);
    let object = target.as_object();
    let call: orbium::asynchronous::Asynchronous<i32> =
        object.call_async(&ECHO, 1, Encode::encode, i32::decode);
    let mut first = server.accept();
    expected(&mut first);
    first.close();
    answer(&mut server.accept());
    assert_eq!(within("the call", move || call.wait())?, 7);
    let points = journal.take();
    let without_ids: Vec<_> = points
        .iter()
        .map(|it| it.split_once(' ').unwrap().1)
        .collect();
    let wanted = [
        "send_request, slot 5",
        "receive_other Unknown, slot 5",
        "receive_other TransportRetry, slot 5",
        "send_request, slot 5",
        "receive_other Unknown, slot 5",
        "receive_reply, slot 5",
    ];
    assert_eq!(without_ids, wanted);
    Ok(())
}

/// Conformance: PI - TRANSPORT_RETRY: receive_other, then a new flow with the slots of the call - where no interceptor implements a point of calls with results
#[test]
fn a_retry_is_seen_where_results_are_overlooked() -> Tested {
    let (journal, mut interceptors) = (Journal::default(), Interceptors::new());
    interceptors.add_client(Overlooking(journal.clone()))?;
    let (server, _orb, target) = scripted(interceptors);
    let call = thread::spawn(move || [target.echo_long(1), target.echo_long(2)]);
    let mut first = server.accept();
    answer(&mut first);
    expected(&mut first);
    first.close();
    answer(&mut server.accept());
    let results = within("the calls", move || call.join().unwrap());
    assert_eq!(results, [Ok(7), Ok(7)]);
    assert_eq!(journal.take(), ["TransportRetry"]);
    Ok(())
}
