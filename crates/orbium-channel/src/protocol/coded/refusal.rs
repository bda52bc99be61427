// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stream errors for messages that a messaging protocol refuses.

use std::io;

use orbium_giop::HEADER_LEN;
use orbium_giop::messaging::MessagingError;

use crate::framing::Grouped;

/// The error for a message, of which at most `limit` octets are allowed.
#[cold]
pub(super) fn refused(error: MessagingError, limit: usize) -> io::Error {
    let kind = io::ErrorKind::InvalidData;
    if error != MessagingError::TooLarge {
        return io::Error::new(kind, error);
    }
    // The configured limit: see `CodedStream::new`.
    let limit = Grouped(limit.saturating_sub(HEADER_LEN));
    io::Error::new(
        kind,
        format!("message too large, limit {limit} bytes (`limits.message_size`)"),
    )
}
