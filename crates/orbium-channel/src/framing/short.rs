// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages with short headers, and plain replies of either kind.

use orbium_cdr::ByteOrder;
use orbium_giop::{HEADER_LEN, HeaderError, MessageHeader, PlainReply};

use super::{Framing, FramingError};

impl Framing {
    /// The header of a message with a header other than GIOP's.
    pub(super) fn short_header(
        &self,
        octets: &[u8; HEADER_LEN],
        error: HeaderError,
    ) -> Result<MessageHeader, FramingError> {
        self.headers
            .parse(octets)
            .ok_or(FramingError::Header(error))
    }

    /// The next message, if it has arrived whole and is a plain reply: of GIOP 1.2 or with a short
    /// header, in native byte order. Returns its header and fields. Otherwise the caller calls
    /// `next`.
    #[inline(always)]
    pub fn next_plain_reply(&self) -> Option<(MessageHeader, PlainReply)> {
        let octets = self.received();
        let head = octets.first_chunk()?;
        if let Some(header) = MessageHeader::plain_reply(head) {
            let reply = PlainReply::find(self.whole(header.size, octets)?, ByteOrder::NATIVE)?;
            return Some((header, reply));
        }
        let (size, status) = self.usual.reply_size(head)?;
        let reply = PlainReply::find_short(self.whole(size, octets)?, status)?;
        Some((self.usual.reply(size), reply))
    }
}
