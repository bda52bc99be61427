// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reassembly of frames from datagrams that may be reordered or lost.

use orbium_giop::reorder_buffer::{Inconsistent, ReorderBuffer};

use super::{Fragment, FrameHeader, MediaError, Seen, Statistics, Window};

/// Limits of the memory that a sender may occupy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverLimits {
    /// Octets of one frame.
    pub frame: usize,
    /// Frames that are incomplete at the same time.
    pub frames: usize,
    /// Octets of all incomplete frames; each fragment counts for 64 more.
    pub total: usize,
}

impl Default for ReceiverLimits {
    /// 4 MiB a frame, 8 frames, 8 MiB in all.
    fn default() -> Self {
        Self {
            frame: 4 << 20,
            frames: 8,
            total: 8 << 20,
        }
    }
}

/// A whole frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The header.
    pub header: FrameHeader,
    /// The payload.
    pub payload: &'a [u8],
    /// Number of frames between this one and the previous latest one, none of them complete so far:
    /// they are late, or lost.
    pub missing: u32,
    /// Whether a later frame was delivered before it.
    pub is_late: bool,
}

/// Outcome of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received<'a> {
    /// It was all that a frame lacked, or all of it.
    Frame(Frame<'a>),
    /// Fragments of its frame are outstanding.
    Incomplete,
    /// It was received before, or its frame was delivered or discarded.
    Duplicate,
    /// Its frame is too far behind the others, or too far ahead of them.
    Stale,
}

#[derive(Debug)]
struct Partial {
    header: FrameHeader,
    parts: ReorderBuffer,
}

/// Reassembles the frames of one stream and keeps statistics. It has no clock: lateness is
/// determined by the numbers of the frames.
#[derive(Debug)]
pub struct Receiver {
    stream: u32,
    limits: ReceiverLimits,
    window: Window,
    partial: Vec<Partial>,
    octets: usize,
    assembled: Vec<u8>,
}

impl Receiver {
    /// A receiver of that stream without any data.
    #[must_use]
    pub const fn new(stream: u32, limits: ReceiverLimits) -> Self {
        Self {
            stream,
            limits,
            window: Window::new(),
            partial: Vec::new(),
            octets: 0,
            assembled: Vec::new(),
        }
    }

    /// Takes a datagram.
    ///
    /// # Errors
    ///
    /// [`MediaError`]. A frame with inconsistent fragments, or one that exceeds the limit, is
    /// discarded.
    pub fn accept<'a>(&'a mut self, datagram: &'a [u8]) -> Result<Received<'a>, MediaError> {
        let fragment = Fragment::parse(datagram)?;
        let header = fragment.header;
        if header.stream != self.stream {
            return Err(MediaError::OtherStream(header.stream));
        }
        if fragment.payload.len() > self.limits.frame {
            return Err(MediaError::TooLarge);
        }
        match self.window.see(header.sequence) {
            Seen::Open => self.drop_fallen(),
            Seen::Restarted => {
                self.window.lose(self.partial.len());
                self.partial.clear();
                self.octets = 0;
            }
            Seen::Duplicate => return Ok(Received::Duplicate),
            Seen::Stale => return Ok(Received::Stale),
        }
        if fragment.count == 1 {
            self.drop_partial(header.sequence);
            return Ok(Received::Frame(
                self.deliver(header, Some(fragment.payload)),
            ));
        }
        match self.insert(&fragment) {
            Ok(Some(true)) => Ok(Received::Frame(self.deliver(header, None))),
            Ok(Some(false)) => Ok(Received::Incomplete),
            Ok(None) => {
                self.window.repeat();
                Ok(Received::Duplicate)
            }
            Err(error) => {
                self.give_up(header.sequence);
                Err(error)
            }
        }
    }

    /// The statistics so far.
    #[must_use]
    pub const fn statistics(&self) -> Statistics {
        self.window.statistics()
    }

    /// Octets of the incomplete frames.
    #[must_use]
    pub const fn octets(&self) -> usize {
        self.octets
    }

    /// Discards the frames outside the window, which are counted as lost.
    fn drop_fallen(&mut self) {
        let window = &self.window;
        let before = self.partial.len();
        self.partial
            .retain(|partial| window.holds(partial.header.sequence));
        if self.partial.len() < before {
            let left = self.partial.iter();
            self.octets = left.map(|partial| partial.parts.cost()).sum();
        }
    }

    /// Inserts a fragment of a pending frame. `None` for a duplicate; otherwise whether the frame
    /// is now complete.
    fn insert(&mut self, fragment: &Fragment<'_>) -> Result<Option<bool>, MediaError> {
        let sequence = fragment.header.sequence;
        let cost = ReorderBuffer::cost_of(fragment.payload.len());
        if cost > self.limits.total || self.limits.frames == 0 {
            return Err(MediaError::TooLarge);
        }
        if let Some(at) = self.find(sequence) {
            if self.partial[at].parts.contains(u32::from(fragment.index)) {
                return Ok(None);
            }
        } else {
            while self.partial.len() >= self.limits.frames {
                self.give_up_oldest_but(sequence);
            }
            self.partial.push(Partial {
                header: fragment.header,
                parts: ReorderBuffer::default(),
            });
        }
        while self.octets + cost > self.limits.total && self.partial.len() > 1 {
            self.give_up_oldest_but(sequence);
        }
        let at = self.find(sequence).ok_or(MediaError::TooLarge)?;
        let partial = &mut self.partial[at];
        if partial.header != fragment.header {
            return Err(MediaError::Inconsistent);
        }
        if self.octets + cost > self.limits.total
            || partial.parts.bytes() + fragment.payload.len() > self.limits.frame
        {
            return Err(MediaError::TooLarge);
        }
        let (index, count) = (u32::from(fragment.index), u32::from(fragment.count));
        match partial.parts.insert(index, Some(count), fragment.payload) {
            Err(Inconsistent) => return Err(MediaError::Inconsistent),
            Ok(false) => return Ok(None),
            Ok(true) => self.octets += cost,
        }
        if !partial.parts.is_complete() {
            return Ok(Some(false));
        }
        self.assembled.clear();
        partial.parts.append_to(&mut self.assembled);
        self.drop_partial(sequence);
        Ok(Some(true))
    }

    /// The complete frame: the given payload, or the assembled one.
    fn deliver<'a>(&'a mut self, header: FrameHeader, payload: Option<&'a [u8]>) -> Frame<'a> {
        let standing = self.window.deliver(header.sequence);
        Frame {
            header,
            payload: payload.unwrap_or(&self.assembled),
            missing: standing.missing,
            is_late: standing.is_late,
        }
    }

    fn find(&self, sequence: u32) -> Option<usize> {
        let mut partial = self.partial.iter();
        partial.position(|partial| partial.header.sequence == sequence)
    }

    fn drop_partial(&mut self, sequence: u32) {
        if let Some(at) = self.find(sequence) {
            self.octets -= self.partial.swap_remove(at).parts.cost();
        }
    }

    /// Settles a frame as lost.
    fn give_up(&mut self, sequence: u32) {
        self.drop_partial(sequence);
        self.window.give_up(sequence);
    }

    /// Discards the oldest incomplete frame, except that one.
    fn give_up_oldest_but(&mut self, sequence: u32) {
        let others = self.partial.iter().map(|partial| partial.header.sequence);
        let oldest = self
            .window
            .oldest(others.filter(|other| *other != sequence));
        if let Some(oldest) = oldest {
            self.give_up(oldest);
        }
    }
}
