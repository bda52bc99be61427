// SPDX-License-Identifier: MIT OR Apache-2.0
//! CancelRequest messages (CORBA 3.3 Part 2, clause 9.4.4).

use orbium_cdr::{ByteOrder, CdrError, CdrReader};

use crate::message::header::{HEADER_LEN, MessageHeader, MessageKind, Version, u32_octets};

/// The requester no longer waits for a reply. Advisory: a reply may already be in transit, and the
/// requester then discards it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CancelRequest {
    /// Id of a Request or LocateRequest, of which fragments may be still unsent.
    pub request_id: u32,
}

impl CancelRequest {
    /// Reads the part after the message header.
    ///
    /// # Errors
    /// [`CdrErrorKind::Truncated`](orbium_cdr::CdrErrorKind).
    pub fn read(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        reader.read_u32().map(|request_id| Self { request_id })
    }

    /// The whole message.
    #[must_use]
    pub fn message(self, version: Version, order: ByteOrder) -> [u8; HEADER_LEN + 4] {
        let header = MessageHeader {
            version,
            order,
            more_fragments: false,
            kind: MessageKind::CancelRequest,
            size: 4,
        };
        let mut message = [0; HEADER_LEN + 4];
        message[..HEADER_LEN].copy_from_slice(&header.encode());
        message[HEADER_LEN..].copy_from_slice(&u32_octets(self.request_id, order));
        message
    }
}
