// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames of sound, pictures or other data in datagrams, outside of GIOP: for streams that prefer
//! losing a frame to waiting for it.
//!
//! A frame is split into datagrams of equal rank; [`Receiver`] reassembles it and reports lost,
//! duplicate and late ones. Numbers are big endian:
//!
//! | octets | meaning |
//! |---|---|
//! | 0 and 1 | `4F 4D` ("OM") |
//! | 2 | version: 1 |
//! | 3 | kind of frame; highest bit set if time is in ticks of 90 kHz |
//! | 4 to 7 | stream |
//! | 8 to 11 | number of the frame in its stream; 0 follows 2³²−1 |
//! | 12 and 13 | index of the fragment in the frame |
//! | 14 and 15 | number of fragments of the frame |
//! | 16 to 23 | time |
//!
//! ```
//! use orbium_media::datagram::{FrameHeader, FrameKind, Receiver, Received, ReceiverLimits, Time};
//!
//! let header = FrameHeader {
//!     stream: 7,
//!     sequence: 0,
//!     kind: FrameKind::Key,
//!     time: Time::Nanoseconds(40_000_000),
//! };
//! let picture = [9; 3000];
//! let mut receiver = Receiver::new(7, ReceiverLimits::default());
//! for fragment in header.fragments(picture.len(), 1400).unwrap() {
//!     let datagram = [&fragment.head[..], &picture[fragment.range]].concat();
//!     if let Received::Frame(frame) = receiver.accept(&datagram).unwrap() {
//!         assert_eq!((frame.header, frame.payload), (header, &picture[..]));
//!     }
//! }
//! assert_eq!(receiver.statistics().frames, 1);
//! ```

mod receiver;
mod window;

use core::fmt;
use core::ops::Range;

pub use receiver::{Frame, Received, Receiver, ReceiverLimits};
pub use window::{Seen, Standing, Statistics, Window};

/// Octets of the header of each datagram.
pub const FRAME_HEADER_LEN: usize = 24;

const MAGIC: [u8; 2] = *b"OM";
const VERSION: u8 = 1;
const TICKS: u8 = 0x80;

/// Kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FrameKind {
    /// A picture that depends on no other (I).
    Key = 1,
    /// A picture predicted from a previous one (P).
    Predicted = 2,
    /// A picture predicted from both sides (B).
    Bidirectional = 3,
    /// Sound.
    Audio = 4,
    /// Any other data.
    Data = 5,
    /// The end of the stream.
    End = 6,
}

impl FrameKind {
    /// The kind with that number.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Key,
            2 => Self::Predicted,
            3 => Self::Bidirectional,
            4 => Self::Audio,
            5 => Self::Data,
            6 => Self::End,
            _ => return None,
        })
    }
}

/// Presentation time of a frame, from a start that sender and receiver agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Time {
    /// Nanoseconds.
    Nanoseconds(u64),
    /// Ticks of the 90 kHz clock of video.
    Ticks(u64),
}

/// Header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// The stream of the frame.
    pub stream: u32,
    /// Its number in the stream.
    pub sequence: u32,
    /// The kind of the frame.
    pub kind: FrameKind,
    /// The time at which it is due.
    pub time: Time,
}

/// Error in a datagram that is not a fragment of a frame, or exceeds a limit.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MediaError {
    /// The datagram ends within its header.
    Truncated,
    /// It does not start with "OM" and version 1.
    NotMedia([u8; 3]),
    /// An unknown kind.
    UnknownKind(u8),
    /// It is beyond the number of fragments.
    BadFragment,
    /// Fragments of a frame disagree about it.
    Inconsistent,
    /// A frame is larger than the limit.
    TooLarge,
    /// It belongs to another stream.
    OtherStream(u32),
}

impl fmt::Display for MediaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("a media datagram ends too early"),
            Self::NotMedia(found) => write!(f, "not media: it starts with {found:02x?}"),
            Self::UnknownKind(kind) => write!(f, "there is no kind of frame {kind}"),
            Self::BadFragment => f.write_str("a fragment is beyond the number of fragments"),
            Self::Inconsistent => f.write_str("fragments of a frame disagree"),
            Self::TooLarge => f.write_str("a frame is too large"),
            Self::OtherStream(stream) => write!(f, "the frame is of stream {stream}"),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for MediaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for MediaError {}

/// A datagram of a frame, borrowed from its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// The header of its frame.
    pub header: FrameHeader,
    /// The number of this fragment in its frame, from 0 on.
    pub index: u16,
    /// The number of fragments of the frame; at least 1.
    pub count: u16,
    /// The payload of the fragment.
    pub payload: &'a [u8],
}

impl<'a> Fragment<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// [`MediaError`] for a malformed header.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, MediaError> {
        let Some((head, payload)) = datagram.split_first_chunk::<FRAME_HEADER_LEN>() else {
            return Err(MediaError::Truncated);
        };
        let [m0, m1, version, kind, numbers @ ..] = *head;
        let [s0, s1, s2, s3, q0, q1, q2, q3, i0, i1, c0, c1, time @ ..] = numbers;
        if [m0, m1] != MAGIC || version != VERSION {
            return Err(MediaError::NotMedia([m0, m1, version]));
        }
        let number = kind & !TICKS;
        let time = u64::from_be_bytes(time);
        let fragment = Self {
            header: FrameHeader {
                stream: u32::from_be_bytes([s0, s1, s2, s3]),
                sequence: u32::from_be_bytes([q0, q1, q2, q3]),
                kind: FrameKind::from_number(number).ok_or(MediaError::UnknownKind(number))?,
                time: if kind & TICKS == 0 {
                    Time::Nanoseconds(time)
                } else {
                    Time::Ticks(time)
                },
            },
            index: u16::from_be_bytes([i0, i1]),
            count: u16::from_be_bytes([c0, c1]),
            payload,
        };
        if fragment.index >= fragment.count {
            return Err(MediaError::BadFragment);
        }
        Ok(fragment)
    }
}

impl FrameHeader {
    /// The header of one fragment of the frame.
    #[must_use]
    pub const fn encode(&self, index: u16, count: u16) -> [u8; FRAME_HEADER_LEN] {
        let (ticks, time) = match self.time {
            Time::Nanoseconds(time) => (0, time),
            Time::Ticks(time) => (TICKS, time),
        };
        let [m0, m1] = MAGIC;
        let [s0, s1, s2, s3] = self.stream.to_be_bytes();
        let [q0, q1, q2, q3] = self.sequence.to_be_bytes();
        let [i0, i1] = index.to_be_bytes();
        let [c0, c1] = count.to_be_bytes();
        let [t0, t1, t2, t3, t4, t5, t6, t7] = time.to_be_bytes();
        [
            m0,
            m1,
            VERSION,
            self.kind as u8 | ticks,
            s0,
            s1,
            s2,
            s3,
            q0,
            q1,
            q2,
            q3,
            i0,
            i1,
            c0,
            c1,
            t0,
            t1,
            t2,
            t3,
            t4,
            t5,
            t6,
            t7,
        ]
    }

    /// Writes a frame of one fragment into `room`; returns the number of octets, or `None` if there
    /// is not enough room.
    pub fn write(&self, payload: &[u8], room: &mut [u8]) -> Option<usize> {
        let len = FRAME_HEADER_LEN + payload.len();
        let (head, rest) = room.get_mut(..len)?.split_at_mut(FRAME_HEADER_LEN);
        head.copy_from_slice(&self.encode(0, 1));
        rest.copy_from_slice(payload);
        Some(len)
    }

    /// Splits a frame of `len` octets into datagrams of at most `largest` octets. `None` if they
    /// have no room for a payload, or there would be more than 65,535.
    #[must_use]
    pub fn fragments(&self, len: usize, largest: usize) -> Option<Fragments> {
        let part = largest.checked_sub(FRAME_HEADER_LEN)?;
        if part == 0 {
            return None;
        }
        Some(Fragments {
            header: *self,
            part,
            len,
            count: u16::try_from(len.div_ceil(part).max(1)).ok()?,
            index: 0,
        })
    }
}

/// The datagrams of a frame: an iterator. The payload is neither copied nor
/// changed.
#[derive(Clone, Debug)]
pub struct Fragments {
    header: FrameHeader,
    part: usize,
    len: usize,
    count: u16,
    index: u16,
}

/// One datagram of a frame: `head`, then a range of the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The octets to be written first.
    pub head: [u8; FRAME_HEADER_LEN],
    /// Octets of the frame that follow the head.
    pub range: Range<usize>,
}

impl Iterator for Fragments {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        if self.index >= self.count {
            return None;
        }
        let from = usize::from(self.index) * self.part;
        let part = Part {
            head: self.header.encode(self.index, self.count),
            range: from..self.len.min(from + self.part),
        };
        self.index += 1;
        Some(part)
    }
}
