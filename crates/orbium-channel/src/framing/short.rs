// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages with short headers, and plain replies of either kind.

use orbium_giop::{HEADER_LEN, HeaderError, MessageHeader};

use super::{Framing, FramingError, total};

impl Framing {
    /// The header of a message that is none of GIOP's.
    #[inline(never)]
    pub(super) fn short_header(
        &self,
        octets: &[u8; HEADER_LEN],
        error: HeaderError,
    ) -> Result<MessageHeader, FramingError> {
        self.headers
            .parse(octets)
            .ok_or(FramingError::Header(error))
    }

    /// As `next_plain_request`, for a request with a short header in the byte order of
    /// this machine.
    #[inline]
    pub fn next_short_request(&self) -> Option<MessageHeader> {
        let octets = self.received();
        let header = MessageHeader::short_request(octets.first_chunk()?, self.request_form)?;
        (header.size as usize <= self.limit && total(&header) <= octets.len()).then_some(header)
    }

    /// The header of the next message, if it has arrived whole and is a plain reply: of
    /// GIOP 1.2 or with a short header, in the byte order of this machine. Otherwise
    /// `next` knows.
    #[inline]
    pub fn next_plain_reply(&self) -> Option<MessageHeader> {
        let octets = self.received();
        let head = octets.first_chunk()?;
        let header = match MessageHeader::plain_reply(head) {
            Some(header) => header,
            None => MessageHeader::short_reply(head, self.reply_form)?,
        };
        (header.size as usize <= self.limit && total(&header) <= octets.len()).then_some(header)
    }
}
