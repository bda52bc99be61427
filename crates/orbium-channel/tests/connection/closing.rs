// SPDX-License-Identifier: MIT OR Apache-2.0
//! CloseConnection (clause 9.4.7): by either side, between fragments, and the requests that may be
//! sent again after it.

use orbium_channel::connection::{Event, Violation};
use orbium_giop::{
    Completion, ExceptionKind, FragmentError, MessageKind, SystemException, Version,
    close_connection, message_error, minor,
};

use super::pair::{
    Found, Pair, cancel, old_reply_in_fragments, reply, reply_in_fragments, request,
    request_in_fragments,
};
use super::rules::{STEPS, body, whole};

/// The exception of a request of which the reply has begun.
fn begun() -> SystemException {
    let code = minor::CONNECTION_LOST;
    SystemException::orbium(ExceptionKind::CommFailure, code, Completion::Maybe)
}

/// The request that has not come whole is never served, and the client may send it again.
#[test]
fn a_request_in_assembly_ends_with_the_connection() {
    for step in STEPS {
        let mut pair = Pair::new();
        let fragments = request_in_fragments(2, &body(300), 64);
        pair.opener.send_all(&fragments[..2]);
        pair.opener.send(&close_connection(Version::V1_2));
        pair.opener.send_all(&fragments[2..]);
        let found = whole(pair.acceptor_finds(step).unwrap());
        assert_eq!(found, [Found::Event(Event::Close)]);
        assert!(pair.acceptor.connection.is_closing());
    }
}

/// The server closes while the request is still on its way: it has begun nothing.
#[test]
fn requests_that_cross_a_close_may_be_sent_again() {
    for step in STEPS {
        let mut pair = Pair::new();
        let answered = pair.opener.request("answered", b"");
        pair.acceptor_finds(step).unwrap();
        pair.opener.request("crossing", b"");
        pair.opener.locate("locating", b"key");
        pair.acceptor.send(&reply(answered, b""));
        pair.acceptor.send(&close_connection(Version::V1_2));
        let found = pair.opener_finds(step).unwrap();
        let expected = [
            Found::Reply(Some("answered"), vec![]),
            Found::Event(Event::Close),
        ];
        assert_eq!(found, expected);
        let mut again: Vec<_> = pair.opener.requests.take_all().collect();
        again.sort_unstable();
        assert_eq!(again, ["crossing", "locating"]);
    }
}

/// A request of which the reply has begun was served: it ends with COMPLETED_MAYBE, before the others
/// may be sent again. It was among those, so that a client could have it served twice.
///
/// Conformance: connections - CloseConnection in the middle of a reply: COMM_FAILURE, COMPLETED_MAYBE
#[test]
fn a_request_of_which_the_reply_has_begun_is_not_sent_again() {
    for step in STEPS {
        let mut pair = Pair::new();
        let served = pair.opener.request("served", b"");
        pair.opener.request("unserved", b"");
        let fragments = reply_in_fragments(served, &body(300), 64);
        pair.acceptor.send(&fragments[0]);
        pair.acceptor.send(&close_connection(Version::V1_2));
        let found = whole(pair.opener_finds(step).unwrap());
        let expected = [
            Found::Failed(Some("served"), begun()),
            Found::Event(Event::Close),
        ];
        assert_eq!(found, expected);
        assert!(pair.opener.connection.is_closing());
        assert!(pair.opener.requests.take_all().eq(["unserved"]));
    }
}

#[test]
fn all_replies_that_have_begun_are_accounted_for() {
    let mut pair = Pair::new();
    let served = ["one", "two", "three"].map(|name| pair.opener.request(name, b""));
    for id in served {
        pair.acceptor
            .send(&reply_in_fragments(id, &body(300), 64)[0]);
    }
    // It was cancelled, so that the server need not send the rest.
    assert_eq!(pair.opener.requests.take(served[1]), Some("two"));
    pair.acceptor.send(&close_connection(Version::V1_2));
    let found = whole(pair.opener_finds(64).unwrap());
    let (last, failed) = found.split_last().unwrap();
    assert_eq!(*last, Found::Event(Event::Close));
    assert_eq!(failed.len(), 3);
    for name in [Some("one"), None, Some("three")] {
        assert!(failed.contains(&Found::Failed(name, begun())), "{found:?}");
    }
    assert!(pair.opener.requests.is_empty() && pair.opener.connection.assembly().is_empty());
}

#[test]
fn a_reply_of_giop_1_1_that_has_begun_is_accounted_for() {
    let mut pair = Pair::new();
    let served = pair.opener.request("served", b"");
    pair.acceptor
        .send(&old_reply_in_fragments(served, &body(300), 64)[0]);
    pair.acceptor.send(&close_connection(Version::V1_1));
    let found = whole(pair.opener_finds(1).unwrap());
    let expected = [
        Found::Failed(Some("served"), begun()),
        Found::Event(Event::Close),
    ];
    assert_eq!(found, expected);
    // Its id has not come: it may be of any request.
    let mut pair = Pair::new();
    pair.acceptor
        .send(&old_reply_in_fragments(2, &body(300), 4)[0]);
    pair.acceptor.send(&close_connection(Version::V1_1));
    assert_eq!(pair.opener_finds(1).unwrap_err(), Violation::NoRequestId);
}

/// Requests of both sides end with it, and nothing that comes behind it counts.
#[test]
fn either_side_closes_a_bidirectional_connection() {
    for step in STEPS {
        for closes_first in [true, false] {
            let mut pair = Pair::bidirectional();
            let there = pair.opener.request("there", b"to the server");
            pair.opener.request("unserved", b"");
            let back = pair.acceptor.request("back", b"to the client");
            let (closing, answering, own, other) = if closes_first {
                (&mut pair.opener, &mut pair.acceptor, there, back)
            } else {
                (&mut pair.acceptor, &mut pair.opener, back, there)
            };
            // It answers what it has served, and begins nothing else.
            closing.send(&reply(other, b"served"));
            closing.send(&close_connection(Version::V1_2));
            closing.send(&request(Version::V1_2, own + 100, b"after the end"));
            // This crosses it.
            answering.send(&reply(own, b"crossing"));
            let (to_opener, to_acceptor) = (
                pair.opener_finds(step).unwrap(),
                pair.acceptor_finds(step).unwrap(),
            );
            let closed = if closes_first {
                &to_acceptor
            } else {
                &to_opener
            };
            assert_eq!(closed.last(), Some(&Found::Event(Event::Close)));
            let unserved: Vec<_> = pair.opener.requests.take_all().collect();
            assert_eq!(unserved, ["unserved"]);
            assert!(pair.acceptor.requests.is_empty());
            let served = Found::Reply(
                Some("there"),
                if closes_first {
                    b"crossing".to_vec()
                } else {
                    b"served".to_vec()
                },
            );
            assert!(to_opener.contains(&served), "{to_opener:?}");
        }
    }
}

/// What is in assembly for either direction ends as over connections of one direction.
#[test]
fn a_close_between_fragments_of_both_directions_ends_them() {
    for step in STEPS {
        let mut pair = Pair::bidirectional();
        let served = pair.acceptor.request("served", b"");
        pair.acceptor.request("unserved", b"");
        pair.opener_finds(step).unwrap();
        pair.opener
            .send(&request_in_fragments(2, &body(300), 64)[0]);
        pair.opener
            .send(&reply_in_fragments(served, &body(300), 64)[0]);
        pair.opener.send(&close_connection(Version::V1_2));
        let found = whole(pair.acceptor_finds(step).unwrap());
        let expected = [
            Found::Failed(Some("served"), begun()),
            Found::Event(Event::Close),
        ];
        assert_eq!(found, expected);
        assert!(pair.acceptor.requests.take_all().eq(["unserved"]));
    }
}

/// A client that cancels what it waits for, and closes.
#[test]
fn a_client_cancels_and_closes() {
    let mut pair = Pair::new();
    pair.opener
        .send(&request_in_fragments(2, &body(300), 64)[0]);
    pair.opener.send(&request(Version::V1_2, 4, b"whole"));
    pair.opener.send(&cancel(Version::V1_2, 4));
    pair.opener.send(&cancel(Version::V1_2, 2));
    pair.opener.send(&close_connection(Version::V1_2));
    let found = whole(pair.acceptor_finds(7).unwrap());
    let expected = [
        Found::Request(4, b"whole".to_vec()),
        Found::Event(Event::Cancel(4)),
        Found::Event(Event::Cancel(2)),
        Found::Event(Event::Close),
    ];
    assert_eq!(found, expected);
    assert!(pair.acceptor.connection.assembly().is_empty());
}

/// Nothing says what the server has done: none of the requests may be sent again by the connection's
/// word.
#[test]
fn a_message_error_between_fragments_is_no_close() {
    let mut pair = Pair::new();
    let served = pair.opener.request("served", b"");
    pair.acceptor
        .send(&reply_in_fragments(served, &body(300), 64)[0]);
    pair.acceptor.send(&message_error(Version::V1_2));
    let found = whole(pair.opener_finds(1).unwrap());
    assert_eq!(found, [Found::Event(Event::MessageError)]);
    assert!(!pair.opener.connection.is_closing());
    assert_eq!(pair.opener.requests.len(), 1);
}

/// It is a header alone, and in one piece.
#[test]
fn closes_in_fragments_end_the_connection_with_message_error() {
    for (message, kind) in [
        (
            close_connection(Version::V1_2),
            MessageKind::CloseConnection,
        ),
        (message_error(Version::V1_2), MessageKind::MessageError),
    ] {
        let mut pair = Pair::new();
        let mut begun = message.to_vec();
        begun[6] |= 2;
        pair.acceptor.send(&begun);
        let wrong = pair.opener_finds(1).unwrap_err();
        let kind = FragmentError::NotFragmentable(kind);
        assert_eq!(wrong, Violation::Fragment(kind));
        assert!(wrong.answer().is_some());
    }
}
