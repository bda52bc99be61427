// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reply messages of every version, order and status, octet for octet.

use crate::octets::octets;
use orbium_cdr::{ByteOrder, CdrErrorKind, CdrWriter, Format};
use orbium_giop::{
    Completion, ExceptionKind, MessageHeader, ReplyHeader, ReplyStatus, ServiceContext,
    SystemException, SystemExceptionBody, Version, begin_reply, finish_message,
};

const STATUSES: [ReplyStatus; 6] = [
    ReplyStatus::NoException,
    ReplyStatus::UserException,
    ReplyStatus::SystemException,
    ReplyStatus::LocationForward,
    ReplyStatus::LocationForwardPerm,
    ReplyStatus::NeedsAddressingMode,
];

fn write(
    order: ByteOrder,
    version: Version,
    status: ReplyStatus,
    contexts: &[ServiceContext<'_>],
    body: impl FnOnce(&mut CdrWriter<'_>),
) -> Vec<u8> {
    let mut writer = CdrWriter::new(Format::plain(order, version.minor));
    let start = begin_reply(&mut writer, version, 7, status, contexts);
    body(&mut writer);
    finish_message(&mut writer, start);
    writer.finish().unwrap()
}

/// Conformance: GIOP 2: 9.4.3 - Reply
#[test]
fn replies_have_the_layout_of_the_standard() {
    for (version, order, expected) in [
        (
            Version::V1_2,
            ByteOrder::Big,
            "47494f50 01 02 00 01 00000010  # GIOP 1.2, big endian, Reply
             00000007                       # request id
             00000000                       # NO_EXCEPTION
             00000000                       # no service contexts
             0000002a                       # body",
        ),
        (
            Version::V1_0,
            ByteOrder::Big,
            "47494f50 01 00 00 01 00000010  # GIOP 1.0, big endian, Reply
             00000000                       # no service contexts
             00000007                       # request id
             00000000                       # NO_EXCEPTION
             0000002a                       # body",
        ),
        (
            Version::V1_1,
            ByteOrder::Little,
            "47494f50 01 01 01 01 10000000  # GIOP 1.1, little endian, Reply
             00000000                       # no service contexts
             07000000                       # request id
             00000000                       # NO_EXCEPTION
             2a000000                       # body",
        ),
    ] {
        let written = write(order, version, ReplyStatus::NoException, &[], |writer| {
            writer.write_u32(42);
        });
        assert_eq!(written, octets(expected));
    }
}

/// Conformance: GIOP 2: 9.4.3 - Reply
#[test]
fn a_reply_without_results_ends_after_its_header() {
    let expected = octets("47494f50 01 02 01 01 0c000000 07000000 00000000 00000000");
    let none = ReplyStatus::NoException;
    let written = write(ByteOrder::Little, Version::V1_2, none, &[], |_| ());
    assert_eq!(written, expected);
    let context = ServiceContext { id: 9, data: &[1] };
    let contexts = [context];
    let written = write(ByteOrder::Big, Version::V1_2, none, &contexts, |_| ());
    let expected = octets(
        "47494f50 01 02 00 01 00000015
         00000007 00000000
         00000001 00000009 00000001 01  # ends at 33, unpadded",
    );
    assert_eq!(written, expected);
    let written = write(ByteOrder::Big, Version::V1_2, none, &contexts, |writer| {
        writer.write_u8(0xEE);
    });
    assert_eq!(written.len(), 41);
    assert_eq!(written[33..], [0, 0, 0, 0, 0, 0, 0, 0xEE]);
}

/// Conformance: GIOP 2: 9.4.3 - Reply
#[test]
fn replies_are_read_back_in_every_version_order_and_status() {
    let data = [1, 2, 3, 4, 5];
    for order in [ByteOrder::Big, ByteOrder::Little] {
        for version in [Version::V1_0, Version::V1_1, Version::V1_2] {
            for status in STATUSES {
                let known = ReplyStatus::from_number(status as u32, version.minor);
                for contexts in [&[][..], &[ServiceContext { id: 5, data: &data }; 3]] {
                    let mut message = write(order, version, status, contexts, |writer| {
                        writer.write_u64(99);
                    });
                    let (head, rest) = message.split_at_mut(12);
                    let header = MessageHeader::parse(head.first_chunk().unwrap()).unwrap();
                    let mut reader = header.reader(rest);
                    let reply = ReplyHeader::read(&mut reader, version.minor);
                    let Some(known) = known else {
                        let error = reply.expect_err("a status that the version lacks");
                        assert_eq!(error.kind, CdrErrorKind::BadEnumerator);
                        continue;
                    };
                    let reply = reply.unwrap();
                    assert_eq!((reply.request_id, reply.status), (7, known));
                    assert_eq!(reply.contexts.iter().collect::<Vec<_>>(), contexts);
                    assert_eq!(reply.contexts.find(5).is_some(), !contexts.is_empty());
                    assert_eq!(reply.contexts.find(6), None);
                    assert_eq!(reader.read_u64(), Ok(99));
                    assert_eq!(reader.remaining(), 0);
                }
            }
        }
    }
}

/// Conformance: replies - PERM and NEEDS_ADDRESSING_MODE only at 1.2
#[test]
fn only_giop_1_2_knows_the_later_statuses() {
    for minor in 0..=3 {
        for number in 0..10 {
            let highest = if minor >= 2 { 5 } else { 3 };
            let status = ReplyStatus::from_number(number, minor);
            assert_eq!(status.is_some(), number <= highest);
            assert!(status.is_none_or(|status| status as u32 == number));
        }
    }
}

/// Conformance: replies - system exceptions as id, minor code, completion
#[test]
fn system_exceptions_travel_as_id_minor_and_completion() {
    let raised = SystemException::omg(ExceptionKind::BadOperation, 2, Completion::No);
    let status = ReplyStatus::SystemException;
    let mut message = write(ByteOrder::Big, Version::V1_2, status, &[], |writer| {
        SystemExceptionBody::from(raised).write(writer);
    });
    let expected = octets(
        "00000024                                # 36 octets with the NUL
         49444c3a6f6d672e6f72672f434f5242412f    # IDL:omg.org/CORBA/
         4241445f4f5045524154494f4e3a312e3000    # BAD_OPERATION:1.0
         4f4d0002                                # OMG minor 2
         00000001                                # COMPLETED_NO",
    );
    assert_eq!(message[24..], expected);
    let (head, rest) = message.split_at_mut(12);
    let header = MessageHeader::parse(head.first_chunk().unwrap()).unwrap();
    let mut reader = header.reader(rest);
    ReplyHeader::read(&mut reader, 2).unwrap();
    let body = SystemExceptionBody::read(&mut reader).unwrap();
    assert_eq!(body.exception(), raised);
}
