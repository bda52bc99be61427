// SPDX-License-Identifier: MIT OR Apache-2.0
//! `fixed`: headers with everything at a fixed place and small numbers for
//! objects and operations, after GOPI's FRAG protocol (G. Coulson, S. Baichoo,
//! "Implementing the CORBA GIOP in a High-Performance Object Request Broker
//! Environment", section 8).
//!
//! GIOP's request header has two fields of variable length in its middle, which
//! must be parsed and compared. Here each object key and each operation name
//! gets a number when it is first used on a connection; the frame that uses it
//! first carries the name as well. Tables hold [`SLOTS`](super::binding::SLOTS)
//! of each, and the sender takes numbers back.
//!
//! All numbers are little endian, wherever they come from.
//!
//! | octets | meaning |
//! |---|---|
//! | 0 | form: 0 request, 1 reply, 2 any message whole |
//! | 1 | flags: 1 body is little endian; 2 more fragments follow; 4 and 8 response flags; 16 service contexts; 32 object defined; 64 operation defined |
//! | 2 and 3 | number of the object, or status of the reply |
//! | 4 to 7 | octets of the frame from octet 8 on |
//! | 8 to 11 | request id |
//! | 12 and 13 | number of the operation |
//! | 14 and 15 | 0 |
//!
//! Then, as flags say: length of the key and length of the operation's name, as
//! unsigned shorts; key; name; length of the service contexts, as an unsigned
//! long, and the list as GIOP has it. Then the body. A whole message follows
//! octet 7 at once. Requests and replies of GIOP 1.2 have forms of their own,
//! unless their header has something unusual; all else goes whole.

use core::ops::Range;

use super::binding::{Names, Numbers};
use super::layout::{NO_CONTEXTS, ReplyLayout, ReplyParts, RequestLayout, RequestParts};
use super::{
    Decoder, Encoder, Input, MAX_OVERHEAD, Message, Messaging, MessagingError, Session, Side,
};
use crate::{MessageHeader, MessageKind, Version};
use orbium_cdr::ByteOrder;

const REQUEST: u8 = 0;
const REPLY: u8 = 1;
const WHOLE: u8 = 2;

const LITTLE: u8 = 1;
const MORE: u8 = 2;
const RESPONSE_SHIFT: u8 = 2;
const CONTEXTS: u8 = 16;
const OBJECT: u8 = 32;
const OPERATION: u8 = 64;

/// Octets that all frames begin with.
const START_LEN: usize = 8;
/// Octets of the header of a request or reply.
const FIXED_LEN: usize = 16;
/// Longest key or name that gets a number.
const MAX_NAME: usize = 1024;

/// GIOP with headers of fixed layout and numbers for objects and operations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fixed;

impl Messaging for Fixed {
    fn name(&self) -> &str {
        "fixed"
    }

    fn input(&self) -> Input {
        Input::Giop
    }

    fn is_stateful(&self) -> bool {
        true
    }

    fn session(&self, _side: Side, limit: usize) -> Session {
        let decoder = FixedDecoder {
            objects: Names::default(),
            operations: Names::default(),
            limit,
        };
        Session::new(FixedEncoder::default(), decoder)
    }
}

#[derive(Debug, Default)]
struct FixedEncoder {
    objects: Numbers,
    operations: Numbers,
}

impl Encoder for FixedEncoder {
    fn encode(
        &mut self,
        message: Message<'_>,
        head: &mut Vec<u8>,
        _tail: &mut Vec<u8>,
    ) -> Result<Range<usize>, MessagingError> {
        let header = message.giop_header()?;
        let body = match header.kind {
            MessageKind::Request if header.version == Version::V1_2 => {
                self.request(message, &header, head)
            }
            MessageKind::Reply if header.version == Version::V1_2 => reply(message, &header, head),
            _ => None,
        };
        if let Some(body) = body {
            return Ok(body..message.len());
        }
        let len = u32::try_from(message.len()).map_err(|_| MessagingError::TooLarge)?;
        head.extend_from_slice(&start(WHOLE, 0, 0, len));
        Ok(0..message.len())
    }
}

impl FixedEncoder {
    /// Writes the head of a request that has a form of its own; returns where
    /// its body starts.
    fn request(
        &mut self,
        message: Message<'_>,
        header: &MessageHeader,
        head: &mut Vec<u8>,
    ) -> Option<usize> {
        let found = RequestLayout::find(message, header)?;
        let octets = message.start();
        let (key, operation) = (octets.get(found.key)?, octets.get(found.operation)?);
        if key.len().max(operation.len()) > MAX_NAME {
            return None;
        }
        let (object, object_is_new) = self.objects.bind(key);
        let (number, operation_is_new) = self.operations.bind(operation);
        let mut flags = flags_of(header) | found.response << RESPONSE_SHIFT;
        let mut behind = Vec::new();
        if object_is_new {
            flags |= OBJECT;
            behind.extend_from_slice(&(key.len() as u16).to_le_bytes());
        }
        if operation_is_new {
            flags |= OPERATION;
            behind.extend_from_slice(&(operation.len() as u16).to_le_bytes());
        }
        if object_is_new {
            behind.extend_from_slice(key);
        }
        if operation_is_new {
            behind.extend_from_slice(operation);
        }
        if found.contexts.len() > NO_CONTEXTS {
            flags |= CONTEXTS;
            append_contexts(octets.get(found.contexts)?, &mut behind);
        }
        // Shorter than the message.
        let len = FIXED_LEN - START_LEN + behind.len() + message.len() - found.body;
        head.extend_from_slice(&start(REQUEST, flags, object, len as u32));
        append_rest(found.id, number, head);
        head.append(&mut behind);
        Some(found.body)
    }
}

/// As [`FixedEncoder::request`], for a reply.
fn reply(message: Message<'_>, header: &MessageHeader, head: &mut Vec<u8>) -> Option<usize> {
    let found = ReplyLayout::find(message, header)?;
    let status = u16::try_from(found.status).ok()?;
    let mut flags = flags_of(header);
    let mut behind = Vec::new();
    if found.contexts.len() > NO_CONTEXTS {
        flags |= CONTEXTS;
        append_contexts(message.start().get(found.contexts)?, &mut behind);
    }
    let len = FIXED_LEN - START_LEN + behind.len() + message.len() - found.body;
    head.extend_from_slice(&start(REPLY, flags, status, len as u32));
    append_rest(found.id, 0, head);
    head.append(&mut behind);
    Some(found.body)
}

fn flags_of(header: &MessageHeader) -> u8 {
    let little = if header.order == ByteOrder::Little {
        LITTLE
    } else {
        0
    };
    little | if header.more_fragments { MORE } else { 0 }
}

fn start(form: u8, flags: u8, number: u16, len: u32) -> [u8; START_LEN] {
    let [n0, n1] = number.to_le_bytes();
    let [l0, l1, l2, l3] = len.to_le_bytes();
    [form, flags, n0, n1, l0, l1, l2, l3]
}

fn append_rest(id: u32, operation: u16, head: &mut Vec<u8>) {
    head.extend_from_slice(&id.to_le_bytes());
    head.extend_from_slice(&operation.to_le_bytes());
    head.extend_from_slice(&[0, 0]);
}

fn append_contexts(contexts: &[u8], behind: &mut Vec<u8>) {
    behind.extend_from_slice(&(contexts.len() as u32).to_le_bytes());
    behind.extend_from_slice(contexts);
}

#[derive(Debug)]
struct FixedDecoder {
    objects: Names,
    operations: Names,
    limit: usize,
}

impl Decoder for FixedDecoder {
    fn frame_len(&self, wire: &[u8]) -> Result<Option<usize>, MessagingError> {
        let Some(&[form, _, _, _, l0, l1, l2, l3]) = wire.first_chunk::<START_LEN>() else {
            return Ok(None);
        };
        if form > WHOLE {
            return Err(MessagingError::UnknownForm(form));
        }
        let len = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        if len > self.limit.saturating_add(MAX_OVERHEAD - START_LEN) {
            return Err(MessagingError::TooLarge);
        }
        Ok(Some(START_LEN + len))
    }

    fn decode(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<(), MessagingError> {
        let Some((&[form, flags, n0, n1, l0, l1, l2, l3], rest)) =
            frame.split_first_chunk::<START_LEN>()
        else {
            return Err(MessagingError::Truncated);
        };
        if u32::from_le_bytes([l0, l1, l2, l3]) as usize != rest.len() {
            return Err(MessagingError::WrongLength);
        }
        if form == WHOLE {
            return append_whole(rest, self.limit, message);
        }
        let Some((&[i0, i1, i2, i3, o0, o1, 0, 0], rest)) = rest.split_first_chunk::<8>() else {
            return Err(MessagingError::Truncated);
        };
        let frame = Numbered {
            flags,
            id: u32::from_le_bytes([i0, i1, i2, i3]),
            number: u16::from_le_bytes([n0, n1]),
            operation: u16::from_le_bytes([o0, o1]),
        };
        match form {
            REQUEST => self.append_request(&frame, rest, message),
            REPLY => append_reply(&frame, rest, self.limit, message),
            _ => Err(MessagingError::UnknownForm(form)),
        }
    }
}

/// The fields of a request or reply.
struct Numbered {
    flags: u8,
    id: u32,
    /// Of the object; or the status.
    number: u16,
    operation: u16,
}

impl Numbered {
    fn header(&self, kind: MessageKind) -> MessageHeader {
        MessageHeader {
            version: Version::V1_2,
            order: if self.flags & LITTLE == 0 {
                ByteOrder::Big
            } else {
                ByteOrder::Little
            },
            more_fragments: self.flags & MORE != 0,
            kind,
            size: 0,
        }
    }

    /// The list of service contexts, and what follows it.
    fn contexts<'f>(&self, octets: &'f [u8]) -> Result<(&'f [u8], &'f [u8]), MessagingError> {
        if self.flags & CONTEXTS == 0 {
            return Ok((&[0; NO_CONTEXTS], octets));
        }
        let (len, rest) = octets
            .split_first_chunk()
            .ok_or(MessagingError::Truncated)?;
        take(rest, u32::from_le_bytes(*len) as usize)
    }
}

impl FixedDecoder {
    fn append_request(
        &mut self,
        frame: &Numbered,
        octets: &[u8],
        message: &mut Vec<u8>,
    ) -> Result<(), MessagingError> {
        let (key_len, rest) = name_len(frame.flags & OBJECT != 0, octets)?;
        let (operation_len, rest) = name_len(frame.flags & OPERATION != 0, rest)?;
        let (key, rest) = take(rest, key_len.unwrap_or(0))?;
        let (operation, rest) = take(rest, operation_len.unwrap_or(0))?;
        let (contexts, body) = frame.contexts(rest)?;
        if key_len.is_some() {
            self.objects.define(frame.number, key)?;
        }
        if operation_len.is_some() {
            self.operations.define(frame.operation, operation)?;
        }
        let request = RequestParts {
            id: frame.id,
            response: frame.flags >> RESPONSE_SHIFT & 3,
            key: self.objects.find(frame.number)?,
            operation: self.operations.find(frame.operation)?,
            contexts,
            body,
        };
        request.append(frame.header(MessageKind::Request), self.limit, message)
    }
}

fn append_reply(
    frame: &Numbered,
    octets: &[u8],
    limit: usize,
    message: &mut Vec<u8>,
) -> Result<(), MessagingError> {
    let (contexts, body) = frame.contexts(octets)?;
    let reply = ReplyParts {
        id: frame.id,
        status: u32::from(frame.number),
        contexts,
        body,
    };
    reply.append(frame.header(MessageKind::Reply), limit, message)
}

fn append_whole(octets: &[u8], limit: usize, message: &mut Vec<u8>) -> Result<(), MessagingError> {
    if octets.len() > limit {
        return Err(MessagingError::TooLarge);
    }
    Message::new(&[octets]).giop_header()?;
    message.extend_from_slice(octets);
    Ok(())
}

/// The length of a name, if the frame has one.
fn name_len(present: bool, octets: &[u8]) -> Result<(Option<usize>, &[u8]), MessagingError> {
    if !present {
        return Ok((None, octets));
    }
    let (len, rest) = octets
        .split_first_chunk()
        .ok_or(MessagingError::Truncated)?;
    let len = usize::from(u16::from_le_bytes(*len));
    if len > MAX_NAME {
        return Err(MessagingError::TooLarge);
    }
    Ok((Some(len), rest))
}

fn take(octets: &[u8], len: usize) -> Result<(&[u8], &[u8]), MessagingError> {
    octets
        .split_at_checked(len)
        .ok_or(MessagingError::Truncated)
}
