// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boundaries of message bodies: the padding of GIOP 1.2 and later (CORBA 3.3 Part 2, clauses
//! 9.4.2.2 and 9.4.3.2).

use orbium_cdr::{CdrErrorKind, CdrReader, CdrWriter};

use crate::message::header::HEADER_LEN;

/// Skips the padding before the body of GIOP 1.2: to a multiple of eight, or to the end, as only
/// some ORBs pad without a body.
#[inline]
pub(crate) fn skip_to_body(reader: &mut CdrReader<'_>) {
    let gap = reader.position().wrapping_neg() & 7;
    // Cannot fail: at most the remaining octets are taken.
    let _ = reader.take(gap.min(reader.remaining()));
}

/// The position in a message being written at which its header ends and its body begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "finish_message needs it"]
pub struct BodyStart {
    pub(crate) header_end: usize,
    pub(crate) body: usize,
}

impl BodyStart {
    /// Octets from the start of the message to its body.
    #[must_use]
    #[inline]
    pub const fn position(self) -> usize {
        self.body
    }

    /// Pads to the body if GIOP 1.`minor` requires it.
    #[inline]
    pub(crate) fn after_header(writer: &mut CdrWriter<'_>, minor: u8) -> Self {
        let header_end = writer.len();
        if minor >= 2 {
            writer.align(8);
        }
        Self {
            header_end,
            body: writer.len(),
        }
    }

    /// A body that follows the header without padding.
    #[inline]
    pub(crate) const fn unpadded(at: usize) -> Self {
        Self {
            header_end: at,
            body: at,
        }
    }
}

/// Finishes a message: sets its size, and removes the padding before an empty body (some ORBs raise
/// MARSHAL for padding without a body).
///
/// Errors are recorded in the writer; a message beyond 2³² octets is one.
#[inline]
pub fn finish_message(writer: &mut CdrWriter<'_>, start: BodyStart) {
    // At its body a message holds no gathered slice yet.
    if writer.len() == start.body && start.body != start.header_end && writer.error().is_none() {
        writer.shorten(start.header_end);
    }
    match u32::try_from(writer.len() - HEADER_LEN) {
        Ok(size) => writer.patch_u32(8, size),
        Err(_) => writer.fail(CdrErrorKind::BoundExceeded),
    }
}
