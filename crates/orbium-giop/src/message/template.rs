// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests written: the constant part marshalled once, the rest patched per
//! call (CORBA 3.3 Part 2, clause 9.4.2).

mod operation;
mod short;

use orbium_cdr::{ByteOrder, CdrWriter, Encode, Format};

use crate::context::service_context::{self, ServiceContext};
use crate::context::time::reply_deadline::{CONTEXTS_LEN, PADDED_LEN, ReplyDeadline};
use crate::encapsulation::write_octets;
use crate::message::body::BodyStart;
use crate::message::header::{HEADER_LEN, MessageHeader, MessageKind, Version, u32_from};
use crate::message::request::{AddressingDisposition, ResponseFlags};
use crate::numbers::Numbers;
use crate::short::Headers;
use crate::{Ior, TaggedProfile};
pub use operation::OperationTail;
use operation::SHORT_TAIL;
use short::Short;

/// Maximum length of a prefix that is copied in one piece of constant size, which takes a few
/// instructions, while a copy of variable size takes forty.
const SHORT_PREFIX: usize = 96;

/// The constant part of all requests to one target, marshalled once.
///
/// Without service contexts the three GIOP versions differ only in the offsets of the request id
/// and the response flags: 12 and 16, or, after the empty list of service contexts, 16 and 20.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestTemplate {
    /// From the message header to the target, padded to the count of the operation name.
    prefix: Vec<u8>,
    /// A copy of the prefix, padded with zeros, unless it is too long.
    short_prefix: [u8; SHORT_PREFIX],
    version: Version,
    order: ByteOrder,
    short: Option<Short>,
}

impl RequestTemplate {
    /// Sets the headers of requests without service contexts to the object with that key. They are
    /// used if the template is one of GIOP 1.2 in native byte order.
    #[must_use]
    pub fn with_headers(self, headers: Headers, key: &[u8]) -> Self {
        let fits = headers.are_short() && self.version == Version::V1_2 && !self.order.is_foreign();
        Self {
            short: fits.then(|| Short::new(self.order, key, headers)).flatten(),
            ..self
        }
    }

    /// A template that addresses by object key, in native byte order.
    #[must_use]
    pub fn new(version: Version, key: &[u8]) -> Self {
        Self::in_order(ByteOrder::NATIVE, version, key)
    }

    /// As [`RequestTemplate::new`], in the given byte order.
    #[must_use]
    pub fn in_order(order: ByteOrder, version: Version, key: &[u8]) -> Self {
        Self::build(order, version, &|writer| {
            if version.minor >= 2 {
                writer.write_u16(AddressingDisposition::Key as u16);
            }
            write_octets(writer, key);
        })
    }

    /// A template that addresses by profile; GIOP 1.2 and later.
    #[must_use]
    pub fn with_profile(version: Version, profile: &TaggedProfile) -> Option<Self> {
        (version.minor >= 2).then(|| {
            Self::build(ByteOrder::NATIVE, version, &|writer| {
                writer.write_u16(AddressingDisposition::Profile as u16);
                writer.write_u32(profile.tag);
                write_octets(writer, &profile.data);
            })
        })
    }

    /// A template that addresses by whole reference and the index of the selected profile; GIOP 1.2
    /// and later.
    #[must_use]
    pub fn with_reference(version: Version, index: u32, ior: &Ior) -> Option<Self> {
        (version.minor >= 2).then(|| {
            let mut writer = Self::start(ByteOrder::NATIVE, version);
            writer.write_u16(AddressingDisposition::Reference as u16);
            writer.write_u32(index);
            ior.encode(&mut writer);
            Self::end(writer, version)
        })
    }

    fn build(order: ByteOrder, version: Version, target: &dyn Fn(&mut CdrWriter<'_>)) -> Self {
        let mut writer = Self::start(order, version);
        target(&mut writer);
        Self::end(writer, version)
    }

    fn start<'a>(order: ByteOrder, version: Version) -> CdrWriter<'a> {
        let header = MessageHeader {
            version,
            order,
            more_fragments: false,
            kind: MessageKind::Request,
            size: 0,
        };
        let mut writer = CdrWriter::new(Format::plain(order, version.minor));
        writer.write_raw(&header.encode());
        // Request id and flags, before them in 1.0 and 1.1 no service contexts.
        let fixed = if version.minor >= 2 { 8 } else { 12 };
        writer.write_raw(&[0; 12][..fixed]);
        writer
    }

    fn end(mut writer: CdrWriter<'_>, version: Version) -> Self {
        writer.align(4);
        let order = writer.order();
        // Fails only for a key beyond 2³² octets.
        let prefix = writer.finish().unwrap_or_default();
        let mut short_prefix = [0; SHORT_PREFIX];
        if let Some(start) = short_prefix.get_mut(..prefix.len()) {
            start.copy_from_slice(&prefix);
        }
        Self {
            prefix,
            short_prefix,
            version,
            order,
            short: None,
        }
    }

    /// The GIOP version of the requests.
    #[must_use]
    #[inline]
    pub const fn version(&self) -> Version {
        self.version
    }

    /// The byte order of the requests, which must be that of the writer.
    #[must_use]
    #[inline]
    pub const fn order(&self) -> ByteOrder {
        self.order
    }

    /// Maximum number of octets before the body of a request without service contexts.
    #[must_use]
    pub const fn header_len(&self, operation: &str) -> usize {
        self.prefix.len() + operation.len() + 4 + 4 + 4 + 7
    }

    /// Writes the message and request header into an empty writer of the
    /// template's byte order, ready for the arguments; end the message with
    /// [`finish_message`](crate::finish_message).
    pub fn begin(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        response: ResponseFlags,
        operation: &str,
        contexts: &[ServiceContext<'_>],
    ) -> BodyStart {
        debug_assert!(writer.is_empty() && writer.order() == self.order);
        if self.version.minor >= 2 {
            self.write_prefix(writer, request_id, response);
            writer.write_name(operation);
            service_context::write_list(writer, contexts);
        } else {
            writer.write_raw(self.prefix.get(..HEADER_LEN).unwrap_or_default());
            service_context::write_list(writer, contexts);
            writer.write_u32(request_id);
            writer.write_raw(&self.response_octets(response));
            // From the count of the key on.
            writer.write_raw(self.prefix.get(24..).unwrap_or_default());
            writer.write_name(operation);
            writer.write_octets(&[]);
        }
        BodyStart::after_header(writer, self.version.minor)
    }

    /// Copies the prefix and fills in the request id and flags.
    #[inline]
    fn write_prefix(&self, writer: &mut CdrWriter<'_>, request_id: u32, response: ResponseFlags) {
        let id_at = if self.version.minor >= 2 { 12 } else { 16 };
        let flags = self.response_octets(response);
        writer.write_raw(&self.prefix);
        writer.patch_u32(id_at, request_id);
        writer.patch_u32(id_at + 4, u32_from(flags, self.order));
    }

    /// The response flags, or `response_expected`, and the zeros after it.
    #[inline]
    const fn response_octets(&self, response: ResponseFlags) -> [u8; 4] {
        let octet = if self.version.minor >= 2 {
            response as u8
        } else {
            response.expects_reply() as u8
        };
        [octet, 0, 0, 0]
    }
}

/// Out of line: inlined, the compiler merges both copies into one of variable size.
#[cold]
fn copy_long(prefix: &[u8], room: &mut [u8]) {
    room[..prefix.len()].copy_from_slice(prefix);
}

impl RequestTemplate {
    /// As [`RequestTemplate::begin_giop`], with the template's own headers. `numbers` are those of
    /// the connection, if it uses numbers for names.
    #[inline(always)]
    pub fn begin_over<'n>(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        response: ResponseFlags,
        operation: &'static OperationTail,
        numbers: impl FnOnce() -> Option<&'n mut Numbers>,
    ) -> Option<BodyStart> {
        let Some(short) = &self.short else {
            return self.begin_giop(writer, request_id, response, operation);
        };
        debug_assert!(writer.is_empty() && !self.order.is_foreign());
        if operation.len == 0 {
            return None;
        }
        Some(match short.has_numbers().then(numbers).flatten() {
            None => short.begin(writer, request_id, response, operation),
            Some(numbers) => short.begin_numbered(writer, request_id, response, operation, numbers),
        })
    }

    /// As [`RequestTemplate::begin`], without service contexts, for an operation with a
    /// premarshalled part: two copies, two patches. The template must be in native byte order.
    /// Returns `None` and writes nothing if the name is too long.
    #[inline(always)]
    pub fn begin_giop(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        response: ResponseFlags,
        operation: &OperationTail,
    ) -> Option<BodyStart> {
        debug_assert!(writer.is_empty() && !self.order.is_foreign());
        if operation.len == 0 {
            return None;
        }
        if self.version.minor < 2 {
            return Some(self.begin_old(writer, request_id, response, operation));
        }
        self.write_head(writer, request_id, response, operation, 0);
        let header_end = self.prefix.len() + operation.len;
        let body = (header_end + 7) & !7;
        writer.shorten(body);
        Some(BodyStart { header_end, body })
    }

    /// Writes a head of GIOP 1.2 without service contexts, followed by zeros, and reserves `more`
    /// octets.
    #[inline(always)]
    fn write_head<'w>(
        &self,
        writer: &'w mut CdrWriter<'_>,
        request_id: u32,
        response: ResponseFlags,
        operation: &OperationTail,
        more: usize,
    ) -> &'w mut [u8] {
        let prefix = self.prefix.as_slice();
        let room = writer.append(SHORT_PREFIX.max(prefix.len()) + SHORT_TAIL + more);
        if prefix.len() <= SHORT_PREFIX {
            room[..SHORT_PREFIX].copy_from_slice(&self.short_prefix);
        } else {
            copy_long(prefix, room);
        }
        let head = &mut room[..prefix.len() + SHORT_TAIL + more];
        head[prefix.len()..prefix.len() + SHORT_TAIL].copy_from_slice(&operation.octets);
        head[12..16].copy_from_slice(&request_id.to_ne_bytes());
        head[16..20].copy_from_slice(&[response as u8, 0, 0, 0]);
        head
    }

    /// As [`RequestTemplate::begin_giop`], with the service contexts of a deadline. Also returns
    /// `None` and writes nothing in 1.0 and 1.1.
    #[inline]
    pub fn begin_before(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        response: ResponseFlags,
        operation: &OperationTail,
        deadline: ReplyDeadline,
    ) -> Option<BodyStart> {
        debug_assert!(writer.is_empty() && !self.order.is_foreign());
        if operation.len == 0 || self.version.minor < 2 {
            return None;
        }
        let contexts = self.prefix.len() + operation.len - 4;
        let head = self.write_head(writer, request_id, response, operation, PADDED_LEN);
        deadline.write(head[contexts..].first_chunk_mut()?);
        let header_end = contexts + CONTEXTS_LEN;
        let body = (header_end + 7) & !7;
        writer.shorten(body);
        Some(BodyStart { header_end, body })
    }

    /// As `begin_giop` in 1.0 and 1.1: request id and flags follow an empty list of contexts, and
    /// the body follows without padding.
    #[cold]
    fn begin_old(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        response: ResponseFlags,
        operation: &OperationTail,
    ) -> BodyStart {
        writer.write_raw(&self.prefix);
        writer.patch_u32(16, request_id);
        writer.patch_u32(20, u32_from(self.response_octets(response), self.order));
        writer.write_raw(&operation.octets[..operation.len]);
        BodyStart::unpadded(writer.len())
    }
}
