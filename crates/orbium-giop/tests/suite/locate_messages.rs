// SPDX-License-Identifier: MIT OR Apache-2.0
//! LocateRequest and LocateReply messages, octet for octet.

use crate::octets::octets;
use orbium_cdr::{ByteOrder, CdrErrorKind, CdrWriter, Decode, Encode, Format};
use orbium_giop::{
    Ior, LocateReplyHeader, LocateRequest, LocateStatus, MessageHeader, TaggedProfile, Target,
    Version, begin_locate_reply, finish_message, write_locate_request,
};

fn request(order: ByteOrder, version: Version, target: &Target<'_>) -> Vec<u8> {
    let mut writer = CdrWriter::new(Format::plain(order, version.minor));
    write_locate_request(&mut writer, version, 7, target);
    writer.finish().unwrap()
}

/// Conformance: GIOP 2: 9.4.5, 9.4.6 - LocateRequest, LocateReply
#[test]
fn locate_requests_have_the_layout_of_the_standard() {
    let key = Target::Key(b"Key");
    let expected = "47494f50 01 00 00 03 0000000b  # GIOP 1.0, LocateRequest
        00000007                                   # request id
        00000003 4b6579                            # key";
    assert_eq!(
        request(ByteOrder::Big, Version::V1_0, &key),
        octets(expected)
    );
    let expected = "47494f50 01 02 01 03 0f000000  # GIOP 1.2, LocateRequest
        07000000                                   # request id
        0000 0000                                  # KeyAddr, gap
        03000000 4b6579                            # key";
    assert_eq!(
        request(ByteOrder::Little, Version::V1_2, &key),
        octets(expected)
    );
}

/// Conformance: GIOP 2: 9.4.5, 9.4.6 - LocateRequest, LocateReply
#[test]
fn every_form_of_target_is_read_back() {
    let ior = Ior {
        type_id: "IDL:X:1.0".into(),
        profiles: vec![TaggedProfile {
            tag: 99,
            data: vec![1, 2, 3],
        }],
    };
    let data = [1, 2, 3, 4, 5];
    for order in [ByteOrder::Big, ByteOrder::Little] {
        for target in [
            Target::Key(b""),
            Target::Key(b"Key"),
            Target::Profile {
                tag: 5,
                data: &data,
            },
            Target::Reference {
                index: 0,
                ior: Box::new(ior.clone()),
            },
        ] {
            let mut message = request(order, Version::V1_2, &target);
            let (head, rest) = message.split_at_mut(12);
            let header = MessageHeader::parse(head.first_chunk().unwrap()).unwrap();
            assert_eq!(header.size as usize, rest.len());
            let read = LocateRequest::read(&mut header.reader(rest), 2).unwrap();
            assert_eq!((read.request_id, read.target), (7, target));
        }
    }
}

/// Conformance: GIOP 2: 9.4.5, 9.4.6 - LocateRequest, LocateReply
#[test]
fn old_versions_can_only_address_by_key() {
    let target = Target::Profile { tag: 5, data: &[] };
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, 1));
    write_locate_request(&mut writer, Version::V1_1, 7, &target);
    assert_eq!(writer.error().unwrap().kind, CdrErrorKind::NotSupported);
}

/// Conformance: GIOP 2: 9.4.5, 9.4.6 - LocateRequest, LocateReply
#[test]
fn an_unknown_form_of_target_is_an_error() {
    let mut octets = octets("00000007 0003 0000 00000000");
    let mut reader = orbium_cdr::CdrReader::at(&mut octets, 12, Format::plain(ByteOrder::Big, 2));
    let error = LocateRequest::read(&mut reader, 2).unwrap_err();
    assert_eq!(error.kind, CdrErrorKind::BadDiscriminator);
}

/// Conformance: GIOP 2: 9.4.5, 9.4.6 - LocateRequest, LocateReply
#[test]
fn locate_reply_bodies_follow_without_padding() {
    let ior = Ior {
        type_id: "IDL:X:1.0".into(),
        profiles: Vec::new(),
    };
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::Big, 2));
    let start = begin_locate_reply(&mut writer, Version::V1_2, 7, LocateStatus::ObjectForward);
    ior.encode(&mut writer);
    finish_message(&mut writer, start);
    let mut message = writer.finish().unwrap();
    let expected = octets(
        "47494f50 01 02 00 04 0000001c
         00000007                            # request id
         00000002                            # OBJECT_FORWARD
         0000000a 49444c3a583a312e3000 0000  # type id at 20, gap
         00000000                            # no profiles",
    );
    assert_eq!(message, expected);
    let (head, rest) = message.split_at_mut(12);
    let header = MessageHeader::parse(head.first_chunk().unwrap()).unwrap();
    let mut reader = header.reader(rest);
    let reply = LocateReplyHeader::read(&mut reader, 2).unwrap();
    assert_eq!(reply.status, LocateStatus::ObjectForward);
    assert_eq!(Ior::decode(&mut reader), Ok(ior));
}

/// Conformance: GIOP 2: 9.4.5, 9.4.6 - LocateRequest, LocateReply
#[test]
fn only_giop_1_2_knows_the_later_statuses() {
    for minor in 0..=3 {
        for number in 0..10 {
            let highest = if minor >= 2 { 5 } else { 2 };
            let status = LocateStatus::from_number(number, minor);
            assert_eq!(status.is_some(), number <= highest);
            assert!(status.is_none_or(|status| status as u32 == number));
        }
    }
}
