// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of requests of the usual form.

use orbium_cdr::ByteOrder;

use crate::context::service_context::ServiceContexts;
use crate::context::time::reply_deadline::{CONTEXTS_LEN, ReplyDeadline};
use crate::message::header::{HEADER_LEN, MessageHeader, Version};
use crate::message::request::{PlainRequest, ResponseFlags};
use crate::numbers::{BODY, Names};
use crate::short::{Headers, NUMBERED, UsualHeaders, short_request_native};

/// The parts of a whole request in native byte order that is addressed by key and has no service
/// contexts, the common case.
#[derive(Debug)]
pub struct RequestParts<'m> {
    /// Chosen by the requester; the reply carries it.
    pub request_id: u32,
    /// The time at which a reply is expected, if any.
    pub response: ResponseFlags,
    /// The object key.
    pub key: &'m [u8],
    /// Operation name without the NUL.
    pub operation: &'m [u8],
    /// The body; may be empty.
    pub body: &'m mut [u8],
    /// Offset of the body in the message.
    pub body_at: usize,
}

/// The most frequent form of requests over a connection, in native byte order. A receiver that is
/// generic over it selects it once for a connection, not for each message.
pub trait RequestForm {
    /// The version that these headers represent.
    const VERSION: Version;

    /// The size in a message header, if it is that of a request of this form. `None` for any other
    /// message or invalid octets, which are left to [`MessageHeader::parse`] and
    /// [`Headers::parse`].
    fn size(usual: &UsualHeaders, octets: &[u8; HEADER_LEN]) -> Option<u32>;

    /// Splits a whole request with such a header. `None` for a request of any other form, for
    /// undefined numbers, and for a malformed request.
    fn split<'m>(message: &'m mut [u8], names: Option<&'m Names>) -> Option<RequestParts<'m>>;
}

/// Requests of GIOP 1.2.
#[derive(Debug)]
pub enum GiopRequests {}

/// Requests with short headers and the names of their objects and operations, and with
/// bodies in the [`native`](Version::NATIVE) data representation or in CDR.
#[derive(Debug)]
pub enum ShortRequests<const NATIVE: bool> {}

/// Requests with short headers and [numbers](crate::numbers).
#[derive(Debug)]
pub enum NumberedRequests {}

impl RequestForm for GiopRequests {
    const VERSION: Version = Version::V1_2;

    #[inline(always)]
    fn size(_: &UsualHeaders, octets: &[u8; HEADER_LEN]) -> Option<u32> {
        MessageHeader::plain_request(octets).map(|header| header.size)
    }

    #[inline(always)]
    fn split<'m>(message: &'m mut [u8], _: Option<&'m Names>) -> Option<RequestParts<'m>> {
        let plain = PlainRequest::find(&message[HEADER_LEN..], ByteOrder::NATIVE)?;
        Some(GiopRequests::parts(message, plain).0)
    }
}

impl GiopRequests {
    /// The parts of a message, and its octets before the body.
    #[inline(always)]
    fn parts(message: &mut [u8], plain: PlainRequest) -> (RequestParts<'_>, &[u8]) {
        let body_at = HEADER_LEN + plain.body;
        let (octets, body) = message.split_at_mut(body_at);
        let octets = &octets[HEADER_LEN..];
        let parts = RequestParts {
            request_id: plain.request_id,
            response: plain.response,
            key: &octets[plain.key],
            operation: &octets[plain.operation],
            body,
            body_at,
        };
        (parts, octets)
    }

    /// As `split`, for a request with the service contexts of a [`ReplyDeadline`] and no others,
    /// as [`RequestTemplate::begin_before`](crate::RequestTemplate::begin_before) writes them.
    #[inline]
    pub fn split_before(
        message: &mut [u8],
    ) -> Option<(RequestParts<'_>, ServiceContexts<'_>, ReplyDeadline)> {
        let octets = message.get(HEADER_LEN..)?;
        let mut found = None;
        let plain = PlainRequest::find_with(octets, ByteOrder::NATIVE, |at| {
            let list = octets.get(at..)?.first_chunk()?;
            found = Some((at, ReplyDeadline::read(list)?));
            Some(CONTEXTS_LEN)
        })?;
        let (list, deadline) = found?;
        let (parts, octets) = Self::parts(message, plain);
        let list = octets.get(list + 4..list + CONTEXTS_LEN)?;
        Some((parts, ServiceContexts::of_deadline(list), deadline))
    }
}

impl<const NATIVE: bool> RequestForm for ShortRequests<NATIVE> {
    const VERSION: Version = Version::of_short(NATIVE);

    #[inline(always)]
    fn size(usual: &UsualHeaders, octets: &[u8; HEADER_LEN]) -> Option<u32> {
        usual.request_size(octets, 0)
    }

    #[inline(always)]
    fn split<'m>(message: &'m mut [u8], _: Option<&'m Names>) -> Option<RequestParts<'m>> {
        let (head, rest) = message.split_first_chunk_mut::<HEADER_LEN>()?;
        let asked = short_request_native(head);
        let (key, rest) = rest.split_at_mut_checked(asked.key)?;
        let (operation, rest) = rest.split_at_mut_checked(asked.operation)?;
        let names_end = HEADER_LEN + key.len() + operation.len();
        let padding = (names_end.wrapping_neg() & 7).min(rest.len());
        let (_, body) = rest.split_at_mut(padding);
        Some(RequestParts {
            request_id: asked.id,
            response: asked.response,
            key,
            operation,
            body,
            body_at: names_end + padding,
        })
    }
}

impl RequestForm for NumberedRequests {
    const VERSION: Version = Version::SHORT;

    #[inline(always)]
    fn size(usual: &UsualHeaders, octets: &[u8; HEADER_LEN]) -> Option<u32> {
        usual.request_size(octets, NUMBERED)
    }

    #[inline(always)]
    fn split<'m>(message: &'m mut [u8], names: Option<&'m Names>) -> Option<RequestParts<'m>> {
        let (head, _) = message.split_first_chunk::<HEADER_LEN>()?;
        let asked = short_request_native(head);
        let (key, operation) = names?.meanings(asked.key, asked.operation)?;
        let body_at = BODY.min(message.len());
        let (_, body) = message.split_at_mut(body_at);
        Some(RequestParts {
            request_id: asked.id,
            response: asked.response,
            key,
            operation,
            body,
            body_at,
        })
    }
}

/// [`RequestForm`] of nearly all requests over a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsualForm {
    /// [`GiopRequests`].
    Giop,
    /// [`ShortRequests`] in CDR.
    Short,
    /// [`ShortRequests`] in the `native` data representation.
    Native,
    /// [`NumberedRequests`].
    Numbered,
}

impl Headers {
    /// The most frequent form of requests with these headers; that of GIOP if no other has a faster
    /// path.
    #[must_use]
    #[inline]
    pub const fn usual_form(self) -> UsualForm {
        match (self.are_short(), self.are_numbered(), self.are_native()) {
            (true, false, false) => UsualForm::Short,
            (true, false, true) => UsualForm::Native,
            (true, true, false) => UsualForm::Numbered,
            _ => UsualForm::Giop,
        }
    }
}
