// SPDX-License-Identifier: MIT OR Apache-2.0
//! Layout of GIOP 1.2 requests and replies: their parts, and the same messages reassembled from
//! them, octet for octet.

use core::ops::Range;

use super::{Message, MessagingError};
use crate::context::service_context::MAX_SERVICE_CONTEXTS;
use crate::message::header::{HEADER_LEN, MessageHeader, u32_from, u32_octets};
use orbium_cdr::ByteOrder;

/// Offset of the key of a request.
const KEY_AT: usize = HEADER_LEN + 16;
/// Offset of the service contexts of a reply.
const REPLY_CONTEXTS_AT: usize = HEADER_LEN + 8;
/// Octets of an empty list of service contexts.
pub(super) const NO_CONTEXTS: usize = 4;

/// The parts of a request of GIOP 1.2 or later that is addressed by key and has zeros in all
/// reserved octets and padding.
pub(super) struct RequestLayout {
    pub(super) id: u32,
    /// `response_flags`, 0 to 3.
    pub(super) response: u8,
    pub(super) key: Range<usize>,
    /// Without its NUL.
    pub(super) operation: Range<usize>,
    /// The list, including its count.
    pub(super) contexts: Range<usize>,
    /// Offset of the body; the length of the message if there is none.
    pub(super) body: usize,
}

impl RequestLayout {
    /// `None` for any other request, and if its header is not contiguous.
    pub(super) fn find(message: Message<'_>, header: &MessageHeader) -> Option<Self> {
        let (start, order) = (message.start(), header.order);
        let (head, _) = start.get(HEADER_LEN..)?.split_first_chunk::<16>()?;
        let [
            i0,
            i1,
            i2,
            i3,
            response,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            k0,
            k1,
            k2,
            k3,
        ] = *head
        else {
            return None;
        };
        if response > 3 || header.version.minor < 2 {
            return None;
        }
        let key = sized(KEY_AT, u32_from([k0, k1, k2, k3], order))?;
        let count_at = zeros_to(start, key.end, 4)?;
        let with_nul = sized(count_at + 4, long(start, count_at, order)?)?;
        let operation = with_nul.start..with_nul.end.checked_sub(1)?;
        if operation.end < operation.start || *start.get(operation.end)? != 0 {
            return None;
        }
        let contexts_at = zeros_to(start, with_nul.end, 4)?;
        let contexts = contexts_at..contexts_end(start, contexts_at, order)?;
        Some(Self {
            id: u32_from([i0, i1, i2, i3], order),
            response,
            key,
            operation,
            body: body_after(message, contexts.end)?,
            contexts,
        })
    }
}

/// The parts of a reply of GIOP 1.2 or later.
pub(super) struct ReplyLayout {
    pub(super) id: u32,
    pub(super) status: u32,
    /// The list, including its count.
    pub(super) contexts: Range<usize>,
    /// Offset of the body; the length of the message if there is none.
    pub(super) body: usize,
}

impl ReplyLayout {
    /// `None` for any other reply, and if its header is not contiguous.
    pub(super) fn find(message: Message<'_>, header: &MessageHeader) -> Option<Self> {
        let (start, order) = (message.start(), header.order);
        if header.version.minor < 2 {
            return None;
        }
        let end = contexts_end(start, REPLY_CONTEXTS_AT, order)?;
        Some(Self {
            id: long(start, HEADER_LEN, order)?,
            status: long(start, HEADER_LEN + 4, order)?,
            contexts: REPLY_CONTEXTS_AT..end,
            body: body_after(message, end)?,
        })
    }
}

fn long(octets: &[u8], at: usize, order: ByteOrder) -> Option<u32> {
    let octets = octets.get(at..)?.first_chunk::<4>()?;
    Some(u32_from(*octets, order))
}

fn sized(at: usize, len: u32) -> Option<Range<usize>> {
    Some(at..at.checked_add(len as usize)?)
}

/// The next multiple of `align`, if all octets up to it are zero.
fn zeros_to(octets: &[u8], at: usize, align: usize) -> Option<usize> {
    let to = at.checked_next_multiple_of(align)?;
    let zeros = octets.get(at..to)?.iter().all(|octet| *octet == 0);
    zeros.then_some(to)
}

fn contexts_end(octets: &[u8], at: usize, order: ByteOrder) -> Option<usize> {
    let count = long(octets, at, order)? as usize;
    if count > MAX_SERVICE_CONTEXTS {
        return None;
    }
    let mut end = at + NO_CONTEXTS;
    for _ in 0..count {
        let start = end.checked_next_multiple_of(4)?;
        end = sized(start + 8, long(octets, start + 4, order)?)?.end;
    }
    (end <= octets.len()).then_some(end)
}

/// Offset of the body after a header that ends at `end`: a multiple of eight; without a body there
/// must be no padding either.
fn body_after(message: Message<'_>, end: usize) -> Option<usize> {
    if message.len() == end {
        return Some(end);
    }
    let body = zeros_to(message.start(), end, 8)?;
    (body < message.len() || body == end).then_some(body)
}

/// The parts of a request to be written.
pub(super) struct RequestParts<'a> {
    pub(super) id: u32,
    pub(super) response: u8,
    pub(super) key: &'a [u8],
    pub(super) operation: &'a [u8],
    /// The list, including its count.
    pub(super) contexts: &'a [u8],
    pub(super) body: &'a [u8],
}

impl RequestParts<'_> {
    /// Appends the request; `header` is complete but for the size.
    pub(super) fn append(
        &self,
        header: MessageHeader,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), MessagingError> {
        let operation_at = KEY_AT + self.key.len().next_multiple_of(4);
        let contexts_at = operation_at + 4 + (self.operation.len() + 1).next_multiple_of(4);
        let end = contexts_at + self.contexts.len();
        let mut out = Out::begin(header, end, self.body, limit, out)?;
        out.long(self.id);
        out.octets(&[self.response, 0, 0, 0, 0, 0, 0, 0]);
        out.long(self.key.len() as u32);
        out.octets(self.key);
        out.align(4);
        out.long(self.operation.len() as u32 + 1);
        out.octets(self.operation);
        out.octets(&[0]);
        out.align(4);
        out.octets(self.contexts);
        out.body(self.body);
        Ok(())
    }
}

/// The parts of a reply to be written.
pub(super) struct ReplyParts<'a> {
    pub(super) id: u32,
    pub(super) status: u32,
    /// The list, including its count.
    pub(super) contexts: &'a [u8],
    pub(super) body: &'a [u8],
}

impl ReplyParts<'_> {
    /// Appends the reply; `header` is complete but for the size.
    pub(super) fn append(
        &self,
        header: MessageHeader,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), MessagingError> {
        let end = REPLY_CONTEXTS_AT + self.contexts.len();
        let mut out = Out::begin(header, end, self.body, limit, out)?;
        out.long(self.id);
        out.long(self.status);
        out.octets(self.contexts);
        out.body(self.body);
        Ok(())
    }
}

/// A message being written.
struct Out<'o> {
    out: &'o mut Vec<u8>,
    order: ByteOrder,
    /// Offset at which the message begins, the base of its alignment.
    start: usize,
}

impl<'o> Out<'o> {
    /// Writes the message header, if the message is within the limit. `end` is the end of the
    /// request or reply header.
    fn begin(
        mut header: MessageHeader,
        end: usize,
        body: &[u8],
        limit: usize,
        out: &'o mut Vec<u8>,
    ) -> Result<Self, MessagingError> {
        let len = if body.is_empty() {
            end
        } else {
            end.next_multiple_of(8) + body.len()
        };
        header.size = u32::try_from(len - HEADER_LEN).map_err(|_| MessagingError::TooLarge)?;
        if len > limit {
            return Err(MessagingError::TooLarge);
        }
        let start = out.len();
        out.reserve(len);
        out.extend_from_slice(&header.encode());
        Ok(Self {
            out,
            order: header.order,
            start,
        })
    }
}

impl Out<'_> {
    fn long(&mut self, value: u32) {
        self.octets(&u32_octets(value, self.order));
    }

    fn octets(&mut self, octets: &[u8]) {
        self.out.extend_from_slice(octets);
    }

    fn align(&mut self, align: usize) {
        let len = self.out.len() - self.start;
        let zeros = len.next_multiple_of(align) - len;
        self.octets(&[0; 8][..zeros]);
    }

    fn body(&mut self, body: &[u8]) {
        if !body.is_empty() {
            self.align(8);
            self.octets(body);
        }
    }
}
