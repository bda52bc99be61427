// SPDX-License-Identifier: MIT OR Apache-2.0
//! A frame that has arrived.

use std::fmt;
use std::ops::{Deref, Range};

use crate::datagram::{FrameHeader, FrameKind, Standing, Time};

use crate::pool::Buffer;

/// A whole frame, in a buffer that is returned to the receiver when this is dropped. It may outlive
/// the receiver and move to other threads.
pub struct MediaFrame {
    buffer: Buffer,
    payload: Range<usize>,
    header: FrameHeader,
    standing: Standing,
}

impl MediaFrame {
    pub(crate) const fn new(
        buffer: Buffer,
        payload: Range<usize>,
        header: FrameHeader,
        standing: Standing,
    ) -> Self {
        Self {
            buffer,
            payload,
            header,
            standing,
        }
    }

    /// The header that its sender gave it.
    #[must_use]
    pub const fn header(&self) -> FrameHeader {
        self.header
    }

    /// The kind of frame.
    #[must_use]
    pub const fn kind(&self) -> FrameKind {
        self.header.kind
    }

    /// The presentation time.
    #[must_use]
    pub const fn time(&self) -> Time {
        self.header.time
    }

    /// Its number in the stream.
    #[must_use]
    pub const fn sequence(&self) -> u32 {
        self.header.sequence
    }

    /// Number of frames between this one and the previous latest one, none of them complete so far:
    /// they are late, or lost.
    #[must_use]
    pub const fn missing(&self) -> u32 {
        self.standing.missing
    }

    /// Whether a later frame was delivered before it.
    #[must_use]
    pub const fn is_late(&self) -> bool {
        self.standing.is_late
    }

    /// The payload.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.buffer[self.payload.clone()]
    }
}

impl Deref for MediaFrame {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.payload()
    }
}

impl fmt::Debug for MediaFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MediaFrame")
            .field("header", &self.header)
            .field("standing", &self.standing)
            .field("len", &self.payload.len())
            .finish()
    }
}
