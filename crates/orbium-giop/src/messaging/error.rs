// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of encoding messages and decoding frames.

use core::fmt;

use crate::HeaderError;

/// Error of encoding a message or decoding a frame. The connection is no longer usable.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessagingError {
    /// The data are not a GIOP message.
    NotGiop(HeaderError),
    /// The length of a message differs from that in its header.
    WrongLength,
    /// The message exceeds the limit, or the range of the format.
    TooLarge,
    /// The frame is truncated.
    Truncated,
    /// Unknown value of the octet that gives the form of a frame.
    UnknownForm(u8),
    /// An undefined number.
    Unbound(u16),
    /// A number beyond the table of both sides.
    OutOfTable(u16),
    /// An unknown compressor.
    UnknownCompressor(u16),
    /// Compressed octets that are corrupt, or differ from the stated length.
    BadCompression,
    /// A frame that exceeds the limit of decompression.
    TooCompressed,
    /// Any other error, described by a short text.
    Refused(&'static str),
}

impl fmt::Display for MessagingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotGiop(error) => error.fmt(f),
            Self::WrongLength => f.write_str("a message is not as long as it says"),
            Self::TooLarge => f.write_str("a message is too large"),
            Self::Truncated => f.write_str("a frame ends too early"),
            Self::UnknownForm(form) => write!(f, "there is no form of frame {form:#04x}"),
            Self::Unbound(number) => write!(f, "number {number} was not bound to anything"),
            Self::OutOfTable(number) => write!(f, "number {number} is beyond the table"),
            Self::UnknownCompressor(id) => write!(f, "compressor {id} is not known"),
            Self::BadCompression => f.write_str("compressed octets are corrupt"),
            Self::TooCompressed => f.write_str("a frame becomes too much when it is decompressed"),
            Self::Refused(why) => f.write_str(why),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for MessagingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for MessagingError {}

impl From<HeaderError> for MessagingError {
    fn from(error: HeaderError) -> Self {
        Self::NotGiop(error)
    }
}
