// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that consist of a header only: CloseConnection and MessageError
//! (CORBA 3.3 Part 2, clauses 9.4.7 and 9.4.8).

use orbium_cdr::ByteOrder;

use crate::message::header::{HEADER_LEN, MessageHeader, MessageKind, Version};

/// The whole CloseConnection message. In GIOP 1.0 and 1.1 only the server may
/// send it.
#[must_use]
pub const fn close_connection(version: Version) -> [u8; HEADER_LEN] {
    header_only(version, MessageKind::CloseConnection)
}

/// The whole MessageError message. Its version is the highest that the sender supports, which shows
/// the peer the reason.
#[must_use]
pub const fn message_error(version: Version) -> [u8; HEADER_LEN] {
    header_only(version, MessageKind::MessageError)
}

const fn header_only(version: Version, kind: MessageKind) -> [u8; HEADER_LEN] {
    MessageHeader {
        version,
        order: ByteOrder::NATIVE,
        more_fragments: false,
        kind,
        size: 0,
    }
    .encode()
}
