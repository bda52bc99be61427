// SPDX-License-Identifier: MIT OR Apache-2.0
//! Message exchange between peers that keep the rules.

use std::time::Duration;

use orbium_channel::connection::{Bounds, Event, Role, Violation};
use orbium_channel::peer_memory::Budget;
use orbium_giop::{ReassemblyLimits, Version, close_connection, message_error};

use super::pair::{
    Found, Pair, cancel, old_request_in_fragments, reply, reply_in_fragments, request,
    request_in_fragments,
};

/// How the octets arrive: at once, and in pieces that end anywhere.
pub(super) const STEPS: [usize; 4] = [usize::MAX, 1, 7, 64];

/// Messages of 1000 octets at most.
pub(super) const NARROW: Bounds = Bounds {
    message: 1000,
    reassembly: ReassemblyLimits {
        message: 1000,
        messages: 4,
        total: 2000,
    },
    message_time: None,
};

pub(super) fn body(octets: usize) -> Vec<u8> {
    (0..octets).map(|at| at as u8).collect()
}

/// Those that were found, without the fragments on the way.
pub(super) fn whole(found: Vec<Found>) -> Vec<Found> {
    let is_whole = |it: &Found| *it != Found::Event(Event::Fragment);
    found.into_iter().filter(is_whole).collect()
}

#[test]
fn requests_and_their_replies_arrive_however_they_are_cut() {
    for step in STEPS {
        let mut pair = Pair::new();
        let first = pair.opener.request("first", b"one");
        let second = pair.opener.request("second", &body(10_000));
        let found = pair.acceptor_finds(step).unwrap();
        let expected = [(first, b"one".to_vec()), (second, body(10_000))];
        assert_eq!(found, expected.map(|(id, body)| Found::Request(id, body)));
        // The replies come in another order.
        pair.acceptor.send(&reply(second, b"2"));
        pair.acceptor.send(&reply(first, &body(20_000)));
        let found = pair.opener_finds(step).unwrap();
        let expected = [
            Found::Reply(Some("second"), b"2".to_vec()),
            Found::Reply(Some("first"), body(20_000)),
        ];
        assert_eq!(found, expected);
        assert!(pair.opener.requests.is_empty());
    }
}

#[test]
fn fragments_of_several_messages_may_be_interleaved() {
    for step in STEPS {
        let mut pair = Pair::new();
        let ids = [2, 4, 6];
        let cut = ids.map(|id| request_in_fragments(id, &body(300), 64));
        for at in 0..cut[0].len() {
            for messages in &cut {
                pair.opener.send(&messages[at]);
            }
            // What comes in one piece overtakes them.
            if at == 1 {
                pair.opener.send(&request(Version::V1_2, 8, b"whole"));
            }
        }
        let found = whole(pair.acceptor_finds(step).unwrap());
        let mut expected = vec![Found::Request(8, b"whole".to_vec())];
        expected.extend(ids.map(|id| Found::Request(id, body(300))));
        assert_eq!(found, expected);
        assert!(pair.acceptor.connection.assembly().is_empty());
    }
}

#[test]
fn fragments_of_giop_1_1_follow_each_other() {
    for step in STEPS {
        let mut pair = Pair::new();
        pair.opener
            .send_all(&old_request_in_fragments(2, &body(300), 64));
        let found = whole(pair.acceptor_finds(step).unwrap());
        assert_eq!(found, [Found::Request(2, body(300))]);
    }
}

#[test]
fn a_request_cancelled_between_its_fragments_never_arrives() {
    let mut pair = Pair::new();
    let fragments = request_in_fragments(2, &body(300), 64);
    let (begun, rest) = fragments.split_at(2);
    pair.opener.send_all(begun);
    pair.opener.send(&cancel(Version::V1_2, 2));
    let found = whole(pair.acceptor_finds(64).unwrap());
    assert_eq!(found, [Found::Event(Event::Cancel(2))]);
    assert!(pair.acceptor.connection.assembly().is_empty());
    // What was on its way already is dropped, and the connection goes on.
    pair.opener.send_all(rest);
    pair.opener.send(&request(Version::V1_2, 4, b"next"));
    let found = whole(pair.acceptor_finds(64).unwrap());
    assert_eq!(found, [Found::Request(4, b"next".to_vec())]);
}

#[test]
fn a_late_reply_is_dropped_and_the_next_is_not() {
    let mut pair = Pair::new();
    let abandoned = pair.opener.request("abandoned", b"");
    let next = pair.opener.request("next", b"");
    assert_eq!(pair.opener.requests.take(abandoned), Some("abandoned"));
    pair.acceptor
        .send_all(&reply_in_fragments(abandoned, &body(300), 64));
    pair.acceptor.send(&reply(next, b"here"));
    let found = whole(pair.opener_finds(64).unwrap());
    let expected = [
        Found::Reply(None, body(300)),
        Found::Reply(Some("next"), b"here".to_vec()),
    ];
    assert_eq!(found, expected);
}

/// Clause 9.4.7: nothing that is unanswered was begun. It is the last that is heard.
#[test]
fn either_side_closes_in_order() {
    for step in STEPS {
        let mut pair = Pair::new();
        let answered = pair.opener.request("answered", b"");
        pair.opener.request("unanswered", b"");
        pair.acceptor.send(&reply(answered, b""));
        pair.acceptor.send(&close_connection(Version::V1_2));
        pair.acceptor.send(&reply(answered + 2, b"after the end"));
        let found = pair.opener_finds(step).unwrap();
        let last = Found::Event(Event::Close);
        assert_eq!(found[..2], [Found::Reply(Some("answered"), vec![]), last]);
        assert!(pair.opener.connection.is_closing());
        assert!(pair.opener.requests.take_all().eq(["unanswered"]));
    }
    let mut pair = Pair::new();
    pair.opener.send(&close_connection(Version::V1_2));
    let found = pair.acceptor_finds(usize::MAX).unwrap();
    assert_eq!(found, [Found::Event(Event::Close)]);
}

#[test]
fn a_message_error_of_the_peer_is_the_last_that_is_heard() {
    let mut pair = Pair::new();
    pair.acceptor.send(&message_error(Version::V1_2));
    let found = pair.opener_finds(usize::MAX).unwrap();
    assert_eq!(found, [Found::Event(Event::MessageError)]);
}

#[test]
fn both_sides_send_requests_over_a_bidirectional_connection() {
    for step in STEPS {
        let mut pair = Pair::bidirectional();
        let there = pair.opener.request("there", b"to the server");
        let back = pair.acceptor.request("back", b"to the client");
        assert_eq!((there % 2, back % 2), (0, 1));
        // Requests and replies cross each other, in fragments too.
        pair.acceptor
            .send_all(&reply_in_fragments(there, &body(300), 64));
        pair.opener.send(&reply(back, b"done"));
        let found = whole(pair.acceptor_finds(step).unwrap());
        let expected = [
            Found::Request(there, b"to the server".to_vec()),
            Found::Reply(Some("back"), b"done".to_vec()),
        ];
        assert_eq!(found, expected);
        let found = whole(pair.opener_finds(step).unwrap());
        let expected = [
            Found::Request(back, b"to the client".to_vec()),
            Found::Reply(Some("there"), body(300)),
        ];
        assert_eq!(found, expected);
    }
}

/// The time counts from the beginning of what is incomplete, and anew when a message was
/// completed.
#[test]
fn messages_in_fragments_must_be_complete_in_time() {
    let second = Duration::from_secs(1);
    let bounds = Bounds {
        message_time: Some(10 * second),
        ..Bounds::default()
    };
    let mut pair = Pair::with((Role::Client, Role::Server), bounds, &Budget::NONE);
    let slow = request_in_fragments(2, &body(300), 64);
    let quick = request_in_fragments(4, &body(300), 64);
    pair.opener.send(&slow[0]);
    assert_eq!(
        pair.acceptor_finds(64).unwrap(),
        [Found::Event(Event::Fragment)]
    );
    let deadline = pair.acceptor.connection.assembly().deadline();
    assert_eq!(deadline, Some(pair.now() + 10 * second));
    pair.pass(9 * second);
    pair.opener.send_all(&quick);
    assert_eq!(
        whole(pair.acceptor_finds(64).unwrap()),
        [Found::Request(4, body(300))]
    );
    pair.pass(9 * second);
    pair.opener.send(&slow[1]);
    pair.acceptor_finds(64).unwrap();
    assert!(!pair.acceptor.connection.assembly().is_late(pair.now()));
    pair.pass(second);
    assert!(pair.acceptor.connection.assembly().is_late(pair.now()));
    pair.opener.send(&slow[2]);
    let late = pair.acceptor_finds(64).unwrap_err();
    assert_eq!((late, late.answer()), (Violation::Late, None));
}

/// The client hears IMP_LIMIT, and its next request is served.
#[test]
fn a_request_beyond_the_limit_is_refused_and_the_connection_goes_on() {
    for step in STEPS {
        let mut pair = Pair::with((Role::Client, Role::Server), NARROW, &Budget::NONE);
        pair.opener.send(&request(Version::V1_2, 2, &body(5000)));
        pair.opener
            .send_all(&request_in_fragments(4, &body(5000), 512));
        pair.opener.send(&request(Version::V1_2, 6, b"small"));
        let found = whole(pair.acceptor_finds(step).unwrap());
        let refused = |found: &Found| match found {
            Found::Event(Event::Refused(it)) => Some((it.request_id, it.expects_reply)),
            _ => None,
        };
        let ids: Vec<_> = found.iter().map(refused).collect();
        assert_eq!(ids, [Some((2, true)), Some((4, true)), None], "{found:?}");
        assert_eq!(found[2], Found::Request(6, b"small".to_vec()));
    }
}
