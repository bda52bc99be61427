// SPDX-License-Identifier: MIT OR Apache-2.0
//! Short headers: requests and replies of GIOP 1.2 without what both sides know, after
//! TAO's GIOPlite ("The Design and Performance of a Pluggable Protocols Framework for
//! Real-time Distributed Object Computing Middleware", section 3.4).
//!
//! Twelve octets stand before every message, as in GIOP, and the size is where GIOP
//! has it, so that connections frame both alike:
//!
//! | octets | request | reply |
//! |---|---|---|
//! | 0 | form: see below | form |
//! | 1 | octets of the operation's name | status |
//! | 2 and 3 | octets of the object key | 0 |
//! | 4 to 7 | request id | request id |
//! | 8 to 11 | octets that follow | octets that follow |
//! | from 12 on | key, name, padding, body | padding, body |
//!
//! Numbers are in the byte order that the form names. Bodies begin at a multiple of
//! eight, as in GIOP 1.2; a request without a body has no padding, a reply always has its
//! four octets.
//!
//! | bits of the form | meaning |
//! |---|---|
//! | 0 | 0 request, 1 reply |
//! | 1 | little endian |
//! | 2 | the body is in the `native` data representation |
//! | 3 and 4 | response flags of a request |
//! | 5 to 7 | 4, so that no short header begins as GIOP does |
//!
//! The `native` data representation is CDR in the byte order of both machines, with the
//! elements of sequences at their stride in memory: see [`orbium_cdr::Format::NATURAL`].
//!
//! All other messages have GIOP's headers: requests and replies with service contexts,
//! in fragments, addressed by profile or of an older version; and those of other kinds.

use orbium_cdr::{ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, Format};

use crate::body::{BodyStart, skip_to_body};
use crate::header::{HEADER_LEN, MessageHeader, MessageKind, Version, u32_from, u32_octets};
use crate::request::{PlainRequest, RequestHeader, ResponseFlags, Target};
use crate::service_context::ServiceContexts;

const REPLY: u8 = 1;
const LITTLE: u8 = 2;
const NATIVE: u8 = 4;
const RESPONSE_SHIFT: u8 = 3;
/// What the highest bits of every form are.
const MARK: u8 = 0x80;
const MARK_BITS: u8 = 0xE0;

/// The bits of a form but the response flags.
const FORM_MASK: u8 = !(3 << RESPONSE_SHIFT);

/// Which headers requests and replies have over a stream, as its two ends have agreed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Headers {
    /// Those of GIOP.
    #[default]
    Giop,
    /// [Short ones](Version::SHORT), where there can be any.
    Short,
    /// Short ones with bodies in the [`native`](Version::NATIVE) data representation.
    Native,
}

impl Headers {
    /// What the first octet of a request is that is looked for first, under
    /// `FORM_MASK`; for GIOP's headers what none is.
    #[must_use]
    pub const fn request_form(self) -> u8 {
        match self {
            Self::Giop => !FORM_MASK,
            Self::Short => request_form(ByteOrder::NATIVE, 0, false),
            Self::Native => request_form(ByteOrder::NATIVE, 0, true),
        }
    }

    /// What the first octet of a reply is that is looked for first; for GIOP's headers
    /// what none is.
    #[must_use]
    pub const fn reply_form(self) -> u8 {
        match self {
            Self::Giop => 0,
            Self::Short => MARK | REPLY | order_bit(ByteOrder::NATIVE),
            Self::Native => MARK | REPLY | NATIVE | order_bit(ByteOrder::NATIVE),
        }
    }

    /// Whether a message may have that header.
    #[must_use]
    #[inline]
    pub const fn allow(self, header: &MessageHeader) -> bool {
        match self {
            Self::Giop => false,
            Self::Short => header.version.minor == Version::SHORT.minor,
            Self::Native => true,
        }
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

const fn order_of(form: u8) -> ByteOrder {
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
        if form & MARK_BITS != MARK {
            return None;
        }
        let order = order_of(form);
        let native = form & NATIVE != 0;
        if native && order.is_foreign() {
            return None;
        }
        let kind = if form & REPLY == 0 {
            MessageKind::Request
        } else if form >> RESPONSE_SHIFT & 3 != 0 || k0 | k1 != 0 {
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
    /// reader that stands at octet 12 of the message; leaves it at the body.
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
        if lens.iter().sum::<usize>() > reader.remaining() {
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
struct ShortRequest {
    id: u32,
    response: ResponseFlags,
    key: usize,
    operation: usize,
}

#[inline]
fn short_request(octets: &[u8; HEADER_LEN]) -> ShortRequest {
    short_request_in(octets, order_of(octets[0]))
}

#[inline(always)]
fn short_request_in(octets: &[u8; HEADER_LEN], order: ByteOrder) -> ShortRequest {
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
    prefix[2..4].copy_from_slice(&match order {
        ByteOrder::Big => len.to_be_bytes(),
        ByteOrder::Little => len.to_le_bytes(),
    });
    prefix.extend_from_slice(key);
    Some(prefix)
}

/// A short header to be written for a message, without its body.
pub(crate) struct Short<'a> {
    pub(crate) order: ByteOrder,
    pub(crate) id: u32,
    pub(crate) says: Asked<'a>,
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
        })
    }
}

impl Short<'_> {
    /// Appends the header, ready for the body.
    pub(crate) fn append(&self, out: &mut Vec<u8>) {
        let (form, second, key_len, names) = match self.says {
            Asked::Request {
                response,
                key,
                key_len,
                operation,
                operation_len,
            } => (
                request_form(self.order, response, false),
                operation_len,
                key_len,
                [key, operation],
            ),
            Asked::Answer(status) => (
                MARK | REPLY | order_bit(self.order),
                status,
                0,
                [&[][..], &[]],
            ),
        };
        let named = names[0].len() + names[1].len();
        let padding = if matches!(self.says, Asked::Answer(_)) {
            REPLY_BODY - HEADER_LEN
        } else if self.body == 0 {
            0
        } else {
            (HEADER_LEN + named).wrapping_neg() & 7
        };
        // Within 32 bits, as the header of GIOP is longer.
        let size = (named + padding + self.body) as u32;
        out.extend_from_slice(&[form, second]);
        out.extend_from_slice(&match self.order {
            ByteOrder::Big => key_len.to_be_bytes(),
            ByteOrder::Little => key_len.to_le_bytes(),
        });
        out.extend_from_slice(&u32_octets(self.id, self.order));
        out.extend_from_slice(&u32_octets(size, self.order));
        out.extend_from_slice(names[0]);
        out.extend_from_slice(names[1]);
        out.extend_from_slice(&[0; 8][..padding]);
    }
}
