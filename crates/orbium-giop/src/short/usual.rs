// SPDX-License-Identifier: MIT OR Apache-2.0
//! Precomputed short headers of nearly all messages of a connection.

use orbium_cdr::ByteOrder;

use super::form::{FORM_MASK, REPLY, request_form};
use super::{Headers, REPLY_BODY};
use crate::message::header::{HEADER_LEN, MessageHeader, MessageKind, Version};
use crate::message::reply::{PlainReply, ReplyStatus};

/// The most frequent short headers of requests and replies over a connection, in native byte order:
/// one compare identifies such a message, and only its size remains to be read.
#[derive(Clone, Copy, Debug)]
pub struct UsualHeaders {
    version: Version,
    /// The form of requests with names, under `FORM_MASK`.
    request: u8,
    /// The first four octets of replies without an exception; those of others differ in the status
    /// only. A value of more than four octets, which never matches, for headers without short ones.
    reply: u64,
}

/// All bits of the form, and the octets that are zero in a reply; the status differs.
const REPLY_MASK: u32 = u32::from_ne_bytes([0xFF, 0, 0xFF, 0xFF]);

impl UsualHeaders {
    /// The usual headers of a connection with these headers: none for GIOP's alone.
    #[must_use]
    pub const fn new(headers: Headers) -> Self {
        if !headers.are_short() {
            // Values that match no message.
            return Self {
                version: Version::SHORT,
                request: !FORM_MASK,
                reply: u64::MAX,
            };
        }
        let form = request_form(ByteOrder::NATIVE, 0, headers.are_native());
        Self {
            version: Version::of_short(headers.are_native()),
            request: form,
            reply: u32::from_ne_bytes([form | REPLY, 0, 0, 0]) as u64,
        }
    }

    /// The size in a message header, if it is the usual one of a request with these further bits of
    /// the form.
    #[inline(always)]
    pub(crate) const fn request_size(&self, octets: &[u8; HEADER_LEN], bits: u8) -> Option<u32> {
        let [form, _, _, _, _, _, _, _, s0, s1, s2, s3] = *octets;
        if form & FORM_MASK == self.request | bits {
            Some(u32::from_ne_bytes([s0, s1, s2, s3]))
        } else {
            None
        }
    }

    /// The size and the status in a message header, if it is the usual one of a reply.
    #[must_use]
    #[inline(always)]
    pub fn reply_size(&self, octets: &[u8; HEADER_LEN]) -> Option<(u32, ReplyStatus)> {
        let [form, status, k0, k1, _, _, _, _, s0, s1, s2, s3] = *octets;
        let first = u32::from_ne_bytes([form, status, k0, k1]);
        // A normal reply takes only the first compare.
        let status = if u64::from(first) == self.reply {
            ReplyStatus::NoException
        } else if u64::from(first & REPLY_MASK) == self.reply {
            ReplyStatus::from_number(u32::from(status), 2)?
        } else {
            return None;
        };
        Some((u32::from_ne_bytes([s0, s1, s2, s3]), status))
    }

    /// The usual header of a reply of that size.
    #[must_use]
    #[inline(always)]
    pub const fn reply(&self, size: u32) -> MessageHeader {
        MessageHeader {
            version: self.version,
            order: ByteOrder::NATIVE,
            more_fragments: false,
            kind: MessageKind::Reply,
            size,
        }
    }
}

impl PlainReply {
    /// Reads a whole reply with the usual short header and that status. `None` for one without the
    /// padding before its body.
    #[must_use]
    #[inline(always)]
    pub fn find_short(message: &[u8], status: ReplyStatus) -> Option<Self> {
        let [_, _, _, _, i0, i1, i2, i3, ..] = *message.first_chunk::<REPLY_BODY>()?;
        Some(Self {
            request_id: u32::from_ne_bytes([i0, i1, i2, i3]),
            status,
            body: REPLY_BODY,
        })
    }
}
