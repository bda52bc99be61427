// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets of pollables (`CORBA::PollableSet`).

use std::time::Duration;

use orbium::giop::MessageKind;
use orbium::{
    Completion, ExceptionKind, SystemException,
    asynchronous::{Asynchronous, PollableError, PollableSet},
};
use orbium_testkit::{Peer, Request, within};

use super::{Scripted, answer, argument, echo};

const LONG: Option<Duration> = Some(Duration::from_secs(60));

/// So many calls under way, in a set, and the requests of them.
fn under_way(count: i32) -> (Scripted, Peer, PollableSet<Asynchronous<i32>>, Vec<Request>) {
    let (scripted, mut peer) = Scripted::connected();
    let mut set = PollableSet::new();
    for v in 0..count {
        set.add(echo(&scripted.object, v));
    }
    let requests = (0..count).map(|_| peer.expect_request("echo_long"));
    let requests = requests.collect();
    (scripted, peer, set, requests)
}

fn reply_to(peer: &mut Peer, request: &Request) {
    peer.answer(request, |w| w.write_u32(argument(request)));
}

fn next(set: &mut PollableSet<Asynchronous<i32>>) -> Result<i32, SystemException> {
    let (_, call) = set.next_ready(LONG).unwrap();
    assert!(call.is_ready(Some(Duration::ZERO)));
    call.wait()
}

fn raised(kind: ExceptionKind) -> PollableError {
    PollableError::System(SystemException::omg(kind, 1, Completion::Maybe))
}

/// Conformance: Messaging - pollable sets - get_ready_pollable: in the order of the replies; number_left
#[test]
fn calls_come_in_the_order_of_their_replies() {
    let (scripted, mut peer, mut set, requests) = under_way(3);
    for place in [2, 0, 1] {
        reply_to(&mut peer, &requests[place]);
        assert_eq!(next(&mut set), Ok(place as i32));
    }
    assert_eq!(set.number_left(), 0);
    scripted.end();
}

/// Conformance: Messaging - pollable sets - none ready: NO_RESPONSE 1 at once, TIMEOUT 1 after a time; an empty set: NoPossiblePollable
#[test]
fn without_a_reply_there_is_no_ready_pollable() {
    let mut empty = PollableSet::<Asynchronous<i32>>::new();
    let nothing = Some(PollableError::NoPossiblePollable);
    assert_eq!(empty.next_ready(None).err(), nothing);
    let (scripted, mut peer, mut set, requests) = under_way(1);
    let refused = set.next_ready(Some(Duration::ZERO)).err();
    assert_eq!(refused, Some(raised(ExceptionKind::NoResponse)));
    let refused = set.next_ready(Some(Duration::from_millis(1))).err();
    assert_eq!(refused, Some(raised(ExceptionKind::Timeout)));
    assert_eq!(set.number_left(), 1);
    reply_to(&mut peer, &requests[0]);
    assert_eq!(next(&mut set), Ok(0));
    assert_eq!(set.next_ready(None).err(), nothing);
    scripted.end();
}

/// Conformance: Messaging - pollable sets - remove, ready or not; UnknownPollable
#[test]
fn calls_are_removed_ready_or_not() {
    let (scripted, mut peer) = Scripted::connected();
    let mut set = PollableSet::new();
    let ids = [0, 1, 2].map(|v| set.add(echo(&scripted.object, v)));
    answer(&mut peer, 3);
    let first = set.remove(ids[1]).unwrap();
    assert_eq!(within("the call", move || first.wait()), Ok(1));
    let unknown = PollableError::UnknownPollable;
    assert_eq!(set.remove(ids[1]).err(), Some(unknown));
    let mut left = [next(&mut set), next(&mut set)];
    left.sort_by_key(|it| it.unwrap_or_default());
    assert_eq!(left, [Ok(0), Ok(2)]);
    scripted.end();
}

/// Conformance: Messaging - pollable sets - add_pollable of a call that has its result, or raised an exception
#[test]
fn calls_that_are_over_are_ready() {
    let (scripted, mut peer) = Scripted::connected();
    let call = echo(&scripted.object, 7);
    answer(&mut peer, 1);
    assert!(call.is_ready(LONG));
    let mut set = PollableSet::new();
    let id = set.add(call);
    let (ready, call) = set.next_ready(Some(Duration::ZERO)).unwrap();
    assert_eq!((ready, call.wait()), (id, Ok(7)));
    let hurried = scripted.object.with_timeout(Duration::from_millis(1));
    set.add(echo(&hurried, 8));
    assert_eq!(next(&mut set).unwrap_err().kind, ExceptionKind::Timeout);
    scripted.end();
}

/// Conformance: Messaging - pollable sets - waited for on another thread
#[test]
fn another_thread_waits() {
    let (scripted, mut peer, mut set, requests) = under_way(2);
    let waiting = orbium_testkit::spawn(move || (next(&mut set), set));
    reply_to(&mut peer, &requests[1]);
    let (first, mut set) = within("the other thread", move || waiting.join().unwrap());
    assert_eq!(first, Ok(1));
    set.add(echo(&scripted.object, 5));
    answer(&mut peer, 1);
    assert_eq!(next(&mut set), Ok(5));
    assert_eq!(set.number_left(), 1);
    scripted.end();
}

/// Conformance: Messaging - pollable sets - what is dropped with its set is cancelled
#[test]
fn a_set_that_is_dropped_cancels_its_calls() {
    let (scripted, mut peer, set, requests) = under_way(1);
    drop(set);
    let cancelled = peer.expect(MessageKind::CancelRequest).cancelled();
    assert_eq!(cancelled, requests[0].id);
    scripted.end();
}
