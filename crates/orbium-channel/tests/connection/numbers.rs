// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests with numbers in place of names: what they mean however they arrive, and what
//! peers are answered that use them wrongly.

use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_channel::connection::{Bounds, Cause, Event, Role, Violation};
use orbium_channel::framing::FramingError;
use orbium_channel::peer_memory::Budget;
use orbium_giop::messaging::MessagingError;
use orbium_giop::numbers::Numbers;
use orbium_giop::{
    Headers, OperationTail, RequestTemplate, ResponseFlags, Version, finish_message,
};
use proptest::prelude::*;

use super::pair::{Found, Pair, cancel, request_in_fragments};

/// A client that numbers its names.
struct Client {
    template: RequestTemplate,
    numbers: Numbers,
}

impl Client {
    fn new() -> Self {
        let template = RequestTemplate::new(Version::V1_2, b"key");
        Self {
            template: template.with_headers(Headers::NUMBERED, b"key"),
            numbers: Numbers::default(),
        }
    }

    fn request(&mut self, id: u32, body: &[u8]) -> Vec<u8> {
        static WORK: OperationTail = OperationTail::new("work");
        let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, 2));
        let numbers = &mut self.numbers;
        let response = ResponseFlags::Full;
        let start = self
            .template
            .begin_over(&mut writer, id, response, &WORK, || Some(numbers));
        writer.write_octets(body);
        finish_message(&mut writer, start.unwrap());
        writer.finish().unwrap()
    }
}

fn numbered() -> Pair {
    Pair::new().with_headers(Headers::NUMBERED)
}

proptest! {
    #[test]
    fn requests_arrive_with_their_names_however_they_are_cut(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..3000), 1..6),
        step in 1_usize..400,
    ) {
        let (mut pair, mut client) = (numbered(), Client::new());
        let mut expected = Vec::new();
        for (id, body) in (2..).step_by(2).zip(bodies) {
            pair.opener.send(&client.request(id, &body));
            // All other messages have headers of GIOP.
            pair.opener.send(&cancel(Version::V1_2, id + 1000));
            expected.push(Found::Request(id, body));
            expected.push(Found::Event(Event::Cancel(id + 1000)));
        }
        prop_assert_eq!(pair.acceptor_finds(step).unwrap(), expected);
        prop_assert!(!pair.acceptor.connection.is_unfinished());
    }
}

#[test]
fn requests_in_fragments_come_between_those_with_numbers() {
    let (mut pair, mut client) = (numbered(), Client::new());
    pair.opener.send(&client.request(2, b"first"));
    let fragments = request_in_fragments(4, &[7; 300], 64);
    let (last, others) = fragments.split_last().unwrap();
    for fragment in others {
        pair.opener.send(fragment);
    }
    pair.opener.send(&client.request(6, b"between"));
    pair.opener.send(last);
    let found = pair.acceptor_finds(usize::MAX).unwrap();
    let requests: Vec<_> = found
        .into_iter()
        .filter(|it| *it != Found::Event(Event::Fragment))
        .collect();
    let expected = [
        (2, b"first".to_vec()),
        (6, b"between".to_vec()),
        (4, vec![7; 300]),
    ];
    assert_eq!(
        requests,
        expected.map(|(id, body)| Found::Request(id, body))
    );
}

#[test]
fn numbers_without_a_meaning_end_the_connection() {
    let mut client = Client::new();
    client.request(2, b"");
    let mut pair = numbered();
    pair.opener.send(&client.request(4, b""));
    let wrong = pair.acceptor_finds(1).unwrap_err();
    assert_eq!(wrong, Violation::Numbers(MessagingError::Unbound(0)));
    assert!(wrong.answer().is_some());
}

#[test]
fn numbers_that_were_not_agreed_on_are_no_message() {
    let mut client = Client::new();
    for message in [client.request(2, b""), client.request(4, b"")] {
        for headers in [Headers::GIOP, Headers::SHORT, Headers::NATIVE] {
            let mut pair = Pair::new().with_headers(headers);
            pair.opener.send(&message);
            let wrong = pair.acceptor_finds(usize::MAX).unwrap_err();
            assert!(matches!(wrong, Violation::Framing(FramingError::Header(_))));
        }
    }
}

/// The client cannot know that the request which defines its numbers is refused.
#[test]
fn numbers_that_a_refused_request_defines_hold_for_the_next_ones() {
    let bounds = Bounds {
        message: 1000,
        ..Bounds::default()
    };
    let budget = Budget::new(Some(40_000), 1000);
    for (bounds, budget, octets) in [
        (bounds, Budget::NONE, 2000),
        (Bounds::default(), budget, 100_000),
    ] {
        for step in [1, 100, usize::MAX] {
            let (mut pair, mut client) = (
                Pair::with((Role::Client, Role::Server), bounds, &budget)
                    .with_headers(Headers::NUMBERED),
                Client::new(),
            );
            for (id, body) in [(2, vec![0; octets]), (4, vec![0; octets]), (6, vec![1])] {
                pair.opener.send(&client.request(id, &body));
            }
            let found = pair.acceptor_finds(step).unwrap();
            let refused = |it: &Found, id| {
                matches!(
                    it,
                    Found::Event(Event::Refused(refused))
                        if refused.request_id == id
                            && refused.expects_reply
                            && matches!(refused.cause, Cause::NoMemory | Cause::TooLarge(_))
                )
            };
            assert!(refused(&found[0], 2) && refused(&found[1], 4), "{found:?}");
            assert_eq!(found[2..], [Found::Request(6, vec![1])]);
        }
    }
}
