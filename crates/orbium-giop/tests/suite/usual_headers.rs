// SPDX-License-Identifier: MIT OR Apache-2.0
//! Agreement of the fast reader of short headers with the general one.

use orbium_cdr::ByteOrder;
use orbium_giop::{
    Headers, MessageHeader, MessageKind, NumberedRequests, PlainReply, PlainRequest, ReplyHeader,
    RequestForm, ShortRequests, UsualForm, UsualHeaders, Version,
};

const ALL: [Headers; 4] = [
    Headers::GIOP,
    Headers::SHORT,
    Headers::NATIVE,
    Headers::NUMBERED,
];

/// Headers with every first octet, of requests and of replies with every status.
fn heads() -> impl Iterator<Item = [u8; 12]> {
    (0..=0xFF).flat_map(|form| {
        let replies = (0..=0xFF).map(move |status| [form, status, 0, 0, 1, 2, 3, 4, 4, 0, 0, 0]);
        let request = [form, 3, 0, 7, 1, 2, 3, 4, 9, 8, 7, 6];
        replies.chain([request])
    })
}

fn version(headers: Headers) -> Version {
    if headers.are_native() {
        Version::NATIVE
    } else {
        Version::SHORT
    }
}

/// The header, if the connection has such, in the byte order of this machine.
fn parsed(headers: Headers, head: &[u8; 12], kind: MessageKind) -> Option<MessageHeader> {
    let header = headers.parse(head)?;
    let usual = header.order == ByteOrder::NATIVE
        && header.version == version(headers)
        && header.kind == kind;
    usual.then_some(header)
}

/// A client that had agreed on GIOP's headers alone took octets that begin with zeros for a
/// reply.
#[test]
fn a_usual_reply_is_read_as_any_header_and_nothing_else_is_one() {
    for headers in ALL {
        let usual = UsualHeaders::new(headers);
        for head in heads() {
            let read = usual.reply_size(&head);
            let read = read.map(|(size, status)| (usual.reply(size), status));
            let any = parsed(headers, &head, MessageKind::Reply).and_then(|header| {
                let message = [&head[..], &[0; 4]].concat();
                let plain = ReplyHeader::plain(&header, &message)?;
                assert_eq!(PlainReply::find_short(&message, plain.status), Some(plain));
                Some((header, plain.status))
            });
            assert_eq!(read, any, "{headers:?} {head:02x?}");
        }
    }
}

fn size(headers: Headers, form: UsualForm, head: &[u8; 12]) -> Option<u32> {
    let usual = UsualHeaders::new(headers);
    match form {
        UsualForm::Giop => None,
        UsualForm::Short => ShortRequests::<false>::size(&usual, head),
        UsualForm::Native => ShortRequests::<true>::size(&usual, head),
        UsualForm::Numbered => NumberedRequests::size(&usual, head),
    }
}

#[test]
fn a_usual_request_is_read_as_any_header_and_nothing_else_is_one() {
    // The bits of requests with numbers, and of those that define them.
    let bits = |form: UsualForm| match form {
        UsualForm::Numbered => 0x20,
        _ => 0,
    };
    for headers in ALL {
        let form = headers.usual_form();
        for head in heads() {
            let any = parsed(headers, &head, MessageKind::Request)
                .filter(|_| head[0] & 0x60 == bits(form))
                .map(|header| header.size);
            assert_eq!(size(headers, form, &head), any, "{headers:?} {head:02x?}");
        }
        // With numbers some requests have names none the less.
        if form == UsualForm::Numbered {
            for head in heads() {
                let any = parsed(headers, &head, MessageKind::Request)
                    .filter(|_| head[0] & 0x60 == 0)
                    .map(|header| header.size);
                assert_eq!(size(headers, UsualForm::Short, &head), any, "{head:02x?}");
            }
        }
    }
}

/// Key and name of every length up to more than there is, with a body and without.
#[test]
fn a_short_request_is_split_as_any_is_read() {
    for (key, operation, len) in (0..12_u8)
        .flat_map(|key| (0..12_u8).map(move |operation| (key, operation)))
        .flat_map(|(key, operation)| (0..40_usize).map(move |len| (key, operation, len)))
    {
        let form = 0x80 | 0x18 | (ByteOrder::NATIVE.flag() << 1);
        let [k0, k1] = u16::from(key).to_ne_bytes();
        let mut message = vec![form, operation, k0, k1];
        message.extend(7_u32.to_ne_bytes());
        message.extend((len as u32).to_ne_bytes());
        message.extend((0..len).map(|at| at as u8));
        let plain = PlainRequest::find_short(&message);
        let mut octets = message.clone();
        let parts = ShortRequests::<false>::split(&mut octets, None);
        assert_eq!(plain.is_some(), parts.is_some(), "{key} {operation} {len}");
        let (Some(plain), Some(parts)) = (plain, parts) else {
            continue;
        };
        let rest = &message[12..];
        assert_eq!(
            (parts.request_id, parts.response),
            (plain.request_id, plain.response)
        );
        assert_eq!(parts.key, &rest[plain.key]);
        assert_eq!(parts.operation, &rest[plain.operation]);
        assert_eq!(parts.body, &rest[plain.body..]);
        assert_eq!(parts.body_at, 12 + plain.body);
    }
}
