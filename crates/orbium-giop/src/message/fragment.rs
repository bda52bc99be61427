// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finished messages cut into GIOP 1.2 fragments (CORBA 3.3 Part 2, clause
//! 9.4.9).

use core::ops::Range;

use crate::message::header::{HEADER_LEN, MessageHeader, MessageKind};
use crate::message::reassembly::is_fragmentable;

/// Octets before the data of a Fragment: message header and request id.
const FRAGMENT_HEADER_LEN: usize = HEADER_LEN + 4;

/// Smallest permitted limit: a Fragment with eight octets of data.
pub const MIN_FRAGMENT_LEN: usize = FRAGMENT_HEADER_LEN + 8;

/// Fragmentation of a finished message: an iterator over its parts.
///
/// The message itself is neither copied nor changed: each part is a head, to be
/// written first, and a range of the octets of the message.
#[derive(Clone, Debug)]
pub struct FragmentPlan {
    first: MessageHeader,
    request_id: [u8; 4],
    /// Octets of every part but the last; a multiple of eight.
    part: usize,
    len: usize,
    /// Octets of the message in previous fragments; 0 at the start.
    at: usize,
}

impl FragmentPlan {
    /// A plan for a message of `len` octets that starts with `start` (at least sixteen octets), in
    /// fragments of at most `limit` octets.
    ///
    /// `None` if the message is to be sent whole: it is within the limit, or its kind or version
    /// cannot be fragmented. GIOP 1.1 messages are never fragmented, since ORBs disagree on their
    /// alignment.
    #[must_use]
    pub fn new(start: &[u8], len: usize, limit: usize) -> Option<Self> {
        if len <= limit.max(MIN_FRAGMENT_LEN) {
            return None;
        }
        let first = MessageHeader::parse(start.first_chunk()?).ok()?;
        if first.version.minor < 2 || !is_fragmentable(&first) {
            return None;
        }
        Some(Self {
            first,
            request_id: *start.get(HEADER_LEN..)?.first_chunk()?,
            part: limit.max(MIN_FRAGMENT_LEN) & !7,
            len,
            at: 0,
        })
    }
}

/// One fragment: `head`, then a range of the original message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentPart {
    head: [u8; FRAGMENT_HEADER_LEN],
    head_len: usize,
    /// Octets of the original message that follow the head.
    pub range: Range<usize>,
}

impl FragmentPart {
    /// The octets to be written first: a message header, and in a Fragment the
    /// request id.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head[..self.head_len]
    }
}

impl Iterator for FragmentPlan {
    type Item = FragmentPart;

    fn next(&mut self) -> Option<FragmentPart> {
        if self.at >= self.len {
            return None;
        }
        let begins = self.at == 0;
        let (kind, from, head_len) = if begins {
            (self.first.kind, HEADER_LEN, HEADER_LEN)
        } else {
            (MessageKind::Fragment, self.at, FRAGMENT_HEADER_LEN)
        };
        let to = self.len.min(from + self.part - head_len);
        self.at = to;
        let header = MessageHeader {
            more_fragments: to < self.len,
            kind,
            // At most `part`, which is less than the length of the message.
            size: (head_len - HEADER_LEN + to - from) as u32,
            ..self.first
        };
        let mut head = [0; FRAGMENT_HEADER_LEN];
        head[..HEADER_LEN].copy_from_slice(&header.encode());
        head[HEADER_LEN..].copy_from_slice(&self.request_id);
        Some(FragmentPart {
            head,
            head_len,
            range: from..to,
        })
    }
}

/// The slices that cover a range of a message in pieces.
pub fn slices_within<'p>(
    pieces: impl IntoIterator<Item = &'p [u8]>,
    range: Range<usize>,
) -> impl Iterator<Item = &'p [u8]> {
    let mut start = 0;
    pieces.into_iter().filter_map(move |piece| {
        let from = range.start.saturating_sub(start).min(piece.len());
        let to = range.end.saturating_sub(start).min(piece.len());
        start += piece.len();
        (from < to).then(|| &piece[from..to])
    })
}
