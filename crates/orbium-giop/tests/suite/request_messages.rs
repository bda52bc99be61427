// SPDX-License-Identifier: MIT OR Apache-2.0
//! Request messages of every version, order and addressing, octet for octet.

use crate::octets::octets;
use orbium_cdr::{ByteOrder, CdrErrorKind, CdrWriter, Format};
use orbium_giop::{
    BodyStart, IiopProfile, Ior, MessageHeader, OperationTail, PlainRequest, RequestHeader,
    RequestTemplate, ResponseFlags, ServiceContext, TaggedProfile, Target, Version, finish_message,
};

/// One request: header as begun, an unsigned long as its body if asked for.
pub(crate) fn write(
    template: &RequestTemplate,
    response: ResponseFlags,
    operation: &str,
    contexts: &[ServiceContext<'_>],
    body: Option<u32>,
) -> Vec<u8> {
    let format = Format::plain(template.order(), template.version().minor);
    let mut writer = CdrWriter::new(format);
    let start: BodyStart = template.begin(&mut writer, 7, response, operation, contexts);
    if let Some(value) = body {
        assert_eq!(writer.len(), start.position());
        writer.write_u32(value);
    }
    finish_message(&mut writer, start);
    writer.finish().unwrap()
}

/// Reads a request whole and says how many octets of body were left.
pub(crate) fn with_read<T>(
    message: &mut [u8],
    see: impl FnOnce(&RequestHeader<'_>, usize, usize) -> T,
) -> T {
    let (head, rest) = message.split_at_mut(12);
    let header = MessageHeader::parse(head.first_chunk().unwrap()).unwrap();
    assert_eq!(header.size as usize, rest.len());
    let mut reader = header.reader(rest);
    let request = RequestHeader::read(&mut reader, header.version.minor).unwrap();
    see(&request, reader.position(), reader.remaining())
}

/// Conformance: GIOP 2: 9.4.2 - Request 1.2, and its padding
#[test]
fn giop_1_2_key_request_has_the_layout_of_the_standard() {
    let big = RequestTemplate::in_order(ByteOrder::Big, Version::V1_2, b"Cube!");
    let expected = octets(
        "47494f50 01 02 00 00 00000030  # GIOP 1.2, big endian, Request, 48 octets follow
         00000007                       # request id
         03 000000                      # response flags, reserved
         0000 0000                      # KeyAddr, gap
         00000005 4375626521 000000     # key, gap
         00000005 6e6f6f7000 000000     # operation noop, gap
         00000000                       # no service contexts
         00000000                       # padding to 56
         0000002a                       # body",
    );
    let written = write(&big, ResponseFlags::Full, "noop", &[], Some(42));
    assert_eq!(written, expected);
}

/// Conformance: GIOP 2: 9.4.2 - Request 1.2, and its padding
#[test]
fn a_request_without_body_is_not_padded() {
    let template = RequestTemplate::in_order(ByteOrder::Little, Version::V1_2, b"Cube");
    let expected = octets(
        "47494f50 01 02 01 00 24000000  # GIOP 1.2, little endian, Request, 36 octets follow
         07000000                       # request id
         03 000000                      # response flags, reserved
         0000 0000                      # KeyAddr, gap
         04000000 43756265              # key
         05000000 6e6f6f7000 000000     # operation noop, gap
         00000000                       # no service contexts: ends at 48",
    );
    assert_eq!(
        write(&template, ResponseFlags::Full, "noop", &[], None),
        expected
    );
    let template = RequestTemplate::in_order(ByteOrder::Little, Version::V1_2, b"Cube1");
    let written = write(&template, ResponseFlags::Full, "noop", &[], None);
    assert_eq!(
        written.len(),
        52,
        "four octets short of a multiple of eight"
    );
    let padded = write(&template, ResponseFlags::Full, "noop", &[], Some(1));
    assert_eq!(padded.len(), 60);
}

/// Conformance: GIOP 2: 9.4.2 - Request 1.0, 1.1
#[test]
fn giop_1_0_and_1_1_requests_have_the_layout_of_the_standard() {
    for (version, order, expected) in [
        (
            Version::V1_0,
            ByteOrder::Big,
            "47494f50 01 00 00 00 00000028  # GIOP 1.0, big endian
             00000000                       # no service contexts
             00000007                       # request id
             01 000000                      # response expected, gap
             00000003 4b6579 00             # key, gap
             00000005 6e6f6f7000 000000     # operation, gap
             00000000                       # principal
             0000002a                       # body, not padded",
        ),
        (
            Version::V1_1,
            ByteOrder::Little,
            "47494f50 01 01 01 00 28000000  # GIOP 1.1, little endian
             00000000                       # no service contexts
             07000000                       # request id
             01 000000                      # response expected, reserved
             03000000 4b6579 00             # key, gap
             05000000 6e6f6f7000 000000     # operation, gap
             00000000                       # principal
             2a000000                       # body, not padded",
        ),
    ] {
        let template = RequestTemplate::in_order(order, version, b"Key");
        assert_eq!(
            write(&template, ResponseFlags::Full, "noop", &[], Some(42)),
            octets(expected)
        );
    }
}

/// Conformance: GIOP 2: 9.4.2 - service contexts, unknown ones kept
#[test]
fn service_contexts_stand_where_each_version_wants_them() {
    let contexts = [
        ServiceContext {
            id: 1,
            data: &[1, 2, 3],
        },
        ServiceContext { id: 10, data: &[] },
    ];
    let template = RequestTemplate::in_order(ByteOrder::Big, Version::V1_2, b"Key");
    let written = write(&template, ResponseFlags::None, "f", &contexts, None);
    let expected = octets(
        "47494f50 01 02 00 00 00000038
         00000007 00000000 0000 0000 00000003 4b6579 00
         00000002 6600 0000
         00000002                        # two contexts
         00000001 00000003 010203 00     # the first, gap
         0000000a 00000000               # the second, empty",
    );
    assert_eq!(written[12..], expected[12..]);
    let template = RequestTemplate::in_order(ByteOrder::Big, Version::V1_0, b"Key");
    let written = write(&template, ResponseFlags::None, "f", &contexts, None);
    let expected = octets(
        "47494f50 01 00 00 00 00000000
         00000002                        # two contexts
         00000001 00000003 010203 00     # the first, gap
         0000000a 00000000               # the second, empty
         00000007 00 000000              # id, no response expected
         00000003 4b6579 00
         00000002 6600 0000
         00000000",
    );
    assert_eq!(written[12..], expected[12..]);
}

/// Conformance: GIOP 2: 9.4.2 - three forms of a target
#[test]
fn requests_are_read_back_in_every_version_order_and_form() {
    let data = [9; 5];
    let long_name = "an_operation_name_that_is_longer_than_what_the_short_way_can_hold";
    for order in [ByteOrder::Big, ByteOrder::Little] {
        for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
            for key_len in 0..20 {
                for operation in ["f", "noop", "_is_a", "cube_long", long_name] {
                    for contexts in [&[][..], &[ServiceContext { id: 1, data: &data }]] {
                        for body in [None, Some(42)] {
                            let key: Vec<u8> = (0..key_len).collect();
                            let template = RequestTemplate::in_order(order, version, &key);
                            let mut message =
                                write(&template, ResponseFlags::Full, operation, contexts, body);
                            with_read(&mut message, |request, at, left| {
                                assert_eq!(request.request_id, 7);
                                assert_eq!(request.response, ResponseFlags::Full);
                                assert_eq!(request.target, Target::Key(&key));
                                assert_eq!(request.operation, operation.as_bytes());
                                assert_eq!(request.contexts.iter().collect::<Vec<_>>(), contexts);
                                assert_eq!(left, body.map_or(0, |_| 4));
                                if version.minor == 2 && body.is_some() {
                                    assert_eq!(at % 8, 0);
                                }
                            });
                        }
                    }
                }
            }
        }
    }
}

/// Conformance: GIOP 2: 9.4.2 - three forms of a target
#[test]
fn profile_and_reference_addressing_name_the_same_key() {
    let profile = IiopProfile {
        version: Version::V1_2,
        host: "h".into(),
        port: 1,
        object_key: b"Key".to_vec(),
        components: Vec::new(),
    };
    let other = TaggedProfile {
        tag: 99,
        data: vec![1, 2, 3],
    };
    let ior = Ior {
        type_id: "IDL:X:1.0".into(),
        profiles: vec![other, profile.encode()],
    };
    let by_profile = RequestTemplate::with_profile(Version::V1_2, &profile.encode()).unwrap();
    let by_reference = RequestTemplate::with_reference(Version::V1_2, 1, &ior).unwrap();
    for template in [by_profile, by_reference] {
        let mut message = write(&template, ResponseFlags::Full, "noop", &[], Some(1));
        with_read(&mut message, |request, _, left| {
            assert_eq!(request.target.object_key().as_deref(), Some(&b"Key"[..]));
            assert_eq!(request.operation, b"noop");
            assert_eq!(left, 4);
        });
    }
    let missing = RequestTemplate::with_reference(Version::V1_2, 0, &ior).unwrap();
    let mut message = write(&missing, ResponseFlags::Full, "noop", &[], None);
    with_read(&mut message, |request, _, _| {
        assert_eq!(request.target.object_key(), None);
    });
    assert_eq!(
        RequestTemplate::with_reference(Version::V1_1, 0, &ior),
        None
    );
}

/// Conformance: GIOP 2: 9.4.2 - response flags
#[test]
fn response_flags_distinguish_the_three_kinds_of_call() {
    for flags in [
        ResponseFlags::None,
        ResponseFlags::SyncWithServer,
        ResponseFlags::Full,
    ] {
        let template = RequestTemplate::new(Version::V1_2, b"K");
        let mut message = write(&template, flags, "f", &[], None);
        assert_eq!(message[16], flags as u8);
        with_read(&mut message, |request, _, _| {
            assert_eq!(request.response, flags);
        });
        let template = RequestTemplate::new(Version::V1_1, b"K");
        let mut message = write(&template, flags, "f", &[], None);
        with_read(&mut message, |request, _, _| {
            assert_eq!(
                request.response.expects_reply(),
                flags.expects_reply(),
                "1.1 knows only whether a reply is expected"
            );
        });
    }
}

/// Conformance: GIOP 2: 9.4.2 - Request 1.2, and its padding
#[test]
fn padding_without_a_body_is_accepted() {
    let template = RequestTemplate::new(Version::V1_2, b"Cube1");
    let mut message = write(&template, ResponseFlags::Full, "noop", &[], None);
    assert_ne!(message.len() % 8, 0);
    while !message.len().is_multiple_of(8) {
        // Some ORBs fill padding with text.
        message.push(b'x');
        let size = u32::try_from(message.len() - 12).unwrap();
        message[8..12].copy_from_slice(&size.to_ne_bytes());
        with_read(&mut message, |request, _, left| {
            assert_eq!(request.operation, b"noop");
            assert_eq!(left, 0);
        });
    }
}

#[test]
fn an_error_of_a_body_that_wrote_nothing_is_not_lost() {
    let template = RequestTemplate::new(Version::V1_2, b"Cube1");
    let mut writer = CdrWriter::new(Format::native());
    let start = template.begin(&mut writer, 1, ResponseFlags::Full, "f", &[]);
    writer.fail(CdrErrorKind::CannotConvert);
    finish_message(&mut writer, start);
    assert_eq!(writer.error().unwrap().kind, CdrErrorKind::CannotConvert);
}

/// Conformance: GIOP - what is known beforehand is marshalled beforehand
#[test]
fn an_operation_marshalled_beforehand_makes_the_same_request() {
    for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
        let template = RequestTemplate::new(version, b"Key");
        for operation in [
            "f",
            "cube_long",
            "a_name_of_forty_three_octets_which_still_fit",
        ] {
            for response in [
                ResponseFlags::None,
                ResponseFlags::SyncWithServer,
                ResponseFlags::Full,
            ] {
                for body in [None, Some(42)] {
                    let tail = OperationTail::new(operation);
                    let mut writer =
                        CdrWriter::new(Format::plain(ByteOrder::NATIVE, version.minor));
                    let start = template.begin_giop(&mut writer, 7, response, &tail);
                    if let Some(value) = body {
                        writer.write_u32(value);
                    }
                    finish_message(&mut writer, start.expect("a short name"));
                    assert_eq!(
                        writer.finish().unwrap(),
                        write(&template, response, operation, &[], body)
                    );
                }
            }
        }
        static LONG: OperationTail =
            OperationTail::new("a_name_longer_than_the_short_way_can_hold_at_all");
        let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, version.minor));
        assert!(
            template
                .begin_over(&mut writer, 7, ResponseFlags::Full, &LONG, || None)
                .is_none()
        );
        assert!(writer.is_empty());
    }
}

#[test]
fn a_plain_request_has_its_parts_where_they_were_written() {
    for order in [ByteOrder::Big, ByteOrder::Little] {
        for body in [None, Some(42)] {
            let template = RequestTemplate::in_order(order, Version::V1_2, b"Cube!");
            let message = write(&template, ResponseFlags::Full, "noop", &[], body);
            let octets = &message[12..];
            let plain = PlainRequest::find(octets, order).unwrap();
            assert_eq!((plain.request_id, plain.response), (7, ResponseFlags::Full));
            assert_eq!(&octets[plain.key], b"Cube!");
            assert_eq!(&octets[plain.operation], b"noop");
            let left = octets.len() - plain.body;
            assert_eq!(left, if body.is_some() { 4 } else { 0 });
            for len in 0..octets.len() {
                // The body is not looked at, nor the gap before it.
                let found = PlainRequest::find(&octets[..len], order);
                assert_eq!(found.is_some(), len >= 40, "{len}");
            }
        }
    }
}

#[test]
fn special_requests_are_left_to_the_whole_reader() {
    let order = ByteOrder::Big;
    let template = RequestTemplate::in_order(order, Version::V1_2, b"Cube!");
    let message = write(&template, ResponseFlags::Full, "noop", &[], Some(42));
    // The discriminator of the target, both octets; counts beyond the end; an
    // operation without its NUL; a service context.
    for (place, value) in [
        (8, 1),
        (9, 1),
        (12, 0xFF),
        (15, 0xFF),
        (24, 0xFF),
        (32, b'x'),
        (39, 1),
    ] {
        let mut octets = message[12..].to_vec();
        octets[place] = value;
        assert_eq!(PlainRequest::find(&octets, order), None, "{place}");
    }
    let mut nameless = message[12..].to_vec();
    nameless[24..28].fill(0);
    assert_eq!(PlainRequest::find(&nameless, order), None);
}
