// SPDX-License-Identifier: MIT OR Apache-2.0
//! `giop-lite`, `native` and `fixed`: GIOP with [short headers](crate::Headers) where possible.
//!
//! Over a stream the ORB itself reads and writes them. The encoder and the decoder here are for
//! datagrams, bridges and stacks, in which other messaging protocols follow.

use core::ops::Range;

use super::layout::{NO_CONTEXTS, ReplyLayout, ReplyParts, RequestLayout, RequestParts};
use super::{Decoder, Encoder, Input, Message, Messaging, MessagingError, Session, Side};
use crate::message::header::HEADER_LEN;
use crate::numbers::{Names, Naming, Numbers};
use crate::short::{Asked, Short};
use crate::{Headers, MessageHeader, MessageKind, PlainRequest, Version};

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

    fn headers(&self) -> Headers {
        Headers::SHORT
    }

    fn session(&self, _side: Side, limit: usize) -> Session {
        session(Headers::SHORT, limit)
    }
}

/// GIOP with short headers and [numbers](crate::numbers) for objects and operations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fixed;

impl Messaging for Fixed {
    fn name(&self) -> &str {
        "fixed"
    }

    fn input(&self) -> Input {
        Input::Giop
    }

    fn headers(&self) -> Headers {
        Headers::NUMBERED
    }

    fn is_stateful(&self) -> bool {
        true
    }

    fn session(&self, _side: Side, limit: usize) -> Session {
        session(Headers::NUMBERED, limit)
    }
}

fn session(headers: Headers, limit: usize) -> Session {
    let encoder = LiteEncoder {
        numbers: headers.are_numbered().then(Numbers::default),
    };
    let decoder = LiteDecoder {
        headers,
        limit,
        names: headers.are_numbered().then(Box::default),
    };
    Session::new(encoder, decoder)
}

/// GIOP with short headers and bodies in the [`native`](Version::NATIVE) representation, between
/// peers of the same layout. Its name contains the layout, so that peers with another layout ignore
/// its profiles.
#[derive(Clone, Debug)]
pub struct Native {
    name: String,
}

impl Default for Native {
    fn default() -> Self {
        #[repr(C)]
        struct Aligned<T>(u8, T);
        let order = match orbium_cdr::ByteOrder::NATIVE {
            orbium_cdr::ByteOrder::Big => "be",
            orbium_cdr::ByteOrder::Little => "le",
        };
        // The memory layout of structs: by the alignment of their members.
        let aligns = [
            core::mem::offset_of!(Aligned<u16>, 1),
            core::mem::offset_of!(Aligned<u32>, 1),
            core::mem::offset_of!(Aligned<u64>, 1),
            core::mem::offset_of!(Aligned<f64>, 1),
        ];
        let [s, l, ll, d] = aligns;
        let version = env!("CARGO_PKG_VERSION").replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        Self {
            name: format!("native-{REPRESENTATION}-{order}-{s}{l}{ll}{d}-{version}"),
        }
    }
}

/// Version of the `native` data representation.
const REPRESENTATION: u8 = 1;

impl Messaging for Native {
    fn name(&self) -> &str {
        &self.name
    }

    fn alias(&self) -> Option<&str> {
        Some("native")
    }

    fn input(&self) -> Input {
        Input::Giop
    }

    fn headers(&self) -> Headers {
        Headers::NATIVE
    }

    /// The session of [`GiopLite`]: without the types of the values it writes CDR.
    fn session(&self, side: Side, limit: usize) -> Session {
        GiopLite.session(side, limit)
    }
}

#[derive(Debug)]
struct LiteEncoder {
    /// For headers with numbers.
    numbers: Option<Numbers>,
}

impl Encoder for LiteEncoder {
    fn encode(
        &mut self,
        message: Message<'_>,
        head: &mut Vec<u8>,
        _tail: &mut Vec<u8>,
    ) -> Result<Range<usize>, MessagingError> {
        let header = message.giop_header()?;
        let plain = header.version == Version::V1_2 && !header.more_fragments;
        let body = match header.kind {
            MessageKind::Request if plain => self.request(message, &header, head),
            MessageKind::Reply if plain => short_reply(message, &header, head),
            _ => None,
        };
        Ok(body.unwrap_or(0)..message.len())
    }
}

impl LiteEncoder {
    /// Writes the head of a request that can have a short header; returns the offset of its body.
    fn request(
        &mut self,
        message: Message<'_>,
        header: &MessageHeader,
        head: &mut Vec<u8>,
    ) -> Option<usize> {
        let found = RequestLayout::find(message, header)?;
        let start = message.start();
        let (key, operation) = (start.get(found.key)?, start.get(found.operation)?);
        if found.contexts.len() != NO_CONTEXTS || found.response == 2 {
            return None;
        }
        let says = Asked::new(found.response, key, operation)?;
        let numbers = self.numbers.as_mut();
        let short = Short {
            order: header.order,
            id: found.id,
            says: match numbers.map_or(Naming::Names, |it| it.bind(key, operation)) {
                Naming::Names => says,
                Naming::Numbers(target) => Asked::Numbered {
                    response: found.response,
                    target,
                },
                Naming::Definition(target) => says.defining(target),
            },
            native: false,
            body: message.len() - found.body,
        };
        short.append(head);
        Some(found.body)
    }
}

fn short_reply(message: Message<'_>, header: &MessageHeader, head: &mut Vec<u8>) -> Option<usize> {
    let found = ReplyLayout::find(message, header)?;
    if found.contexts.len() != NO_CONTEXTS {
        return None;
    }
    let short = Short {
        order: header.order,
        id: found.id,
        says: Asked::Answer(u8::try_from(found.status).ok()?),
        native: false,
        body: message.len() - found.body,
    };
    short.append(head);
    Some(found.body)
}

#[derive(Debug)]
struct LiteDecoder {
    headers: Headers,
    limit: usize,
    /// For headers with numbers.
    names: Option<Box<Names>>,
}

impl Decoder for LiteDecoder {
    fn frame_len(&self, wire: &[u8]) -> Result<Option<usize>, MessagingError> {
        let Some(head) = wire.first_chunk::<HEADER_LEN>() else {
            return Ok(None);
        };
        let header = match self.headers.parse(head) {
            Some(header) => header,
            None if MessageHeader::parse_short(head).is_some() => {
                return Err(MessagingError::UnknownForm(head[0]));
            }
            None => MessageHeader::parse(head)?,
        };
        let len = HEADER_LEN.saturating_add(header.size as usize);
        if len > self.limit {
            return Err(MessagingError::TooLarge);
        }
        Ok(Some(len))
    }

    fn decode(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<(), MessagingError> {
        let head = frame.first_chunk().ok_or(MessagingError::Truncated)?;
        let Some(header) = MessageHeader::parse_short(head) else {
            Message::new(&[frame]).giop_header()?;
            message.extend_from_slice(frame);
            return Ok(());
        };
        if header.size as usize != frame.len() - HEADER_LEN {
            return Err(MessagingError::WrongLength);
        }
        match &self.names {
            Some(names) if Names::concern(frame) => {
                let mut named = Vec::new();
                names.named(frame, &mut named)?;
                append_giop(&named, header, self.limit, message)
            }
            _ => append_giop(frame, header, self.limit, message),
        }
    }
}

/// Appends the GIOP message that a frame with a short header represents.
fn append_giop(
    frame: &[u8],
    header: MessageHeader,
    limit: usize,
    message: &mut Vec<u8>,
) -> Result<(), MessagingError> {
    let whole = MessageHeader {
        version: Version::V1_2,
        ..header
    };
    let rest = &frame[HEADER_LEN..];
    if header.kind == MessageKind::Reply {
        let id = frame.first_chunk().map_or(0, MessageHeader::short_id);
        let reply = ReplyParts {
            id,
            status: u32::from(frame[1]),
            contexts: &[0; NO_CONTEXTS],
            body: rest.get(4..).unwrap_or_default(),
        };
        return reply.append(whole, limit, message);
    }
    let found = PlainRequest::find_short(frame).ok_or(MessagingError::Truncated)?;
    let request = RequestParts {
        id: found.request_id,
        response: found.response as u8,
        key: &rest[found.key],
        operation: &rest[found.operation],
        contexts: &[0; NO_CONTEXTS],
        body: &rest[found.body..],
    };
    request.append(whole, limit, message)
}

/// The GIOP message that a whole message with a short header represents: fragmented messages need a
/// GIOP header. `None` for any other message.
#[must_use]
pub fn to_giop(frame: &[u8]) -> Option<Vec<u8>> {
    // A body in another representation than CDR has no equivalent with a GIOP header.
    let header = Headers::SHORT.parse(frame.first_chunk()?)?;
    let mut message = Vec::new();
    append_giop(frame, header, usize::MAX, &mut message).ok()?;
    Some(message)
}
