// SPDX-License-Identifier: MIT OR Apache-2.0
//! LocateRequest and LocateReply (clauses 9.4.5 and 9.4.6).

use orbium_channel::connection::{Bounds, Event, Role, Violation};
use orbium_channel::framing::FramingError;
use orbium_channel::peer_memory::Budget;
use orbium_giop::{FragmentError, LocateStatus, MessageKind, Version};

use super::pair::{
    Found, Pair, locate_messages, locate_reply, locate_request, reply, request_in_fragments,
};
use super::rules::{NARROW, STEPS, body, whole};

#[test]
fn locate_requests_and_their_replies_arrive_however_they_are_cut() {
    for step in STEPS {
        let mut pair = Pair::new();
        let here = pair.opener.locate("here", b"key");
        let call = pair.opener.request("call", &body(300));
        let unknown = pair.opener.locate("unknown", &body(5000));
        let found = pair.acceptor_finds(step).unwrap();
        let expected = [
            Found::Locate(here, b"key".to_vec()),
            Found::Request(call, body(300)),
            Found::Locate(unknown, body(5000)),
        ];
        assert_eq!(found, expected);
        let status = LocateStatus::UnknownObject;
        pair.acceptor
            .send(&locate_reply(Version::V1_2, unknown, status, 0));
        pair.acceptor.send(&reply(call, b"done"));
        let status = LocateStatus::ObjectForward;
        pair.acceptor
            .send(&locate_reply(Version::V1_2, here, status, 500));
        let found = pair.opener_finds(step).unwrap();
        let expected = [
            Found::Located(Some("unknown"), LocateStatus::UnknownObject),
            Found::Reply(Some("call"), b"done".to_vec()),
            Found::Located(Some("here"), LocateStatus::ObjectForward),
        ];
        assert_eq!(found, expected);
        assert!(pair.opener.requests.is_empty());
    }
}

#[test]
fn locate_requests_of_every_version_arrive() {
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        let mut pair = Pair::new();
        pair.opener.send(&locate_request(version, 2, b"key"));
        let found = pair.acceptor_finds(1).unwrap();
        assert_eq!(found, [Found::Locate(2, b"key".to_vec())]);
        let status = LocateStatus::ObjectHere;
        pair.acceptor.send(&locate_reply(version, 2, status, 0));
        let found = pair.opener_finds(1).unwrap();
        assert_eq!(found, [Found::Located(None, status)]);
    }
}

#[test]
fn locate_requests_in_fragments_are_put_together_between_others() {
    for step in STEPS {
        let mut pair = Pair::new();
        let locating = locate_messages(Version::V1_2, 2, &body(300), 64);
        let calling = request_in_fragments(4, &body(300), 64);
        assert!(locating.len() > 2);
        for (locating, calling) in locating.iter().zip(&calling) {
            pair.opener.send(locating);
            pair.opener.send(calling);
        }
        for calling in calling.iter().skip(locating.len()) {
            pair.opener.send(calling);
        }
        let found = whole(pair.acceptor_finds(step).unwrap());
        let expected = [Found::Locate(2, body(300)), Found::Request(4, body(300))];
        assert_eq!(found, expected);
        assert!(!pair.acceptor.connection.is_unfinished());
    }
}

#[test]
fn both_sides_of_a_bidirectional_connection_locate() {
    let mut pair = Pair::bidirectional();
    let there = pair.opener.locate("there", b"there");
    let back = pair.acceptor.locate("back", b"back");
    let status = LocateStatus::ObjectHere;
    pair.acceptor
        .send(&locate_reply(Version::V1_2, there, status, 0));
    pair.opener
        .send(&locate_reply(Version::V1_2, back, status, 0));
    let found = pair.acceptor_finds(7).unwrap();
    let expected = [
        Found::Locate(there, b"there".to_vec()),
        Found::Located(Some("back"), status),
    ];
    assert_eq!(found, expected);
    let found = pair.opener_finds(7).unwrap();
    let expected = [
        Found::Locate(back, b"back".to_vec()),
        Found::Located(Some("there"), status),
    ];
    assert_eq!(found, expected);
}

#[test]
fn locate_messages_of_the_wrong_side_are_answered_message_error() {
    let mut pair = Pair::new();
    pair.acceptor
        .send(&locate_request(Version::V1_2, 1, b"key"));
    let wrong = pair.opener_finds(usize::MAX).unwrap_err();
    assert_eq!(wrong, Violation::Unexpected(MessageKind::LocateRequest));
    let mut pair = Pair::new();
    let status = LocateStatus::ObjectHere;
    pair.opener.send(&locate_reply(Version::V1_2, 2, status, 0));
    let wrong = pair.acceptor_finds(usize::MAX).unwrap_err();
    assert_eq!(wrong, Violation::Unexpected(MessageKind::LocateReply));
    assert!(wrong.answer().is_some() && !wrong.is_limit());
}

/// They may come in fragments from GIOP 1.2 on.
#[test]
fn locate_messages_of_giop_1_1_in_fragments_end_the_connection() {
    let mut pair = Pair::new();
    let mut message = locate_request(Version::V1_1, 2, b"key");
    message[6] |= 2;
    pair.opener.send(&message);
    let wrong = pair.acceptor_finds(usize::MAX).unwrap_err();
    let kind = FragmentError::NotFragmentable(MessageKind::LocateRequest);
    assert_eq!(wrong, Violation::Fragment(kind));
}

/// They have no reply that says so.
#[test]
fn locate_requests_beyond_a_limit_end_the_connection() {
    for size in [usize::MAX, 64] {
        let mut pair = Pair::with((Role::Client, Role::Server), NARROW, &Budget::NONE);
        pair.opener
            .send_all(&locate_messages(Version::V1_2, 2, &body(5000), size));
        let wrong = pair.acceptor_finds(64).unwrap_err();
        assert!(wrong.is_limit(), "{wrong}");
    }
    let budget = Budget::new(Some(100_000), 1000);
    for size in [usize::MAX, 8192] {
        let roles = (Role::Client, Role::Server);
        let mut pair = Pair::with(roles, Bounds::default(), &budget);
        pair.opener
            .send_all(&locate_messages(Version::V1_2, 2, &body(400_000), size));
        let wrong = pair.acceptor_finds(4096).unwrap_err();
        let no_memory = matches!(
            wrong,
            Violation::Framing(FramingError::NoMemory)
                | Violation::Fragment(FragmentError::NoMemory(_))
        );
        assert!(no_memory, "{wrong}");
    }
    assert!(budget.figures().most <= 100_000);
}

/// Whole as far as the connection is concerned: those that read it see what is wrong.
#[test]
fn malformed_locate_messages_are_events_and_the_connection_goes_on() {
    let mut pair = Pair::new();
    let mut message = locate_request(Version::V1_2, 2, b"key");
    // An addressing disposition that does not exist.
    message[16..18].copy_from_slice(&[0xFF; 2]);
    pair.opener.send(&message);
    pair.opener.send(&locate_request(Version::V1_2, 4, b"key"));
    let found = pair.acceptor_finds(1).unwrap();
    assert!(matches!(found[0], Found::Event(Event::Message(_))));
    assert_eq!(found[1], Found::Locate(4, b"key".to_vec()));
    let waiting = pair.opener.locate("waiting", b"key");
    let status = LocateStatus::ObjectHere;
    let mut message = locate_reply(Version::V1_2, waiting, status, 0);
    message[16..20].copy_from_slice(&[0xFF; 4]);
    pair.acceptor.send(&message);
    pair.acceptor
        .send(&locate_reply(Version::V1_2, waiting, status, 0));
    let found = pair.opener_finds(1).unwrap();
    assert!(matches!(found[0], Found::Event(Event::Message(_))));
    assert_eq!(found[1], Found::Located(Some("waiting"), status));
}
