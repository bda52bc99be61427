// SPDX-License-Identifier: MIT OR Apache-2.0
//! Short headers: requests and replies of GIOP 1.2 without what both sides know, after
//! TAO's GIOPlite ("The Design and Performance of a Pluggable Protocols Framework for
//! Real-time Distributed Object Computing Middleware", section 3.4).
//!
//! Twelve octets stand before every message, as in GIOP, and the size is where GIOP
//! has it, so that connections frame both alike:
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
//! Numbers are in the byte order that the form names. Bodies begin at a multiple of
//! eight, as in GIOP 1.2; a request without a body has no padding, a reply always has its
//! four octets. What objects and operations have numbers is in [`crate::numbers`]: a
//! request that defines them has four octets more, the number of the object, that of the
//! operation and 0, before its key.
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

use orbium_cdr::{ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, Format};

use crate::body::{BodyStart, skip_to_body};
use crate::header::{HEADER_LEN, MessageHeader, MessageKind, Version, u32_from, u32_octets};
use crate::numbers::Target as NumberedTarget;
use crate::request::{PlainRequest, RequestHeader, ResponseFlags, Target};
use crate::service_context::ServiceContexts;

const REPLY: u8 = 1;
const LITTLE: u8 = 2;
pub(crate) const NATIVE: u8 = 4;
const RESPONSE_SHIFT: u8 = 3;
pub(crate) const NUMBERED: u8 = 0x20;
pub(crate) const DEFINES: u8 = 0x40;
/// The highest bit of every form.
pub(crate) const MARK: u8 = 0x80;

/// The bits of a form but the response flags, and whether a request has numbers.
const FORM_MASK: u8 = !(3 << RESPONSE_SHIFT | NUMBERED);

/// Which headers requests and replies have over a stream, as its two ends have agreed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Headers {
    /// Whether there are short ones.
    short: bool,
    /// Whether bodies may be in the [`native`](Version::NATIVE) data representation.
    native: bool,
    /// Whether objects and operations get [numbers](crate::numbers).
    numbered: bool,
}

impl Headers {
    /// Those of GIOP.
    pub const GIOP: Self = Self {
        short: false,
        native: false,
        numbered: false,
    };

    /// [Short ones](Version::SHORT), where there can be any.
    pub const SHORT: Self = Self {
        short: true,
        ..Self::GIOP
    };

    /// Short ones with bodies in the [`native`](Version::NATIVE) data representation.
    pub const NATIVE: Self = Self::SHORT.with_native_bodies();

    /// Short ones with [numbers](crate::numbers) in place of names.
    pub const NUMBERED: Self = Self {
        numbered: true,
        ..Self::SHORT
    };

    /// The same, with bodies in the [`native`](Version::NATIVE) data representation.
    #[must_use]
    pub const fn with_native_bodies(self) -> Self {
        Self {
            native: true,
            ..self
        }
    }

    /// Whether there are short ones.
    #[must_use]
    pub const fn are_short(self) -> bool {
        self.short
    }

    /// Whether bodies are in the [`native`](Version::NATIVE) data representation.
    #[must_use]
    pub const fn are_native(self) -> bool {
        self.native
    }

    /// Whether objects and operations get [numbers](crate::numbers).
    #[must_use]
    pub const fn are_numbered(self) -> bool {
        self.numbered
    }

    /// What the first octet of a request is that is looked for first, under
    /// `FORM_MASK`; for GIOP's headers what none is.
    #[must_use]
    pub const fn request_form(self) -> u8 {
        match self.short {
            false => !FORM_MASK,
            true => request_form(ByteOrder::NATIVE, 0, self.native),
        }
    }

    /// What the first octet of a reply is that is looked for first; for GIOP's headers
    /// what none is.
    #[must_use]
    pub const fn reply_form(self) -> u8 {
        match self.short {
            false => 0,
            true => request_form(ByteOrder::NATIVE, 0, self.native) | REPLY,
        }
    }

    /// Reads a short header, if it is one of these.
    #[must_use]
    #[inline]
    pub const fn parse(self, octets: &[u8; HEADER_LEN]) -> Option<MessageHeader> {
        let form = octets[0];
        if !self.short
            || form & NATIVE != 0 && !self.native
            || form & (NUMBERED | DEFINES) != 0 && !self.numbered
        {
            return None;
        }
        MessageHeader::parse_short(octets)
    }
}

const fn order_bit(order: ByteOrder) -> u8 {
    match order {
        ByteOrder::Big => 0,
        ByteOrder::Little => LITTLE,
    }
}

/// The form of a request.
pub(crate) const fn request_form(order: ByteOrder, response: u8, native: bool) -> u8 {
    let native = if native { NATIVE } else { 0 };
    MARK | order_bit(order) | native | response << RESPONSE_SHIFT
}

pub(crate) const fn order_of(form: u8) -> ByteOrder {
    if form & LITTLE == 0 {
        ByteOrder::Big
    } else {
        ByteOrder::Little
    }
}

impl Version {
    /// Stands for GIOP 1.2 with the short headers of `giop-lite`, so that a reply can
    /// have the header that its request had. No GIOP header names it.
    pub const SHORT: Self = Self { major: 0, minor: 2 };

    /// As [`Version::SHORT`], with a body in the `native` data representation.
    pub const NATIVE: Self = Self {
        major: 0,
        minor: Format::NATURAL,
    };
}

impl MessageHeader {
    /// Reads a short header; `None` for all else.
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
            version: if native {
                Version::NATIVE
            } else {
                Version::SHORT
            },
            order,
            more_fragments: false,
            kind,
            size: u32_from([s0, s1, s2, s3], order),
        })
    }

    /// Reads the short header of a request of that [form](Headers::request_form), as
    /// nearly all are: one compare.
    #[must_use]
    #[inline]
    pub const fn short_request(octets: &[u8; HEADER_LEN], form: u8) -> Option<Self> {
        let [first, _, _, _, _, _, _, _, s0, s1, s2, s3] = *octets;
        if first & FORM_MASK != form {
            return None;
        }
        Some(Self {
            version: if form & NATIVE != 0 {
                Version::NATIVE
            } else {
                Version::SHORT
            },
            order: ByteOrder::NATIVE,
            more_fragments: false,
            kind: MessageKind::Request,
            size: u32::from_ne_bytes([s0, s1, s2, s3]),
        })
    }

    /// Reads the short header of a reply of that [form](Headers::reply_form), as nearly all
    /// are.
    #[must_use]
    #[inline]
    pub const fn short_reply(octets: &[u8; HEADER_LEN], form: u8) -> Option<Self> {
        let [first, _, k0, k1, _, _, _, _, s0, s1, s2, s3] = *octets;
        if first != form || u16::from_ne_bytes([k0, k1]) != 0 {
            return None;
        }
        Some(Self {
            version: if form & NATIVE != 0 {
                Version::NATIVE
            } else {
                Version::SHORT
            },
            order: ByteOrder::NATIVE,
            more_fragments: false,
            kind: MessageKind::Reply,
            size: u32::from_ne_bytes([s0, s1, s2, s3]),
        })
    }

    /// Reads a header of either kind, of a message that is known to be one.
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

    /// Reads the rest of a request header, of which `head` is the message header, from a
    /// reader that stands at octet 12 of the message; leaves it at the body. A request with
    /// numbers is read once it has [its names](crate::numbers::Names::named).
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

    /// The request id of a short header, and which answer is wanted.
    #[must_use]
    pub fn short_asked(octets: &[u8; HEADER_LEN]) -> (u32, ResponseFlags) {
        let found = short_request(octets);
        (found.id, found.response)
    }

    /// The request id that a short header holds.
    #[must_use]
    pub const fn short_id(octets: &[u8; HEADER_LEN]) -> u32 {
        let [form, _, _, _, i0, i1, i2, i3, ..] = *octets;
        u32_from([i0, i1, i2, i3], order_of(form))
    }
}

/// What the short header of a request says.
///
/// With numbers they are where the lengths are otherwise.
pub(crate) struct ShortRequest {
    pub(crate) id: u32,
    pub(crate) response: ResponseFlags,
    pub(crate) key: usize,
    pub(crate) operation: usize,
}

#[inline]
pub(crate) fn short_request(octets: &[u8; HEADER_LEN]) -> ShortRequest {
    short_request_in(octets, order_of(octets[0]))
}

#[inline(always)]
pub(crate) fn short_request_in(octets: &[u8; HEADER_LEN], order: ByteOrder) -> ShortRequest {
    let [form, operation, k0, k1, i0, i1, i2, i3, ..] = *octets;
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

impl PlainRequest {
    /// As [`PlainRequest::find`], in a whole message with a short header.
    #[must_use]
    #[inline]
    pub fn find_short(message: &[u8]) -> Option<Self> {
        let (head, rest) = message.split_first_chunk::<HEADER_LEN>()?;
        if head[0] & (NUMBERED | DEFINES) != 0 {
            return None;
        }
        Self::found(&short_request(head), rest)
    }

    /// The same in the byte order of this machine.
    #[must_use]
    #[inline]
    pub fn find_short_native(message: &[u8]) -> Option<Self> {
        let (head, rest) = message.split_first_chunk::<HEADER_LEN>()?;
        Self::found(&short_request_in(head, ByteOrder::NATIVE), rest)
    }

    #[inline(always)]
    fn found(found: &ShortRequest, rest: &[u8]) -> Option<Self> {
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

/// Where the body of a short reply begins.
const REPLY_BODY: usize = 16;

/// What a reply with a short header says: request id, status, and where its body begins.
#[inline]
pub(crate) fn short_reply(message: &[u8]) -> Option<(u32, u8, usize)> {
    let (head, _) = message.split_first_chunk::<HEADER_LEN>()?;
    let body = REPLY_BODY.min(message.len());
    Some((MessageHeader::short_id(head), head[1], body))
}

/// Writes the short header of a reply into an empty writer.
#[inline(always)]
pub(crate) fn begin_short_reply(
    writer: &mut CdrWriter<'_>,
    version: Version,
    request_id: u32,
    status: u8,
) -> BodyStart {
    let order = writer.order();
    let [i0, i1, i2, i3] = u32_octets(request_id, order);
    // The writer's format says how the body is written.
    let native = match version {
        Version::NATIVE if writer.format().is_natural() => NATIVE,
        _ => 0,
    };
    let form = MARK | REPLY | native | order_bit(order);
    writer.write_raw(&[form, status, 0, 0, i0, i1, i2, i3, 0, 0, 0, 0, 0, 0, 0, 0]);
    BodyStart::unpadded(REPLY_BODY)
}

/// The beginning of a short request: header and key; `None` if the key is too long.
pub(crate) fn request_prefix(order: ByteOrder, key: &[u8]) -> Option<Vec<u8>> {
    let len = u16::try_from(key.len()).ok()?;
    let mut prefix = vec![0; HEADER_LEN];
    prefix[2..4].copy_from_slice(&u16_octets(len, order));
    prefix.extend_from_slice(key);
    Some(prefix)
}

/// A short header to be written for a message, without its body.
pub(crate) struct Short<'a> {
    pub(crate) order: ByteOrder,
    pub(crate) id: u32,
    pub(crate) says: Asked<'a>,
    /// Whether the body is in the `native` data representation.
    pub(crate) native: bool,
    /// Octets of the body.
    pub(crate) body: usize,
}

/// What a short header says of its message.
pub(crate) enum Asked<'a> {
    Request {
        response: u8,
        key: &'a [u8],
        key_len: u16,
        operation: &'a [u8],
        operation_len: u8,
        defines: Option<NumberedTarget>,
    },
    /// A request with numbers.
    Numbered {
        response: u8,
        target: NumberedTarget,
    },
    /// A reply, with its status.
    Answer(u8),
}

impl<'a> Asked<'a> {
    /// `None` for names that are too long.
    pub(crate) fn new(response: u8, key: &'a [u8], operation: &'a [u8]) -> Option<Self> {
        Some(Self::Request {
            response,
            key,
            key_len: u16::try_from(key.len()).ok()?,
            operation,
            operation_len: u8::try_from(operation.len()).ok()?,
            defines: None,
        })
    }

    /// The same; the names get these numbers.
    pub(crate) fn defining(mut self, target: NumberedTarget) -> Self {
        if let Self::Request { defines, .. } = &mut self {
            *defines = Some(target);
        }
        self
    }
}

/// An unsigned short in the given order.
const fn u16_octets(value: u16, order: ByteOrder) -> [u8; 2] {
    match order {
        ByteOrder::Big => value.to_be_bytes(),
        ByteOrder::Little => value.to_le_bytes(),
    }
}

impl Short<'_> {
    /// Appends the header, ready for the body.
    pub(crate) fn append(&self, out: &mut Vec<u8>) {
        let definition;
        let (kind, second, third, names) = match self.says {
            Asked::Request {
                response,
                key,
                key_len,
                operation,
                operation_len,
                defines: None,
            } => {
                let kind = response << RESPONSE_SHIFT;
                (kind, operation_len, key_len, [&[][..], key, operation])
            }
            Asked::Request {
                response,
                key,
                key_len,
                operation,
                operation_len,
                defines: Some(target),
            } => {
                let [o0, o1] = u16_octets(target.object, self.order);
                definition = [o0, o1, target.operation, 0];
                let kind = response << RESPONSE_SHIFT | DEFINES;
                let names = [&definition[..], key, operation];
                (kind, operation_len, key_len, names)
            }
            Asked::Numbered { response, target } => {
                let kind = response << RESPONSE_SHIFT | NUMBERED;
                (kind, target.operation, target.object, [&[][..]; 3])
            }
            Asked::Answer(status) => (REPLY, status, 0, [&[][..]; 3]),
        };
        let named: usize = names.iter().map(|name| name.len()).sum();
        let padding = if matches!(self.says, Asked::Answer(_)) {
            REPLY_BODY - HEADER_LEN
        } else if self.body == 0 {
            0
        } else {
            (HEADER_LEN + named).wrapping_neg() & 7
        };
        // Within 32 bits, as the header of GIOP is longer.
        let size = (named + padding + self.body) as u32;
        let form = request_form(self.order, 0, self.native) | kind;
        out.extend_from_slice(&[form, second]);
        out.extend_from_slice(&u16_octets(third, self.order));
        out.extend_from_slice(&u32_octets(self.id, self.order));
        out.extend_from_slice(&u32_octets(size, self.order));
        names.iter().for_each(|name| out.extend_from_slice(name));
        out.extend_from_slice(&[0; 8][..padding]);
    }
}
