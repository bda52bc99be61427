// SPDX-License-Identifier: MIT OR Apache-2.0
//! The twelve octets before every message, and the messages that are no more.

use crate::octets::octets;
use orbium_cdr::ByteOrder;
use orbium_giop::{
    CancelRequest, HeaderError, MessageHeader, MessageKind, Version, close_connection,
    message_error,
};

fn header(text: &str) -> [u8; 12] {
    octets(text).try_into().unwrap()
}

const KINDS: [MessageKind; 8] = [
    MessageKind::Request,
    MessageKind::Reply,
    MessageKind::CancelRequest,
    MessageKind::LocateRequest,
    MessageKind::LocateReply,
    MessageKind::CloseConnection,
    MessageKind::MessageError,
    MessageKind::Fragment,
];

/// Conformance: GIOP 2: 9.4.1 - header of every version, order and type
#[test]
fn headers_round_trip_in_every_version_order_and_kind() {
    for minor in 0..=3 {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            for (number, kind) in KINDS.into_iter().enumerate() {
                for more_fragments in [false, true] {
                    if minor == 0 && (more_fragments || kind == MessageKind::Fragment) {
                        continue;
                    }
                    let header = MessageHeader {
                        version: Version { major: 1, minor },
                        order,
                        more_fragments,
                        kind,
                        size: 0x0102_0304,
                    };
                    let encoded = header.encode();
                    assert_eq!(usize::from(encoded[7]), number);
                    assert_eq!(MessageHeader::parse(&encoded), Ok(header));
                }
            }
        }
    }
}

/// Conformance: GIOP 2: 9.4.1 - header of every version, order and type
#[test]
fn header_octets_mean_what_the_standard_says() {
    let parsed = MessageHeader::parse(&header("47494f50 01 02 03 07 10000000")).unwrap();
    assert_eq!(parsed.version, Version::V1_2);
    assert_eq!(parsed.order, ByteOrder::Little);
    assert!(parsed.more_fragments);
    assert_eq!(parsed.kind, MessageKind::Fragment);
    assert_eq!(parsed.size, 16);
}

/// Conformance: GIOP 2: 9.4.1 - 1.0 has a boolean where 1.1 has flags
#[test]
fn giop_1_0_has_a_boolean_where_later_versions_have_flags() {
    let parsed = MessageHeader::parse(&header("47494f50 01 00 03 00 00000000")).unwrap();
    assert!(!parsed.more_fragments);
}

/// Conformance: GIOP 2: 9.4.1 - 1.3 is read as 1.2
#[test]
fn giop_1_3_is_read_as_1_2_and_keeps_its_number() {
    let parsed = MessageHeader::parse(&header("47494f50 01 03 00 00 00000000")).unwrap();
    assert_eq!(parsed.version.minor, 3);
    assert_eq!(parsed.format().minor, 2);
}

#[test]
fn a_plain_request_is_read_as_any_header_and_nothing_else_is_one() {
    let plain = MessageHeader {
        version: Version::V1_2,
        order: ByteOrder::NATIVE,
        more_fragments: false,
        kind: MessageKind::Request,
        size: 0x0102_0304,
    };
    let encoded = plain.encode();
    assert_eq!(MessageHeader::plain_request(&encoded), Some(plain));
    for place in 0..8 {
        for bit in 0..8 {
            let mut other = encoded;
            other[place] ^= 1 << bit;
            assert_eq!(MessageHeader::plain_request(&other), None, "{other:02x?}");
        }
    }
    for place in 8..12 {
        let mut other = encoded;
        other[place] ^= 0xFF;
        let read = MessageHeader::plain_request(&other);
        assert_eq!(read, MessageHeader::parse(&other).ok());
    }
}

/// Conformance: GIOP 2: 9.4.1 - what is no header is refused with the reason
#[test]
fn wrong_headers_are_distinguished() {
    for (text, error) in [
        (
            "47494f51 01 02 01 00 00000000",
            HeaderError::BadMagic(*b"GIOQ"),
        ),
        (
            "48545450 01 02 01 00 00000000",
            HeaderError::BadMagic(*b"HTTP"),
        ),
        (
            "47494f50 02 00 01 00 00000000",
            HeaderError::UnsupportedVersion(Version { major: 2, minor: 0 }),
        ),
        (
            "47494f50 01 04 01 00 00000000",
            HeaderError::UnsupportedVersion(Version { major: 1, minor: 4 }),
        ),
        ("47494f50 01 02 01 08 00000000", HeaderError::UnknownKind(8)),
        (
            "47494f50 01 00 01 07 00000000",
            HeaderError::FragmentInGiop10,
        ),
    ] {
        assert_eq!(MessageHeader::parse(&header(text)), Err(error), "{text}");
    }
}

/// Conformance: GIOP 2: 9.4.7, 9.4.8 - CloseConnection, MessageError
#[test]
fn header_only_messages_are_twelve_octets() {
    let native = ByteOrder::NATIVE.flag();
    let mut close = header("47494f50 01 02 00 05 00000000");
    close[6] = native;
    assert_eq!(close_connection(Version::V1_2), close);
    let mut error = header("47494f50 01 02 00 06 00000000");
    error[6] = native;
    assert_eq!(message_error(Version::V1_2), error);
}

/// Conformance: GIOP 2: 9.4.4 - CancelRequest
#[test]
fn cancel_requests_carry_the_id_in_the_order_of_the_message() {
    let cancel = CancelRequest { request_id: 7 };
    let big = octets("47494f50 01 00 00 02 00000004 00000007");
    let little = octets("47494f50 01 02 01 02 04000000 07000000");
    assert_eq!(cancel.message(Version::V1_0, ByteOrder::Big)[..], big);
    assert_eq!(cancel.message(Version::V1_2, ByteOrder::Little)[..], little);
    for mut message in [big, little] {
        let (head, rest) = message.split_at_mut(12);
        let header = MessageHeader::parse(head.first_chunk().unwrap()).unwrap();
        assert_eq!(CancelRequest::read(&mut header.reader(rest)), Ok(cancel));
    }
}
