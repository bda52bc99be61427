// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messaging protocols: what goes in comes out, whatever the wire does to it.
#![cfg(feature = "ziop")]

use std::ops::Range;
use std::sync::Arc;

use crate::octets::{Chance, octets};
use crate::traffic::{LIMIT, Receiver, cut, cuts, encode, ends, messages};
use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_giop::messaging::{
    Decoder, Encoder, Fixed, GiopLite, Input, MAX_OVERHEAD, Message, Messaging, MessagingError,
    Session, Side, Stack, StackError, builtin, to_giop,
};
use orbium_giop::numbers::{Names, Numbers};
use orbium_giop::{
    Headers, MessageHeader, OperationTail, PlainRequest, ReplyHeader, ReplyStatus, RequestTemplate,
    ResponseFlags, ServiceContext, Version, begin_reply, finish_message,
};
use proptest::prelude::*;

/// A protocol from outside: length, octets and their sum.
#[derive(Debug)]
struct Checksum;

impl Messaging for Checksum {
    fn name(&self) -> &str {
        "checksum"
    }
    fn input(&self) -> Input {
        Input::Octets
    }
    fn session(&self, _: Side, limit: usize) -> Session {
        Session::new(Sum { limit }, Sum { limit })
    }
}

#[derive(Debug)]
struct Sum {
    limit: usize,
}

fn sum(octets: &[u8], start: u32) -> u32 {
    let add = |sum: u32, octet: &u8| sum.rotate_left(5) ^ u32::from(*octet);
    octets.iter().fold(start, add)
}

impl Encoder for Sum {
    fn encode(
        &mut self,
        message: Message<'_>,
        head: &mut Vec<u8>,
        tail: &mut Vec<u8>,
    ) -> Result<Range<usize>, MessagingError> {
        head.extend((message.len() as u32).to_be_bytes());
        let sum = message.pieces().iter().fold(0, |at, piece| sum(piece, at));
        tail.extend(sum.to_be_bytes());
        Ok(0..message.len())
    }
}

impl Decoder for Sum {
    fn frame_len(&self, wire: &[u8]) -> Result<Option<usize>, MessagingError> {
        let Some(len) = wire.first_chunk() else {
            return Ok(None);
        };
        let len = u32::from_be_bytes(*len) as usize;
        if len > self.limit {
            return Err(MessagingError::TooLarge);
        }
        Ok(Some(len + 8))
    }
    fn decode(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<(), MessagingError> {
        let (octets, expected) = frame[4..].split_at(frame.len() - 8);
        if sum(octets, 0).to_be_bytes() != expected {
            return Err(MessagingError::Refused("the sum is wrong"));
        }
        message.extend_from_slice(octets);
        Ok(())
    }
}

fn stack(names: &str) -> Result<Stack, StackError> {
    let known = |name: &str| {
        builtin()
            .into_iter()
            .chain([Arc::new(Checksum) as Arc<dyn Messaging>])
            .find(|layer| layer.name() == name)
            .expect("a known layer")
    };
    Stack::new(names.split(',').map(known).collect())
}

/// All orders that make sense.
const STACKS: &[&str] = &[
    "giop-lite",
    "fixed",
    "ziop",
    "checksum",
    "giop-lite,checksum",
    "giop-lite,ziop",
    "fixed,ziop",
    "fixed,checksum,ziop",
    "ziop,checksum",
    "giop-lite,ziop,checksum",
];

/// Sends messages from one end to the other, the messages and the stream cut
/// anywhere; returns the octets of the wire.
fn pass(
    layer: &dyn Messaging,
    sent: &[Vec<u8>],
    pieces: &[prop::sample::Index],
    splits: &[prop::sample::Index],
) -> Vec<u8> {
    let (mut client, mut server) = ends(layer);
    let mut wire = Vec::new();
    for message in sent {
        let frame = encode(&mut client, &cut(message, pieces)).expect("a GIOP message");
        assert!(frame.len() <= message.len() + MAX_OVERHEAD * 4);
        for len in 0..frame.len().min(40) {
            let length = server.decoder.frame_len(&frame[..len]).expect("a frame");
            assert!(
                length.is_none_or(|length| length == frame.len()),
                "{layer:?}"
            );
        }
        wire.extend(frame);
    }
    let mut receiver = Receiver::new(&mut server);
    for octets in cut(&wire, splits) {
        receiver.receive(octets).expect("what was sent");
    }
    assert!(receiver.buffer.is_empty());
    assert!(
        receiver.messages == sent,
        "{} changed a message",
        layer.name()
    );
    wire
}

proptest! {
    /// Conformance: protocols - messaging protocols: every message through every stack, over every
    /// stream
    #[test]
    fn every_message_passes_every_stack(
        sent in prop::collection::vec(messages(), 1..12),
        pieces in cuts(),
        splits in cuts(),
    ) {
        for names in STACKS {
            pass(&stack(names).expect("a sensible stack"), &sent, &pieces, &splits);
        }
    }

    #[test]
    fn any_octets_are_decoded_or_refused(
        garbage in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        for names in STACKS {
            let (_, mut server) = ends(&stack(names).expect("a sensible stack"));
            let _ = Receiver::new(&mut server).receive(&garbage);
        }
    }

    /// Conformance: protocols - messaging protocols: hostile frames
    #[test]
    fn damaged_frames_are_decoded_or_refused(
        sent in prop::collection::vec(messages(), 1..6),
        seed in 1..u64::MAX,
    ) {
        let mut chance = Chance(seed);
        for names in STACKS {
            let layer = stack(names).expect("a sensible stack");
            let (mut client, mut server) = ends(&layer);
            let mut receiver = Receiver::new(&mut server);
            for message in &sent {
                let mut frame = encode(&mut client, &[message]).expect("a GIOP message");
                chance.mutate(&mut frame);
                if receiver.receive(&frame).is_err() {
                    break;
                }
                let received = receiver.messages.iter().map(Vec::len).max();
                prop_assert!(received <= Some(LIMIT));
            }
        }
    }
}

/// Conformance: protocols - senseless stacks
#[test]
fn senseless_stacks_are_refused_with_a_sentence() {
    for (names, sentence) in [
        (
            "checksum,giop-lite",
            "messaging giop-lite needs GIOP messages, which checksum before it changes: \
             name giop-lite first",
        ),
        (
            "ziop,fixed",
            "messaging fixed needs GIOP messages, which ziop before it changes: \
             name fixed first",
        ),
        (
            "giop-lite,fixed",
            "messaging fixed needs GIOP messages, which giop-lite before it changes: \
             name fixed first",
        ),
        ("checksum,checksum", "messaging checksum is named twice"),
        ("giop-lite,giop-lite", "messaging giop-lite is named twice"),
    ] {
        let error = stack(names).expect_err(names);
        assert_eq!(error.to_string(), sentence);
    }
    assert_eq!(Stack::new(Vec::new()).unwrap_err(), StackError::Empty);
}

#[test]
fn a_stack_is_named_and_judged_as_its_halves() {
    let both = stack("giop-lite,checksum").unwrap();
    assert_eq!(both.name(), "giop-lite,checksum");
    assert_eq!((both.input(), both.is_stateful()), (Input::Giop, false));
    assert_eq!(stack("checksum").unwrap().input(), Input::Octets);
    assert!(stack("fixed,ziop").unwrap().is_stateful());
    assert!(!stack("ziop,checksum").unwrap().is_stateful());
}

#[test]
fn the_checksum_notices_damage_below_another_half() {
    let layer = stack("giop-lite,checksum").unwrap();
    let (mut client, mut server) = ends(&layer);
    let message = octets("47494f50 01 02 01 05 00000000");
    let mut frame = encode(&mut client, &[&message]).unwrap();
    *frame.last_mut().unwrap() ^= 1;
    let error = server.decoder.decode(&frame, &mut Vec::new());
    assert_eq!(error, Err(MessagingError::Refused("the sum is wrong")));
}

#[test]
fn octets_that_are_no_giop_message_are_not_encoded() {
    let (mut client, _) = ends(&GiopLite);
    for wrong in [&b""[..], b"GIOP", b"POST / HTTP/1.1\r\n"] {
        let error = encode(&mut client, &[wrong]).unwrap_err();
        assert!(matches!(error, MessagingError::NotGiop(_)), "{error}");
    }
    let longer = octets("47494f50 01 02 01 05 00000000 00");
    let error = encode(&mut client, &[&longer]).unwrap_err();
    assert_eq!(error, MessagingError::WrongLength);
}

mod giop_lite {
    use super::*;

    #[test]
    fn a_request_is_little_more_than_its_body() {
        let message = octets(
            "47494f50 01 02 01 00 28000000      # Request, little endian, 40 octets follow
             07000000 03 000000 0000 0000 03000000 4b6579 00 03000000 6f7000 00
             00000000 00000000                  # no service contexts, padding
             01020304",
        );
        let expected = octets(
            "9a 02 0300 07000000 10000000       # little, response 3; op of 2, key of 3; id; size
             4b6579 6f70 000000000000 00        # Key, op, padding
             01020304",
        );
        let (mut client, mut server) = ends(&GiopLite);
        let frame = encode(&mut client, &[&message]).unwrap();
        assert_eq!(frame, expected);
        let mut decoded = Vec::new();
        server.decoder.decode(&frame, &mut decoded).unwrap();
        assert_eq!(decoded, message);
    }

    #[test]
    fn replies_are_half_as_long_and_all_else_is_as_it_was() {
        let reply = octets("47494f50 01 02 00 01 00000010 00000100 00000001 00000000 00000009");
        let short = octets("81 01 0000 00000100 00000008 00000000 00000009");
        let (mut client, _) = ends(&GiopLite);
        assert_eq!(encode(&mut client, &[&reply]).unwrap(), short);
        for other in [
            "47494f50 01 00 00 05 00000000",
            "47494f50 01 01 00 01 0000000c 00000000 00000009 00000000",
            "47494f50 01 02 02 01 0000000c 00000009 00000000 00000000",
        ] {
            let message = octets(other);
            assert_eq!(encode(&mut client, &[&message]).unwrap(), message);
        }
    }

    /// What the client's template writes and what the encoder makes of a GIOP message
    /// are the same octets.
    #[test]
    fn the_template_writes_what_the_encoder_makes_of_giop() {
        let operations: [&'static str; 4] = [
            "op",
            "_get_name",
            "",
            "a_name_of_forty_four_octets_as_long_as_it_is",
        ];
        for operation in operations {
            let lens = (0..60).chain([255, 256, 1000]);
            for (len, body) in lens.flat_map(|len| [(len, &b""[..]), (len, b"\x05octets")]) {
                let key = vec![(len % 250) as u8 + 1; len];
                let tail: &'static _ = Box::leak(Box::new(OperationTail::new(operation)));
                let plain = RequestTemplate::new(Version::V1_2, &key);
                let short = plain.clone().with_headers(Headers::SHORT, &key);
                let write = |template: &RequestTemplate| {
                    // What was in the buffer before must not be seen.
                    let mut writer =
                        CdrWriter::reuse(vec![0xEE; 512], Format::plain(ByteOrder::NATIVE, 2));
                    let start = template
                        .begin_over(&mut writer, 7, ResponseFlags::Full, tail, || None)
                        .unwrap();
                    writer.write_raw(body);
                    finish_message(&mut writer, start);
                    writer.finish().unwrap()
                };
                let (giop, short) = (write(&plain), write(&short));
                let (mut client, mut server) = ends(&GiopLite);
                let encoded = encode(&mut client, &[&giop]).unwrap();
                assert_eq!(short, encoded, "{operation} {len}");
                let mut decoded = Vec::new();
                server.decoder.decode(&short, &mut decoded).unwrap();
                assert_eq!(decoded, giop);
                let found = PlainRequest::find_short(&encoded).unwrap();
                assert_eq!((found.request_id, found.response), (7, ResponseFlags::Full));
                assert_eq!(encoded[12..][found.key], key);
                assert_eq!(encoded[12..][found.operation], *operation.as_bytes());
                assert_eq!(encoded[12..][found.body..], *body);
            }
        }
    }

    /// A short reply, as the server writes it.
    #[test]
    fn a_reply_is_written_and_read_with_a_short_header() {
        for (status, body) in [
            (ReplyStatus::NoException, &b""[..]),
            (ReplyStatus::UserException, b"x"),
        ] {
            let write = |version| {
                let mut writer =
                    CdrWriter::reuse(vec![0xEE; 512], Format::plain(ByteOrder::NATIVE, 2));
                let start = begin_reply(&mut writer, version, 9, status, &[]);
                writer.write_raw(body);
                finish_message(&mut writer, start);
                writer.finish().unwrap()
            };
            let (giop, short) = (write(Version::V1_2), write(Version::SHORT));
            let (mut client, _) = ends(&GiopLite);
            assert_eq!(encode(&mut client, &[&giop]).unwrap(), short);
            let header = MessageHeader::parse_short(short.first_chunk().unwrap()).unwrap();
            let plain = ReplyHeader::plain(&header, &short).unwrap();
            assert_eq!((plain.request_id, plain.status), (9, status));
            assert_eq!(short[plain.body..], *body);
        }
    }

    /// Bodies in another representation than CDR are marked, and read as such alone where
    /// both ends have agreed.
    #[test]
    fn native_requests_and_replies_are_marked() {
        let format = Format::plain(ByteOrder::NATIVE, 2);
        let mut writer = CdrWriter::new(format);
        static TAIL: OperationTail = OperationTail::new("op");
        let template = RequestTemplate::new(Version::V1_2, b"Key");
        let native = template.with_headers(Headers::NATIVE, b"Key");
        let start = native
            .begin_over(&mut writer, 7, ResponseFlags::Full, &TAIL, || None)
            .unwrap();
        assert!(writer.format().is_natural());
        finish_message(&mut writer, start);
        let request = writer.finish().unwrap();
        let mut writer = CdrWriter::new(format.with_natural_elements(true));
        let start = begin_reply(
            &mut writer,
            Version::NATIVE,
            7,
            ReplyStatus::NoException,
            &[],
        );
        finish_message(&mut writer, start);
        let reply = writer.finish().unwrap();
        for message in [request, reply] {
            let header = MessageHeader::parse_short(message.first_chunk().unwrap()).unwrap();
            assert_eq!(header.version, Version::NATIVE);
            assert!(header.format().is_natural());
            let head = message.first_chunk().unwrap();
            assert_eq!(Headers::NATIVE.parse(head), Some(header));
            assert_eq!(Headers::SHORT.parse(head), None);
            assert_eq!(to_giop(&message), None);
            let decoder = GiopLite.session(Side::Server, 64).decoder;
            assert!(decoder.frame_len(&message).is_err());
            // In the other byte order it would be another representation.
            let mut foreign = message.clone();
            foreign[0] ^= 2;
            assert_eq!(
                MessageHeader::parse_short(foreign.first_chunk().unwrap()),
                None
            );
        }
        // A reply with service contexts has GIOP's header, and its body is CDR.
        let mut writer = CdrWriter::new(format.with_natural_elements(true));
        let contexts = [ServiceContext { id: 1, data: &[] }];
        let start = begin_reply(
            &mut writer,
            Version::NATIVE,
            7,
            ReplyStatus::NoException,
            &contexts,
        );
        assert!(!writer.format().is_natural());
        finish_message(&mut writer, start);
        let reply = writer.finish().unwrap();
        let header = MessageHeader::parse(reply.first_chunk().unwrap()).unwrap();
        assert_eq!(header.version, Version::V1_2);
    }

    #[test]
    fn hostile_frames_are_refused() {
        let mut decoder = GiopLite.session(Side::Server, 64).decoder;
        for (frame, error) in [
            (
                "9a 00 0000 07000000 35000000",
                Some(MessagingError::TooLarge),
            ),
            (
                "9a 00 0000 07000000 ffffffff",
                Some(MessagingError::TooLarge),
            ),
            ("9e 00 0000 07000000 00000000", None), // a native body, not agreed on
            ("ba 00 0000 07000000 00000000", None), // a bit that none has
            ("99 00 0000 07000000 00000000", None), // a reply that wants an answer
            ("81 00 0001 07000000 00000000", None), // a reply with a key
            ("1a 00 0000 07000000 00000000", None),
            ("47 49 4f50 01000007 00000000", None), // a Fragment of GIOP 1.0
        ] {
            let refused = decoder.frame_len(&octets(frame)).expect_err(frame);
            assert!(
                error.is_none_or(|error| error == refused),
                "{frame}: {refused}"
            );
        }
        for (frame, error) in [
            ("9a 00 0100 07000000 00000000", MessagingError::Truncated),
            ("9a 01 0000 07000000 00000000", MessagingError::Truncated),
            ("9a ff ffff 07000000 01000000 00", MessagingError::Truncated),
            ("9a 00 0000 07000000 01000000", MessagingError::WrongLength),
        ] {
            let refused = decoder.decode(&octets(frame), &mut Vec::new());
            assert_eq!(refused, Err(error), "{frame}");
        }
        // Within the limit as a frame, beyond it as a message.
        let frame = [&octets("9a 00 0000 07000000 34000000")[..], &[0; 0x34]].concat();
        let refused = decoder.decode(&frame, &mut Vec::new());
        assert_eq!(refused, Err(MessagingError::TooLarge));
        // A status that does not exist is no reply.
        let reply = octets("83 06 0000 07000000 00000000");
        let header = MessageHeader::parse_short(reply.first_chunk().unwrap()).unwrap();
        assert_eq!(ReplyHeader::plain(&header, &reply), None);
    }
}

fn request(key: &[u8], operation: &str, body: &[u8]) -> Vec<u8> {
    let order = ByteOrder::Little;
    let template = RequestTemplate::in_order(order, Version::V1_2, key);
    let mut writer = CdrWriter::new(Format::plain(order, 2));
    let start = template.begin(&mut writer, 7, ResponseFlags::Full, operation, &[]);
    writer.write_raw(body);
    finish_message(&mut writer, start);
    writer.finish().unwrap()
}

mod fixed {
    use super::*;

    #[test]
    fn the_first_request_defines_and_the_next_ones_have_numbers() {
        let (mut client, mut server) = ends(&Fixed);
        let mut decoded = Vec::new();
        for (message, expected) in [
            (
                request(b"Key", "op", b"\x01\x02\x03\x04"),
                "da 02 0300 07000000 10000000  # defines; little, response 3; op of 2, key of 3
                 0000 00 00 4b6579 6f70       # both are 0; Key, op
                 000000 01020304",
            ),
            (
                request(b"Key", "op", b"\x05"),
                "ba 00 0000 07000000 05000000 00000000 05",
            ),
            (
                request(b"Key", "other", b""),
                "da 05 0300 07000000 0c000000 0000 01 00 4b6579 6f74686572",
            ),
            (
                request(b"Key", "other", b""),
                "ba 01 0000 07000000 00000000",
            ),
            (
                octets("47494f50 01 02 00 01 0000000c 00000009 00000001 00000000"),
                "81 01 0000 00000009 00000004 00000000",
            ),
            (
                octets("47494f50 01 00 00 05 00000000"),
                "47494f50 01 00 00 05 00000000",
            ),
        ] {
            let frame = encode(&mut client, &[&message]).unwrap();
            assert_eq!(frame, octets(expected));
            decoded.clear();
            server.decoder.decode(&frame, &mut decoded).unwrap();
            assert_eq!(decoded, message);
        }
    }

    /// What the client's template writes and what the encoder makes of a GIOP message are
    /// the same octets.
    #[test]
    fn the_template_writes_what_the_encoder_makes_of_giop() {
        static OPERATIONS: [OperationTail; 3] = [
            OperationTail::new("op"),
            OperationTail::new("_get_name"),
            OperationTail::new("a_name_of_forty_four_octets_as_long_as_it_is"),
        ];
        let keys: Vec<_> = (0..60).map(|len| vec![len as u8 + 1; len]).collect();
        let templates: Vec<_> = keys
            .iter()
            .map(|key| {
                let plain = RequestTemplate::new(Version::V1_2, key);
                (plain.clone(), plain.with_headers(Headers::NUMBERED, key))
            })
            .collect();
        let (mut client, mut server) = ends(&Fixed);
        let mut numbers = Numbers::default();
        for _ in 0..3 {
            for (tail, (plain, numbered)) in templates
                .iter()
                .flat_map(|both| OPERATIONS.iter().map(move |tail| (tail, both)))
                .flat_map(|one| [one; 2])
            {
                for body in [&b""[..], b"\x05octets"] {
                    let begin = |writer: &mut CdrWriter<'_>| {
                        plain.begin_over(writer, 7, ResponseFlags::Full, tail, || None)
                    };
                    let giop = written(body, begin);
                    let short = written(body, |writer| {
                        let numbers = once(&mut numbers);
                        numbered.begin_over(writer, 7, ResponseFlags::Full, tail, numbers)
                    });
                    if short[0] & 0x80 == 0 {
                        // Keys that are too long for a short header.
                        assert_eq!(short, giop);
                        continue;
                    }
                    assert_eq!(short, encode(&mut client, &[&giop]).unwrap());
                    let mut decoded = Vec::new();
                    server.decoder.decode(&short, &mut decoded).unwrap();
                    assert_eq!(decoded, giop);
                }
            }
        }
    }

    fn once<'n>(numbers: &'n mut Numbers) -> impl FnOnce() -> Option<&'n mut Numbers> {
        move || Some(numbers)
    }

    fn written(
        body: &[u8],
        begin: impl FnOnce(&mut CdrWriter<'_>) -> Option<orbium_giop::BodyStart>,
    ) -> Vec<u8> {
        // What was in the buffer before must not be seen.
        let mut writer = CdrWriter::reuse(vec![0xEE; 512], Format::plain(ByteOrder::NATIVE, 2));
        let start = begin(&mut writer).unwrap();
        writer.write_raw(body);
        finish_message(&mut writer, start);
        writer.finish().unwrap()
    }

    /// A fourth protocol would be one value: numbers, and bodies in the native
    /// representation.
    #[test]
    fn numbers_and_native_bodies_go_together() {
        static OPERATION: OperationTail = OperationTail::new("op");
        let headers = Headers::NUMBERED.with_native_bodies();
        let template = RequestTemplate::new(Version::V1_2, b"Key").with_headers(headers, b"Key");
        let (mut numbers, names) = (Numbers::default(), Names::default());
        for numbered in [false, true] {
            let message = written(b"x", |writer| {
                let numbers = once(&mut numbers);
                template.begin_over(writer, 7, ResponseFlags::Full, &OPERATION, numbers)
            });
            assert_eq!(Names::are_needed_for(&message), numbered);
            let head = message.first_chunk().unwrap();
            assert_eq!(headers.parse(head).unwrap().version, Version::NATIVE);
            assert_eq!(Headers::NUMBERED.parse(head), None);
            assert_eq!(Headers::NATIVE.parse(head), None);
            let mut named = Vec::new();
            names.named(&message, &mut named).unwrap();
            assert_eq!(named[12..], *b"Keyop\0\0\0\0\0\0\0x");
            assert!(
                Headers::NATIVE
                    .parse(named.first_chunk().unwrap())
                    .is_some()
            );
        }
    }

    #[test]
    fn more_objects_than_numbers_are_called_none_the_less() {
        let sent: Vec<_> = (0..2000_u32)
            .map(|i| {
                request(
                    &(i * i % 701).to_be_bytes(),
                    &format!("op{}", i % 300),
                    b"x",
                )
            })
            .collect();
        let wire = pass(&Fixed, &sent, &[], &[]);
        let octets: usize = sent.iter().map(Vec::len).sum();
        assert!(wire.len() < octets);
    }

    #[test]
    fn names_beyond_the_bound_get_no_number() {
        let message = request(&[7; 256], "op", b"");
        let wire = pass(&Fixed, &[message.clone(), message.clone()], &[], &[]);
        let (mut lite, _) = ends(&GiopLite);
        let frame = encode(&mut lite, &[&message]).unwrap();
        assert_eq!(wire, [&frame[..], &frame].concat());
    }

    #[test]
    fn hostile_frames_are_refused() {
        use MessagingError::{OutOfTable, TooLarge, Truncated, Unbound, UnknownForm, WrongLength};
        let key = "61".repeat(256);
        let long = format!("da 00 0001 07000000 04010000 0000 00 00 {key}");
        for (frame, error) in [
            ("ba 00 0000 07000000 00000000", Unbound(0)),
            ("ba 00 0001 07000000 00000000", OutOfTable(256)),
            ("da 00 0000 07000000 04000000 0001 00 00", OutOfTable(256)),
            (long.as_str(), TooLarge),
            ("da 00 0000 07000000 00000000", Truncated),
            ("da 00 0000 07000000 03000000 0000 00", Truncated),
            ("da 00 0000 07000000 04000000 0000 00 01", Truncated),
            ("da 00 0200 07000000 05000000 0000 00 00 61", Truncated),
            ("da 02 0000 07000000 05000000 0000 00 00 61", Truncated),
            ("ba 00 0000 07000000 01000000", WrongLength),
        ] {
            let mut decoder = Fixed.session(Side::Server, LIMIT).decoder;
            let refused = decoder.decode(&octets(frame), &mut Vec::new());
            assert_eq!(refused, Err(error), "{frame}");
        }
        let decoder = Fixed.session(Side::Server, 100).decoder;
        for (start, error) in [
            ("be 00 0000 07000000 00000000", UnknownForm(0xBE)),
            ("ba 00 0000 07000000 ffffffff", TooLarge),
        ] {
            assert_eq!(decoder.frame_len(&octets(start)), Err(error), "{start}");
        }
        // Both at once, and replies with either.
        for start in [
            "fa 00 0000 07000000 00000000",
            "a3 00 0000 07000000 00000000",
        ] {
            assert!(decoder.frame_len(&octets(start)).is_err(), "{start}");
        }
        // No numbers were agreed on.
        let decoder = GiopLite.session(Side::Server, 100).decoder;
        for start in [
            "ba 00 0000 07000000 00000000",
            "da 00 0000 07000000 00000000",
        ] {
            let form = octets(start)[0];
            assert_eq!(decoder.frame_len(&octets(start)), Err(UnknownForm(form)));
        }
    }

    #[test]
    fn a_number_keeps_its_meaning() {
        let mut decoder = Fixed.session(Side::Server, LIMIT).decoder;
        let mut decode = |frame: &str| decoder.decode(&octets(frame), &mut Vec::new());
        let first = "da 01 0100 07000000 06000000 0000 00 00 61 62";
        assert_eq!((decode(first), decode(first)), (Ok(()), Ok(())));
        let other = "da 01 0100 07000000 06000000 0000 00 00 78 62";
        let changed = MessagingError::Refused("a number has another meaning");
        assert_eq!(decode(other), Err(changed));
    }
}

mod ziop {
    use super::*;
    use orbium_giop::messaging::ziop::Ziop;

    fn compressed(message: &[u8]) -> Vec<u8> {
        let (mut client, _) = ends(&Ziop::default());
        let frame = encode(&mut client, &[message]).unwrap();
        assert_eq!(&frame[..4], b"ZIOP");
        frame
    }

    fn decode(limit: usize, frame: &[u8]) -> Result<Vec<u8>, MessagingError> {
        let mut message = Vec::new();
        let mut decoder = Ziop::default().session(Side::Server, limit).decoder;
        decoder.decode(frame, &mut message)?;
        Ok(message)
    }

    /// Conformance: protocols - compressed messages as the standard has them
    #[test]
    fn a_compressed_message_has_the_layout_of_the_standard() {
        let message = request(b"Key", "op", &[b'x'; 5000]);
        let frame = compressed(&message);
        assert!(frame.len() < 200, "{}", frame.len());
        assert_eq!(frame[4..8], message[4..8]);
        let long = |at: usize| u32::from_le_bytes(*frame[at..].first_chunk().unwrap()) as usize;
        assert_eq!(long(8), frame.len() - 12);
        assert_eq!(frame[12..16], [4, 0, 0, 0], "zlib");
        assert_eq!(long(16), message.len() - 12);
        assert_eq!(long(20), frame.len() - 24);
        assert_eq!(frame[24] & 0x0F, 8, "a zlib header");
        assert_eq!(decode(LIMIT, &frame), Ok(message));
    }

    #[test]
    fn incompressible_messages_are_sent_as_they_are() {
        let mut chance = Chance(1);
        let noise: Vec<u8> = (0..5000).map(|_| chance.below(256) as u8).collect();
        let plain = request(b"Key", "op", &noise);
        let small = request(b"Key", "op", &[0; 500]);
        for message in [plain, small] {
            let (mut client, _) = ends(&Ziop::default());
            assert_eq!(encode(&mut client, &[&message]).unwrap(), message);
        }
        let (mut client, _) = ends(&Ziop::default().with_gain(100));
        let message = request(b"Key", "op", &[0; 5000]);
        assert_eq!(encode(&mut client, &[&message]).unwrap(), message);
        let (mut client, _) = ends(&Ziop::default().with_low_water(0));
        let message = request(b"Key", "op", &[0; 500]);
        assert!(encode(&mut client, &[&message]).unwrap().len() < message.len());
    }

    /// Conformance: protocols - messaging protocols: hostile frames
    #[test]
    fn a_bomb_is_refused_while_it_is_inflated() {
        let bomb = compressed(&request(b"Key", "op", &vec![0; 50_000]));
        assert_eq!(decode(40_000, &bomb), Err(MessagingError::TooLarge));
        // It says that it is small.
        let mut liar = bomb.clone();
        liar[16..20].copy_from_slice(&100_u32.to_le_bytes());
        let mut message = Vec::new();
        let mut decoder = Ziop::default().session(Side::Server, LIMIT).decoder;
        let refused = decoder.decode(&liar, &mut message);
        assert_eq!(refused, Err(MessagingError::BadCompression));
        assert!(message.capacity() < 1000, "{}", message.capacity());
        // It says that it is large.
        let mut liar = bomb.clone();
        liar[16..20].copy_from_slice(&60_000_u32.to_le_bytes());
        assert_eq!(decode(LIMIT, &liar), Err(MessagingError::BadCompression));
        // A small frame with a huge length has no memory reserved for that length.
        let mut message = Vec::new();
        liar[16..20].copy_from_slice(&0xFFFF_0000_u32.to_le_bytes());
        let mut decoder = Ziop::default().session(Side::Server, usize::MAX).decoder;
        let refused = decoder.decode(&liar, &mut message);
        assert_eq!(refused, Err(MessagingError::BadCompression));
        assert!(message.capacity() < 1 << 20, "{}", message.capacity());
    }

    #[test]
    fn damaged_frames_are_refused() {
        let message = request(b"Key", "op", &[b'x'; 5000]);
        let frame = compressed(&message);
        let damaged = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut frame = frame.clone();
            change(&mut frame);
            decode(LIMIT, &frame)
        };
        assert_eq!(
            damaged(&|frame| frame[12] = 3),
            Err(MessagingError::UnknownCompressor(3))
        );
        assert_eq!(
            damaged(&|frame| frame[20] -= 1),
            Err(MessagingError::WrongLength)
        );
        assert_eq!(
            damaged(&|frame| frame.truncate(24)),
            Err(MessagingError::WrongLength)
        );
        let checksum = frame.len() - 1;
        assert_eq!(
            damaged(&|frame| frame[checksum] ^= 1),
            Err(MessagingError::BadCompression)
        );
        let cut = damaged(&|frame| {
            frame.truncate(60);
            frame[8..12].copy_from_slice(&48_u32.to_le_bytes());
            frame[20..24].copy_from_slice(&36_u32.to_le_bytes());
        });
        assert_eq!(cut, Err(MessagingError::BadCompression));
        let more = damaged(&|frame| {
            frame.push(0);
            frame[8] += 1;
            frame[20] += 1;
        });
        assert_eq!(more, Err(MessagingError::BadCompression));
    }
}
