// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers that break the rules: their answers, and the bounds of the memory that they occupy.

use orbium_channel::connection::{Bounds, Cause, Event, Role, Violation};
use orbium_channel::framing::FramingError;
use orbium_channel::peer_memory::Budget;
use orbium_giop::{
    FragmentError, LocateStatus, MessageKind, ReassemblyLimits, Version, close_connection,
    message_error,
};
use proptest::prelude::*;

use super::pair::{
    Found, Pair, cancel, locate_messages, locate_reply, old_reply_in_fragments,
    old_request_in_fragments, reply, reply_in_fragments, request, request_in_fragments,
};

#[test]
fn messages_of_the_wrong_side_are_answered_message_error() {
    let mut pair = Pair::new();
    pair.acceptor.send(&request(Version::V1_2, 1, b""));
    let wrong = pair.opener_finds(usize::MAX).unwrap_err();
    assert_eq!(wrong, Violation::Unexpected(MessageKind::Request));
    assert!(wrong.answer().is_some() && !wrong.is_limit());
    let mut pair = Pair::new();
    pair.opener.send(&reply(2, b""));
    let wrong = pair.acceptor_finds(usize::MAX).unwrap_err();
    assert_eq!(wrong, Violation::Unexpected(MessageKind::Reply));
}

#[test]
fn malformed_messages_are_found_with_their_first_octets() {
    let mut pair = Pair::new();
    pair.opener.send(b"GET / HTTP/1.1\r\n\r\n");
    let wrong = pair.acceptor_finds(1).unwrap_err();
    assert!(matches!(wrong, Violation::Framing(FramingError::Header(_))));
}

#[test]
fn a_fragment_that_continues_nothing_has_no_excuse_without_an_id() {
    let mut pair = Pair::new();
    let fragments = old_request_in_fragments(2, &[0; 300], 64);
    pair.opener.send(&fragments[1]);
    let wrong = pair.acceptor_finds(usize::MAX).unwrap_err();
    let nothing = FragmentError::NothingToContinue(None);
    assert_eq!(wrong, Violation::Fragment(nothing));
}

#[test]
fn messages_begun_beyond_their_number_end_the_connection() {
    let bounds = Bounds {
        reassembly: ReassemblyLimits {
            messages: 2,
            ..ReassemblyLimits::default()
        },
        ..Bounds::default()
    };
    let mut pair = Pair::with((Role::Client, Role::Server), bounds, &Budget::NONE);
    for id in [2, 4, 6] {
        let fragments = request_in_fragments(id, &[0; 300], 64);
        pair.opener.send(&fragments[0]);
    }
    let wrong = pair.acceptor_finds(usize::MAX).unwrap_err();
    let many = FragmentError::TooManyMessages(Some(6));
    assert_eq!(wrong, Violation::Fragment(many));
    assert!(wrong.is_limit());
}

/// The budget is of all connections together: what does not fit is refused, in either
/// direction, and the connection goes on.
#[test]
fn requests_beyond_the_memory_are_refused_and_the_connection_goes_on() {
    let budget = Budget::new(Some(100_000), 1000);
    let bounds = Bounds::default();
    let octets = vec![7; 400_000];
    let mut pair = Pair::with((Role::Client, Role::Server), bounds, &budget);
    pair.opener.send(&request(Version::V1_2, 2, &octets));
    for fragment in request_in_fragments(4, &octets, 8192) {
        pair.opener.send(&fragment);
    }
    pair.opener.send(&request(Version::V1_2, 6, b"small"));
    let found = pair.acceptor_finds(4096).unwrap();
    let refused: Vec<_> = found
        .iter()
        .filter_map(|found| match found {
            Found::Event(Event::Refused(it)) => Some((it.request_id, it.cause, it.expects_reply)),
            _ => None,
        })
        .collect();
    let cause = Cause::NoMemory;
    assert_eq!(refused, [(2, cause, true), (4, cause, true)]);
    assert_eq!(found.last(), Some(&Found::Request(6, b"small".to_vec())));
    // A client hears it as the reply.
    let (whole, cut) = (
        pair.opener.request("whole", b""),
        pair.opener.request("cut", b""),
    );
    pair.acceptor.send(&reply(whole, &octets));
    for fragment in reply_in_fragments(cut, &octets, 8192) {
        pair.acceptor.send(&fragment);
    }
    let small = pair.opener.request("small", b"");
    pair.acceptor.send(&reply(small, b"here"));
    let found = pair.opener_finds(4096).unwrap();
    let replies = found
        .iter()
        .filter(|it| **it != Found::Event(Event::Fragment));
    assert_eq!(replies.count(), 3, "{found:?}");
    assert_eq!(
        found.last(),
        Some(&Found::Reply(Some("small"), b"here".to_vec()))
    );
    let figures = budget.figures();
    assert!(
        figures.refused >= 4 && figures.most <= 100_000,
        "{figures:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever is found does not depend on how the octets are cut, and nothing that a
    /// peer sends makes a connection panic or hold more than its budget.
    #[test]
    fn nothing_depends_on_how_octets_are_cut(
        role in prop::sample::select(vec![Role::Client, Role::Server, Role::Both]),
        sent in prop::collection::vec(message(), 1..12),
        damage in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        steps in (1..200_usize, 1..200_usize),
    ) {
        let mut octets: Vec<u8> = sent.concat();
        if let Some((at, octet)) = damage {
            let at = at.index(octets.len());
            octets[at] = octet;
        }
        let budget = Budget::new(Some(1 << 20), 1000);
        let mut found = Vec::new();
        for step in [steps.0, steps.1, usize::MAX] {
            let mut pair = Pair::with((Role::Both, role), Bounds::default(), &budget);
            pair.opener.send(&octets);
            found.push(pair.acceptor_finds(step));
        }
        prop_assert_eq!(&found[0], &found[1]);
        prop_assert_eq!(&found[1], &found[2]);
        prop_assert!(budget.figures().most <= 1 << 20);
    }
}

/// A message or fragments, of any kind and version; some are missing.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let version = prop::sample::select(vec![1, 2]);
    let kind = 0..8_u8;
    (version, 0..6_u32, 0..400_usize, kind, any::<u8>()).prop_map(
        |(minor, id, size, kind, kept)| {
            let version = if minor == 1 {
                Version::V1_1
            } else {
                Version::V1_2
            };
            let body = vec![id as u8; size];
            let messages = match kind {
                0 => vec![request(version, id, &body)],
                1 => vec![reply(id, &body)],
                2 if minor == 1 => old_request_in_fragments(id, &body, 64),
                2 => request_in_fragments(id, &body, 64),
                3 if minor == 1 => old_reply_in_fragments(id, &body, 64),
                3 => reply_in_fragments(id, &body, 64),
                4 => locate_messages(version, id, &body, 64),
                5 => vec![locate_reply(version, id, LocateStatus::ObjectForward, size)],
                6 => vec![cancel(version, id)],
                _ if kept % 2 == 0 => vec![close_connection(version).to_vec()],
                _ => vec![message_error(version).to_vec()],
            };
            let kept = usize::from(kept) % (messages.len() + 1);
            messages[..kept.max(1)].concat()
        },
    )
}
