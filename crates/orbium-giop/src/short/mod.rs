// SPDX-License-Identifier: MIT OR Apache-2.0
//! Short headers: requests and replies of GIOP 1.2 without the fields that both sides know, after
//! TAO's GIOPlite ("The Design and Performance of a Pluggable Protocols Framework for Real-time
//! Distributed Object Computing Middleware", section 3.4).
//!
//! Every message begins with twelve octets, as in GIOP, and the size is at the same offset, so that
//! the framing of connections is the same:
//!
//! | octets | request | request with numbers | reply |
//! |---|---|---|---|
//! | 0 | form: see below | form | form |
//! | 1 | octets of the operation's name | number of the operation | status |
//! | 2 and 3 | octets of the object key | number of the object | 0 |
//! | 4 to 7 | request id | request id | request id |
//! | 8 to 11 | octets that follow | octets that follow | octets that follow |
//! | from 12 on | key, name, padding, body | padding, body | padding, body |
//!
//! Numbers are in the byte order that the form gives. Bodies begin at a multiple of eight, as in
//! GIOP 1.2; a request without a body has no padding, a reply always has its four octets. The
//! objects and operations with numbers are described in [`crate::numbers`]: a request that defines
//! them has four octets more, the number of the object, that of the operation and 0, before its
//! key.
//!
//! | bits of the form | meaning |
//! |---|---|
//! | 0 | 0 request, 1 reply |
//! | 1 | little endian |
//! | 2 | the body is in the `native` data representation |
//! | 3 and 4 | response flags of a request |
//! | 5 | a request with numbers in place of names |
//! | 6 | a request that defines the numbers of its names |
//! | 7 | 1, so that no short header begins as GIOP does |
//!
//! The `native` data representation is CDR in the byte order of both machines, with the
//! elements of sequences at their stride in memory: see [`orbium_cdr::Format::NATURAL`].
//!
//! All other messages have GIOP's headers: requests and replies with service contexts,
//! in fragments, addressed by profile or of an older version; and those of other kinds.

mod form;
mod headers;
mod usual;
mod writing;

use orbium_cdr::{ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, Format};

use crate::context::service_context::ServiceContexts;
use crate::message::body::{BodyStart, skip_to_body};
use crate::message::header::{
    HEADER_LEN, MessageHeader, MessageKind, Version, u32_from, u32_octets,
};
use crate::message::request::{PlainRequest, RequestHeader, ResponseFlags, Target};
pub(crate) use form::{DEFINES, MARK, NATIVE, NUMBERED, RESPONSE_SHIFT, order_of, request_form};
use form::{REPLY, natural_bit, order_bit};
pub use headers::Headers;
pub use usual::UsualHeaders;
pub(crate) use writing::{Asked, Short, Target as NumberedTarget, request_prefix};

impl Version {
    /// Represents GIOP 1.2 with the short headers of `giop-lite`, so that a reply can have the
    /// header form of its request. No GIOP header contains it.
    pub const SHORT: Self = Self { major: 0, minor: 2 };

    /// As [`Version::SHORT`], with a body in the `native` data representation.
    pub const NATIVE: Self = Self {
        major: 0,
        minor: Format::NATURAL,
    };

    pub(crate) const fn of_short(native: bool) -> Self {
        if native { Self::NATIVE } else { Self::SHORT }
    }
}

impl MessageHeader {
    /// Reads a short header; `None` for any other octets.
    #[must_use]
    #[inline]
    pub const fn parse_short(octets: &[u8; HEADER_LEN]) -> Option<Self> {
        let [form, _, k0, k1, _, _, _, _, s0, s1, s2, s3] = *octets;
        let numbers = form & (NUMBERED | DEFINES);
        if form & MARK == 0 || numbers == NUMBERED | DEFINES {
            return None;
        }
        let order = order_of(form);
        let native = form & NATIVE != 0;
        if native && order.is_foreign() {
            return None;
        }
        let kind = if form & REPLY == 0 {
            MessageKind::Request
        } else if form >> RESPONSE_SHIFT & 3 != 0 || numbers != 0 || k0 | k1 != 0 {
            return None;
        } else {
            MessageKind::Reply
        };
        Some(Self {
            version: Version::of_short(native),
            order,
            more_fragments: false,
            kind,
            size: u32_from([s0, s1, s2, s3], order),
        })
    }

    /// Reads a header of either kind, of a message that was validated before.
    #[must_use]
    pub fn parse_any(octets: &[u8; HEADER_LEN]) -> Option<Self> {
        match Self::parse(octets) {
            Ok(header) => Some(header),
            Err(_) => Self::parse_short(octets),
        }
    }

    /// Whether it is a short one.
    #[must_use]
    #[inline]
    pub const fn is_short(&self) -> bool {
        self.version.major == Version::SHORT.major
    }

    /// Reads the rest of a request header, of which `head` is the message header, from a reader at
    /// octet 12 of the message; leaves it at the body. A request with numbers is read after they
    /// are replaced by [its names](crate::numbers::Names::named).
    ///
    /// # Errors
    /// As [`RequestHeader::read`].
    pub fn read_request<'a>(
        &self,
        head: &[u8; HEADER_LEN],
        reader: &mut CdrReader<'a>,
    ) -> Result<RequestHeader<'a>, CdrError> {
        if !self.is_short() {
            return RequestHeader::read(reader, self.format().minor);
        }
        let found = short_request(head);
        let lens = [found.key, found.operation];
        if head[0] & (NUMBERED | DEFINES) != 0 || lens.iter().sum::<usize>() > reader.remaining() {
            return Err(reader.error(CdrErrorKind::Truncated));
        }
        let key: &[u8] = reader.take(found.key)?;
        let operation: &[u8] = reader.take(found.operation)?;
        skip_to_body(reader);
        Ok(RequestHeader {
            request_id: found.id,
            response: found.response,
            target: Target::Key(key),
            operation,
            contexts: ServiceContexts::EMPTY,
        })
    }

    /// The request id of a short header, and when a reply is expected.
    #[must_use]
    pub fn short_asked(octets: &[u8; HEADER_LEN]) -> (u32, ResponseFlags) {
        let found = short_request(octets);
        (found.id, found.response)
    }

    /// The request id in a short header.
    #[must_use]
    pub const fn short_id(octets: &[u8; HEADER_LEN]) -> u32 {
        let [form, _, _, _, i0, i1, i2, i3, ..] = *octets;
        u32_from([i0, i1, i2, i3], order_of(form))
    }
}

/// The fields of the short header of a request.
///
/// With numbers, they are in the place of the lengths.
pub(crate) struct ShortRequest {
    pub(crate) id: u32,
    pub(crate) response: ResponseFlags,
    pub(crate) key: usize,
    pub(crate) operation: usize,
}

#[inline]
pub(crate) fn short_request(octets: &[u8; HEADER_LEN]) -> ShortRequest {
    let [form, operation, k0, k1, i0, i1, i2, i3, ..] = *octets;
    let order = order_of(form);
    let key = match order {
        ByteOrder::Big => u16::from_be_bytes([k0, k1]),
        ByteOrder::Little => u16::from_le_bytes([k0, k1]),
    };
    ShortRequest {
        id: u32_from([i0, i1, i2, i3], order),
        response: ResponseFlags::from_octet(form >> RESPONSE_SHIFT),
        key: usize::from(key),
        operation: usize::from(operation),
    }
}

/// The same in native byte order: the octets before the id are loaded once.
#[inline(always)]
pub(crate) fn short_request_native(octets: &[u8; HEADER_LEN]) -> ShortRequest {
    let [f0, f1, f2, f3, i0, i1, i2, i3, ..] = *octets;
    let first = u32::from_le_bytes([f0, f1, f2, f3]);
    let key = match ByteOrder::NATIVE {
        ByteOrder::Big => (first >> 16).swap_bytes() >> 16,
        ByteOrder::Little => first >> 16,
    };
    ShortRequest {
        id: u32::from_ne_bytes([i0, i1, i2, i3]),
        response: ResponseFlags::from_octet((first >> RESPONSE_SHIFT) as u8),
        key: key as usize,
        operation: (first >> 8 & 0xFF) as usize,
    }
}

impl PlainRequest {
    /// As [`PlainRequest::find`], in a whole message with a short header.
    #[must_use]
    #[inline]
    pub fn find_short(message: &[u8]) -> Option<Self> {
        let (head, rest) = message.split_first_chunk::<HEADER_LEN>()?;
        if head[0] & (NUMBERED | DEFINES) != 0 {
            return None;
        }
        let found = short_request(head);
        let end = found.key + found.operation;
        if end > rest.len() {
            return None;
        }
        let body = ((end + HEADER_LEN + 7) & !7) - HEADER_LEN;
        Some(Self {
            request_id: found.id,
            response: found.response,
            key: 0..found.key,
            operation: found.key..end,
            body: body.min(rest.len()),
        })
    }
}

/// Offset of the body of a short reply.
pub(crate) const REPLY_BODY: usize = 16;

/// The fields of a short reply header: request id, status, and the offset of the body.
#[inline]
pub(crate) fn short_reply(message: &[u8]) -> Option<(u32, u8, usize)> {
    let (head, _) = message.split_first_chunk::<HEADER_LEN>()?;
    let body = REPLY_BODY.min(message.len());
    Some((MessageHeader::short_id(head), head[1], body))
}

/// Writes the short header of a reply into an empty writer; the body is written in the
/// writer's format.
#[inline(always)]
pub(crate) fn begin_short_reply(
    writer: &mut CdrWriter<'_>,
    request_id: u32,
    status: u8,
) -> BodyStart {
    let order = writer.order();
    let [i0, i1, i2, i3] = u32_octets(request_id, order);
    let form = MARK | REPLY | order_bit(order) | natural_bit(writer.format().minor);
    writer.write_raw(&[form, status, 0, 0, i0, i1, i2, i3, 0, 0, 0, 0, 0, 0, 0, 0]);
    BodyStart::unpadded(REPLY_BODY)
}
