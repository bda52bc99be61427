// SPDX-License-Identifier: MIT OR Apache-2.0
//! A message that is to be sent.

use core::ops::Range;

use super::MessagingError;
use crate::{HEADER_LEN, HeaderError, MessageHeader, slices_within};

/// One whole message in pieces, which avoids copies of large data. The headers of a GIOP message
/// are in the first piece.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    pieces: &'a [&'a [u8]],
    len: usize,
}

impl<'a> Message<'a> {
    /// A message of these pieces in sequence.
    #[must_use]
    pub fn new(pieces: &'a [&'a [u8]]) -> Self {
        let len = pieces.iter().map(|piece| piece.len()).sum();
        Self { pieces, len }
    }

    /// Its pieces.
    #[must_use]
    pub const fn pieces(&self) -> &'a [&'a [u8]] {
        self.pieces
    }

    /// Octets of all pieces.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the message is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first piece that is not empty.
    #[must_use]
    pub fn start(&self) -> &'a [u8] {
        let mut pieces = self.pieces.iter();
        pieces.find(|piece| !piece.is_empty()).unwrap_or(&&[][..])
    }

    /// The slices that cover a range of its octets.
    pub fn slices(&self, range: Range<usize>) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        slices_within(self.pieces.iter().copied(), range)
    }

    /// The octets of the GIOP message header; zeros if the message is shorter.
    pub(super) fn first_octets(&self) -> [u8; HEADER_LEN] {
        let mut octets = [0; HEADER_LEN];
        let mut at = 0;
        for slice in self.slices(0..HEADER_LEN) {
            octets[at..at + slice.len()].copy_from_slice(slice);
            at += slice.len();
        }
        octets
    }

    /// The header, if this is one whole GIOP message.
    ///
    /// # Errors
    /// [`MessagingError::NotGiop`], [`MessagingError::WrongLength`].
    pub fn giop_header(&self) -> Result<MessageHeader, MessagingError> {
        let octets = self.first_octets();
        if self.len < HEADER_LEN {
            let [a, b, c, d, ..] = octets;
            return Err(HeaderError::BadMagic([a, b, c, d]).into());
        }
        let header = MessageHeader::parse(&octets)?;
        if header.size as usize != self.len - HEADER_LEN {
            return Err(MessagingError::WrongLength);
        }
        Ok(header)
    }
}
