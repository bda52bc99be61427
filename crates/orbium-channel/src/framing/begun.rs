// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inspection of the beginning of a message, and the reply in place of one that exceeds
//! memory.

use orbium_cdr::{CdrWriter, Format};
use orbium_giop::{
    Completion, HEADER_LEN, MessageHeader, MessageKind, ReplyHeader, ReplyStatus, SystemException,
    SystemExceptionBody, begin_reply, finish_message,
};

use crate::peer_memory::NoMemory;

/// The id of the request to which a partly received reply belongs.
pub fn answered_by(header: &MessageHeader, begun: &[u8]) -> Option<u32> {
    let (head, rest) = begun.split_first_chunk()?;
    if header.is_short() {
        return Some(MessageHeader::short_id(head));
    }
    let mut rest = rest.to_vec();
    let reply = ReplyHeader::read(&mut header.reader(&mut rest), header.format().minor);
    reply.ok().map(|reply| reply.request_id)
}

/// Whether received bytes begin with a whole request.
#[inline]
pub fn begins_with_request(octets: &[u8]) -> bool {
    match octets.first_chunk().and_then(MessageHeader::plain_request) {
        Some(header) => octets.len() >= total(&header),
        None => begins_with_any_request(octets),
    }
}

fn begins_with_any_request(octets: &[u8]) -> bool {
    let Some(header) = octets.first_chunk().and_then(MessageHeader::parse_any) else {
        return false;
    };
    header.kind == MessageKind::Request && !header.more_fragments && octets.len() >= total(&header)
}

/// The reply that replaces one for which there is no memory.
pub fn refusal(header: &MessageHeader, request_id: u32) -> Vec<u8> {
    failure(header, request_id, NoMemory::exception(Completion::Maybe))
}

/// The reply with an exception that replaces one with that header.
pub(crate) fn failure(
    header: &MessageHeader,
    request_id: u32,
    exception: SystemException,
) -> Vec<u8> {
    let mut writer = CdrWriter::new(Format::plain(header.order, header.format().minor));
    let status = ReplyStatus::SystemException;
    let start = begin_reply(&mut writer, header.version, request_id, status, &[]);
    SystemExceptionBody::from(exception).write(&mut writer);
    finish_message(&mut writer, start);
    // No written value can fail.
    writer.finish().unwrap_or_default()
}

/// Bytes of a message, header included.
#[inline]
pub(super) fn total(header: &MessageHeader) -> usize {
    HEADER_LEN + header.size as usize
}
