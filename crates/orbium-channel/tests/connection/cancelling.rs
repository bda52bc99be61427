// SPDX-License-Identifier: MIT OR Apache-2.0
//! CancelRequest (clause 9.4.4): of whole requests, of such as have begun, and by either side.

use std::time::Duration;

use orbium_channel::connection::{Bounds, Event, Role, Violation};
use orbium_channel::peer_memory::Budget;
use orbium_giop::{FragmentError, MessageKind, Version};

use super::pair::{
    Found, Pair, cancel, locate_messages, locate_request, old_request_in_fragments, reply,
    reply_in_fragments, request, request_in_fragments,
};
use super::rules::{STEPS, body, whole};

/// The request arrives as it would have, and the cancellation behind it.
#[test]
fn a_whole_request_that_is_cancelled_arrives_before_its_cancellation() {
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        for step in STEPS {
            let mut pair = Pair::new();
            pair.opener.send(&request(version, 2, b"cancelled"));
            pair.opener.send(&cancel(version, 2));
            pair.opener.send(&request(version, 4, b"next"));
            let found = pair.acceptor_finds(step).unwrap();
            let expected = [
                Found::Request(2, b"cancelled".to_vec()),
                Found::Event(Event::Cancel(2)),
                Found::Request(4, b"next".to_vec()),
            ];
            assert_eq!(found, expected);
        }
    }
}

/// A cancellation is advice: the server may have answered, and the client drops that.
#[test]
fn a_reply_that_crosses_its_cancellation_is_dropped() {
    let mut pair = Pair::new();
    let cancelled = pair.opener.request("cancelled", b"");
    pair.acceptor_finds(usize::MAX).unwrap();
    assert_eq!(pair.opener.requests.take(cancelled), Some("cancelled"));
    pair.opener.send(&cancel(Version::V1_2, cancelled));
    pair.acceptor.send(&reply(cancelled, b"too late"));
    let found = pair.opener_finds(1).unwrap();
    assert_eq!(found, [Found::Reply(None, b"too late".to_vec())]);
    let found = pair.acceptor_finds(1).unwrap();
    assert_eq!(found, [Found::Event(Event::Cancel(cancelled))]);
}

#[test]
fn locate_requests_are_cancelled_as_requests_are() {
    let mut pair = Pair::new();
    pair.opener.send(&locate_request(Version::V1_2, 2, b"key"));
    pair.opener.send(&cancel(Version::V1_2, 2));
    let fragments = locate_messages(Version::V1_2, 4, &body(300), 64);
    pair.opener.send(&fragments[0]);
    pair.opener.send(&cancel(Version::V1_2, 4));
    pair.opener.send_all(&fragments[1..]);
    let found = whole(pair.acceptor_finds(1).unwrap());
    let expected = [
        Found::Locate(2, b"key".to_vec()),
        Found::Event(Event::Cancel(2)),
        Found::Event(Event::Cancel(4)),
    ];
    assert_eq!(found, expected);
    assert!(!pair.acceptor.connection.is_unfinished());
}

#[test]
fn a_cancellation_of_nothing_changes_nothing() {
    let mut pair = Pair::new();
    let fragments = request_in_fragments(2, &body(300), 64);
    pair.opener.send(&fragments[0]);
    pair.opener.send(&cancel(Version::V1_2, 4));
    pair.opener.send_all(&fragments[1..]);
    let found = whole(pair.acceptor_finds(64).unwrap());
    let expected = [Found::Event(Event::Cancel(4)), Found::Request(2, body(300))];
    assert_eq!(found, expected);
}

/// Clause 9.4.9: no more fragments follow. The request stayed in assembly, as its fragments have no id, and
/// the next request in fragments ended the connection.
///
/// Conformance: fragments - cancelled between its fragments - in GIOP 1.1
#[test]
fn a_request_of_giop_1_1_cancelled_between_its_fragments_never_arrives() {
    for step in STEPS {
        let mut pair = Pair::new();
        let fragments = old_request_in_fragments(2, &body(300), 64);
        pair.opener.send_all(&fragments[..2]);
        pair.opener.send(&cancel(Version::V1_1, 2));
        pair.opener
            .send_all(&old_request_in_fragments(4, &body(300), 64));
        let found = whole(pair.acceptor_finds(step).unwrap());
        let expected = [Found::Event(Event::Cancel(2)), Found::Request(4, body(300))];
        assert_eq!(found, expected);
        assert!(!pair.acceptor.connection.is_unfinished());
    }
}

/// The same where its id has not come yet, so that it may be that one; and not where it is another one.
#[test]
fn a_request_of_giop_1_1_is_cancelled_by_its_id_as_far_as_that_has_come() {
    let mut pair = Pair::new();
    let fragments = old_request_in_fragments(2, &body(300), 4);
    pair.opener.send(&fragments[0]);
    pair.opener.send(&cancel(Version::V1_1, 2));
    pair.acceptor_finds(1).unwrap();
    assert!(!pair.acceptor.connection.is_unfinished());
    let fragments = old_request_in_fragments(6, &body(300), 64);
    pair.opener.send(&fragments[0]);
    pair.opener.send(&cancel(Version::V1_1, 4));
    pair.opener.send_all(&fragments[1..]);
    let found = whole(pair.acceptor_finds(1).unwrap());
    let expected = [Found::Event(Event::Cancel(4)), Found::Request(6, body(300))];
    assert_eq!(found, expected);
}

/// Its time went on, and ended the connection: that of the client, which was idle, or in the middle of its next request.
#[test]
fn a_cancelled_request_has_no_time_left_to_be_complete() {
    let second = Duration::from_secs(1);
    let bounds = Bounds {
        message_time: Some(10 * second),
        ..Bounds::default()
    };
    let mut pair = Pair::with((Role::Client, Role::Server), bounds, &Budget::NONE);
    pair.opener
        .send(&request_in_fragments(2, &body(300), 64)[0]);
    pair.opener.send(&cancel(Version::V1_2, 2));
    pair.acceptor_finds(1).unwrap();
    assert_eq!(pair.acceptor.connection.assembly().deadline(), None);
    pair.pass(9 * second);
    let fragments = request_in_fragments(4, &body(300), 64);
    pair.opener.send(&fragments[0]);
    pair.acceptor_finds(1).unwrap();
    pair.pass(2 * second);
    pair.opener.send_all(&fragments[1..]);
    let found = whole(pair.acceptor_finds(1).unwrap());
    assert_eq!(found, [Found::Request(4, body(300))]);
}

/// Its id is that of a request of the peer, whatever else has the same id.
#[test]
fn a_cancellation_drops_no_reply() {
    let mut pair = Pair::bidirectional();
    let waiting = pair.opener.request("waiting", b"");
    let fragments = reply_in_fragments(waiting, &body(300), 64);
    pair.acceptor.send(&fragments[0]);
    pair.acceptor.send(&cancel(Version::V1_2, waiting));
    pair.acceptor.send_all(&fragments[1..]);
    let found = whole(pair.opener_finds(64).unwrap());
    let expected = [
        Found::Event(Event::Cancel(waiting)),
        Found::Reply(Some("waiting"), body(300)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn either_side_of_a_bidirectional_connection_cancels() {
    for step in STEPS {
        let mut pair = Pair::bidirectional();
        let there = request_in_fragments(2, &body(300), 64);
        let back = request_in_fragments(1, &body(300), 64);
        pair.opener.send(&there[0]);
        pair.acceptor.send(&back[0]);
        pair.opener.send(&cancel(Version::V1_2, 2));
        pair.acceptor.send(&cancel(Version::V1_2, 1));
        let found = whole(pair.acceptor_finds(step).unwrap());
        assert_eq!(found, [Found::Event(Event::Cancel(2))]);
        let found = whole(pair.opener_finds(step).unwrap());
        assert_eq!(found, [Found::Event(Event::Cancel(1))]);
        assert!(!pair.opener.connection.is_unfinished());
        assert!(!pair.acceptor.connection.is_unfinished());
    }
}

#[test]
fn cancellations_that_are_none_end_the_connection() {
    let mut pair = Pair::new();
    pair.acceptor.send(&cancel(Version::V1_2, 2));
    let wrong = pair.opener_finds(1).unwrap_err();
    assert_eq!(wrong, Violation::Unexpected(MessageKind::CancelRequest));
    let mut pair = Pair::new();
    let mut short = cancel(Version::V1_2, 2);
    short.truncate(14);
    short[8..12].copy_from_slice(&2_u32.to_ne_bytes());
    pair.opener.send(&short);
    let wrong = pair.acceptor_finds(1).unwrap_err();
    assert!(matches!(wrong, Violation::Malformed(_)), "{wrong}");
    let mut pair = Pair::new();
    let mut begun = cancel(Version::V1_2, 2);
    begun[6] |= 2;
    pair.opener.send(&begun);
    let wrong = pair.acceptor_finds(1).unwrap_err();
    let kind = FragmentError::NotFragmentable(MessageKind::CancelRequest);
    assert_eq!(wrong, Violation::Fragment(kind));
}

/// A flood of them costs no memory.
#[test]
fn cancellations_without_end_occupy_nothing() {
    let budget = Budget::new(Some(100_000), 1000);
    let roles = (Role::Client, Role::Server);
    let mut pair = Pair::with(roles, Bounds::default(), &budget);
    for id in 0..20_000 {
        pair.opener.send(&cancel(Version::V1_2, id));
    }
    let found = pair.acceptor_finds(64 * 1024).unwrap();
    assert_eq!(found.len(), 20_000);
    assert!(!pair.acceptor.connection.is_unfinished());
    assert_eq!(budget.figures().refused, 0);
}
