// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that are dropped before they are read: as much of their headers as replies
//! need.

use orbium_giop::{MessageHeader, MessageKind, RequestHeader};

use super::event::{Cause, Refused};

/// Octets of a request header at most, before a request that is too large is given up
/// with its connection.
pub(super) const HEAD: usize = 4096;

/// The refusal of a request of which `begins` is known, behind its message header;
/// `None` if it is no request, or too little is there.
pub(super) fn refused(header: &MessageHeader, begins: &[u8], cause: Cause) -> Option<Refused> {
    // Only servers are sent short ones, and those read them themselves.
    if header.kind != MessageKind::Request || header.is_short() {
        return None;
    }
    let (request_id, expects_reply) = identified(header, begins)?;
    Some(Refused {
        version: header.version,
        request_id,
        expects_reply,
        octets: header.size as usize,
        cause,
    })
}

/// The id of a request, and whether its client waits for a reply.
fn identified(header: &MessageHeader, begins: &[u8]) -> Option<(u32, bool)> {
    let minor_version = header.format().minor;
    if let Some(read) = read_header(header, begins) {
        return Some(read);
    }
    // From GIOP 1.2 on both stand first, before contexts of whatever size.
    let mut octets = begins.to_vec();
    let mut reader = header.reader(&mut octets);
    let id = reader.read_u32().ok().filter(|_| minor_version >= 2)?;
    Some((id, reader.read_u8().ok()? & 3 != 0))
}

/// The same, if the whole request header is there.
pub(super) fn read_header(header: &MessageHeader, begins: &[u8]) -> Option<(u32, bool)> {
    let mut octets = begins.to_vec();
    let mut reader = header.reader(&mut octets);
    let request = RequestHeader::read(&mut reader, header.format().minor).ok()?;
    Some((request.request_id, request.response.expects_reply()))
}
