// SPDX-License-Identifier: MIT OR Apache-2.0
//! `giop-lite`: GIOP without what both sides know anyway, after TAO's GIOPlite
//! ("The Design and Performance of a Pluggable Protocols Framework for Real-time
//! Distributed Object Computing Middleware", section 3.4).
//!
//! TAO leaves magic, version and flags out of the message header; both sides
//! must be configured for it. Here the flags remain, so that any GIOP message comes
//! back as it was; bits of the flags that GIOP gives no meaning do not.
//!
//! A frame is an octet, the number of octets that follow it, and those octets:
//!
//! | bits of the octet | meaning |
//! |---|---|
//! | 0 to 2 | message kind |
//! | 3 | byte order: little endian |
//! | 4 | more fragments follow |
//! | 5 and 6 | minor version of GIOP, bit 6 inverted |
//! | 7 | the request or reply header is reduced |
//!
//! Numbers take one to five octets, seven bits each, low bits first. Without
//! bit 7 what follows is the GIOP message after its header. With it, in GIOP
//! 1.2 without service contexts, a request addressed by key is: request id; four
//! times the length of the key, plus the response flags; key; length of the
//! operation's name; name; body. A reply is: request id; octet for the status;
//! body. Padding is left out and put back.

use core::ops::Range;

use super::layout::{NO_CONTEXTS, ReplyLayout, ReplyParts, RequestLayout, RequestParts};
use super::{Decoder, Encoder, Input, Message, Messaging, MessagingError, Session, Side, varint};
use crate::header::HEADER_LEN;
use crate::{HeaderError, MessageHeader, MessageKind, Version};
use orbium_cdr::ByteOrder;

const LITTLE: u8 = 1 << 3;
const MORE: u8 = 1 << 4;
const MINOR_SHIFT: u8 = 5;
const REDUCED: u8 = 1 << 7;

/// Inverted on the wire, so that no frame starts with the `G` of a GIOP message:
/// a peer that sends GIOP gets an error instead of waiting.
const INVERTED: u8 = 1 << 6;

/// GIOP with short headers.
#[derive(Clone, Copy, Debug, Default)]
pub struct GiopLite;

impl Messaging for GiopLite {
    fn name(&self) -> &str {
        "giop-lite"
    }

    fn input(&self) -> Input {
        Input::Giop
    }

    fn session(&self, _side: Side, limit: usize) -> Session {
        Session::new(LiteEncoder, LiteDecoder { limit })
    }
}

#[derive(Debug)]
struct LiteEncoder;

impl Encoder for LiteEncoder {
    fn encode(
        &mut self,
        message: Message<'_>,
        head: &mut Vec<u8>,
        _tail: &mut Vec<u8>,
    ) -> Result<Range<usize>, MessagingError> {
        let header = message.giop_header()?;
        let octet = first_octet(&header);
        let body = match header.kind {
            MessageKind::Request => reduced_request(message, &header, octet, head),
            MessageKind::Reply => reduced_reply(message, &header, octet, head),
            _ => None,
        };
        let body = body.unwrap_or_else(|| {
            head.push(octet);
            varint::write(header.size, head);
            HEADER_LEN
        });
        Ok(body..message.len())
    }
}

fn first_octet(header: &MessageHeader) -> u8 {
    let little = if header.order == ByteOrder::Little {
        LITTLE
    } else {
        0
    };
    let more = if header.more_fragments { MORE } else { 0 };
    (header.kind as u8 | little | more | header.version.minor << MINOR_SHIFT) ^ INVERTED
}

/// Writes the head of a request that can be reduced; returns where its body
/// starts.
fn reduced_request(
    message: Message<'_>,
    header: &MessageHeader,
    octet: u8,
    head: &mut Vec<u8>,
) -> Option<usize> {
    let found = RequestLayout::find(message, header)?;
    let start = message.start();
    let (key, operation) = (start.get(found.key)?, start.get(found.operation)?);
    if found.contexts.len() != NO_CONTEXTS {
        return None;
    }
    let key_len = u32::try_from(key.len()).ok()?.checked_mul(4)? | u32::from(found.response);
    // Within 32 bits, as all of the message is.
    let operation_len = operation.len() as u32;
    let fields = varint::len(found.id)
        + varint::len(key_len)
        + key.len()
        + varint::len(operation_len)
        + operation.len();
    head.push(octet | REDUCED);
    varint::write((fields + message.len() - found.body) as u32, head);
    varint::write(found.id, head);
    varint::write(key_len, head);
    head.extend_from_slice(key);
    varint::write(operation_len, head);
    head.extend_from_slice(operation);
    Some(found.body)
}

fn reduced_reply(
    message: Message<'_>,
    header: &MessageHeader,
    octet: u8,
    head: &mut Vec<u8>,
) -> Option<usize> {
    let found = ReplyLayout::find(message, header)?;
    let status = u8::try_from(found.status).ok()?;
    if found.contexts.len() != NO_CONTEXTS {
        return None;
    }
    let fields = varint::len(found.id) + 1;
    head.push(octet | REDUCED);
    varint::write((fields + message.len() - found.body) as u32, head);
    varint::write(found.id, head);
    head.push(status);
    Some(found.body)
}

#[derive(Debug)]
struct LiteDecoder {
    limit: usize,
}

impl Decoder for LiteDecoder {
    fn frame_len(&self, wire: &[u8]) -> Result<Option<usize>, MessagingError> {
        let Some((octet, rest)) = wire.split_first() else {
            return Ok(None);
        };
        header_of(*octet)?;
        let Some((len, _)) = varint::read(rest)? else {
            return Ok(None);
        };
        if len as usize > self.limit {
            return Err(MessagingError::TooLarge);
        }
        Ok(Some(1 + varint::len(len) + len as usize))
    }

    fn decode(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<(), MessagingError> {
        let (octet, rest) = frame.split_first().ok_or(MessagingError::Truncated)?;
        let mut header = header_of(*octet)?;
        let (size, rest) = number(rest)?;
        if size as usize != rest.len() {
            return Err(MessagingError::WrongLength);
        }
        match (octet & REDUCED != 0, header.kind) {
            (true, MessageKind::Request) => append_request(rest, header, self.limit, message),
            (true, _) => append_reply(rest, header, self.limit, message),
            (false, _) => {
                if rest.len() + HEADER_LEN > self.limit {
                    return Err(MessagingError::TooLarge);
                }
                header.size = size;
                message.reserve(HEADER_LEN + rest.len());
                message.extend_from_slice(&header.encode());
                message.extend_from_slice(rest);
                Ok(())
            }
        }
    }
}

/// The header that the first octet stands for, without its size.
fn header_of(octet: u8) -> Result<MessageHeader, MessagingError> {
    let unknown = MessagingError::UnknownForm(octet);
    let octet = octet ^ INVERTED;
    let minor = octet >> MINOR_SHIFT & 3;
    let kind = MessageKind::from_octet(octet & 7).ok_or(unknown)?;
    if kind == MessageKind::Fragment && minor == 0 {
        return Err(HeaderError::FragmentInGiop10.into());
    }
    let reducible = minor >= 2 && matches!(kind, MessageKind::Request | MessageKind::Reply);
    if (octet & MORE != 0 && minor == 0) || (octet & REDUCED != 0 && !reducible) {
        return Err(unknown);
    }
    Ok(MessageHeader {
        version: Version { major: 1, minor },
        order: if octet & LITTLE == 0 {
            ByteOrder::Big
        } else {
            ByteOrder::Little
        },
        more_fragments: octet & MORE != 0,
        kind,
        size: 0,
    })
}

fn number(octets: &[u8]) -> Result<(u32, &[u8]), MessagingError> {
    varint::read(octets)?.ok_or(MessagingError::Truncated)
}

fn take(octets: &[u8], len: u32) -> Result<(&[u8], &[u8]), MessagingError> {
    octets
        .split_at_checked(len as usize)
        .ok_or(MessagingError::Truncated)
}

fn append_request(
    octets: &[u8],
    header: MessageHeader,
    limit: usize,
    message: &mut Vec<u8>,
) -> Result<(), MessagingError> {
    let (id, rest) = number(octets)?;
    let (key_len, rest) = number(rest)?;
    let (key, rest) = take(rest, key_len >> 2)?;
    let (operation_len, rest) = number(rest)?;
    let (operation, body) = take(rest, operation_len)?;
    let request = RequestParts {
        id,
        response: (key_len & 3) as u8,
        key,
        operation,
        contexts: &[0; NO_CONTEXTS],
        body,
    };
    request.append(header, limit, message)
}

fn append_reply(
    octets: &[u8],
    header: MessageHeader,
    limit: usize,
    message: &mut Vec<u8>,
) -> Result<(), MessagingError> {
    let (id, rest) = number(octets)?;
    let (status, body) = rest.split_first().ok_or(MessagingError::Truncated)?;
    let reply = ReplyParts {
        id,
        status: u32::from(*status),
        contexts: &[0; NO_CONTEXTS],
        body,
    };
    reply.append(header, limit, message)
}
