// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that are dropped before they are read: as much of their headers as replies
//! need.

use orbium_giop::{HEADER_LEN, MessageHeader, MessageKind};

use super::event::{Cause, Refused};

/// Maximum octets of the header of a request that is too large; beyond that the connection is
/// closed.
pub(super) const HEAD: usize = 4096;

impl Refused {
    /// The refusal of the request with that message header, of which `begun` has arrived, from that
    /// header on; `None` for other messages, and if too little has arrived.
    #[must_use]
    pub fn of(header: &MessageHeader, begun: &[u8], cause: Cause) -> Option<Self> {
        refused(header, begun, cause)
    }
}

/// The refusal of a request of which `begun` has arrived, from its message header on; `None` for
/// other messages, and if too little has arrived.
pub(super) fn refused(header: &MessageHeader, begun: &[u8], cause: Cause) -> Option<Refused> {
    if header.kind != MessageKind::Request {
        return None;
    }
    let (request_id, expects_reply) = identified(header, begun)?;
    Some(Refused {
        version: header.version,
        request_id,
        expects_reply,
        octets: header.size as usize,
        cause,
    })
}

/// The id of a request, and whether its client expects a reply.
fn identified(header: &MessageHeader, begun: &[u8]) -> Option<(u32, bool)> {
    if let Some(read) = read_header(header, begun) {
        return Some(read);
    }
    let (_, after) = begun.split_first_chunk::<HEADER_LEN>()?;
    // From GIOP 1.2 on both are first, before contexts of any size.
    let mut after = after.to_vec();
    let mut reader = header.reader(&mut after);
    let has_id = header.format().minor >= 2;
    let id = reader.read_u32().ok().filter(|_| has_id)?;
    Some((id, reader.read_u8().ok()? & 3 != 0))
}

/// The same, if the whole request header has arrived.
pub(super) fn read_header(header: &MessageHeader, begun: &[u8]) -> Option<(u32, bool)> {
    let (head, after) = begun.split_first_chunk()?;
    // The message header contains both.
    if header.is_short() {
        let (id, response) = MessageHeader::short_asked(head);
        return Some((id, response.expects_reply()));
    }
    let mut after = after.to_vec();
    let request = header.read_request(head, &mut header.reader(&mut after));
    let request = request.ok()?;
    Some((request.request_id, request.response.expects_reply()))
}
