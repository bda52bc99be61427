// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading the request id of a message.

use orbium_giop::{HEADER_LEN, MessageHeader, MessageKind};

/// Maximum number of service contexts skipped to find the id of a message of an old version.
const MAX_CONTEXTS: u32 = 1024;

/// The id of the request to which a message belongs; `None` if it has none, or if the octets do not
/// include it.
#[must_use]
pub fn request_id(header: &MessageHeader, message: &[u8]) -> Option<u32> {
    let number = |at: usize| {
        let octets = message.get(at..)?.first_chunk()?;
        Some(match header.order {
            orbium_cdr::ByteOrder::Big => u32::from_be_bytes(*octets),
            orbium_cdr::ByteOrder::Little => u32::from_le_bytes(*octets),
        })
    };
    let is_old = header.version.minor < 2;
    match header.kind {
        MessageKind::Fragment if is_old => None,
        // The service contexts precede it.
        MessageKind::Request | MessageKind::Reply if is_old => {
            let mut at = HEADER_LEN;
            let contexts = number(at)?;
            if contexts > MAX_CONTEXTS {
                return None;
            }
            at += 4;
            for _ in 0..contexts {
                let len = usize::try_from(number(at + 4)?).ok()?;
                at = (at + 8).checked_add(len)?.checked_next_multiple_of(4)?;
            }
            number(at)
        }
        MessageKind::CloseConnection | MessageKind::MessageError => None,
        _ if header.is_short() => message.first_chunk().map(MessageHeader::short_id),
        _ => number(HEADER_LEN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orbium_cdr::{ByteOrder, CdrWriter, Format};
    use orbium_giop::{CancelRequest, Version, close_connection};

    fn header(message: &[u8]) -> MessageHeader {
        MessageHeader::parse(message.first_chunk().unwrap()).unwrap()
    }

    #[test]
    fn ids_are_found_behind_the_service_contexts_of_old_versions() {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let mut writer = CdrWriter::new(Format::plain(order, 0));
            writer.write_raw(b"GIOP\x01\x00");
            writer.write_raw(&[u8::from(order == ByteOrder::Little), 1]);
            writer.write_u32(0);
            writer.write_u32(2);
            for data in [&b"abcde"[..], b""] {
                writer.write_u32(7);
                writer.write_octets(data);
            }
            writer.write_u32(4711);
            let message = writer.finish().unwrap();
            assert_eq!(request_id(&header(&message), &message), Some(4711));
            for end in HEADER_LEN..message.len() {
                assert_eq!(request_id(&header(&message), &message[..end]), None);
            }
        }
    }

    #[test]
    fn other_messages_have_theirs_first_or_none() {
        let message = CancelRequest { request_id: 5 }.message(Version::V1_2, ByteOrder::NATIVE);
        assert_eq!(request_id(&header(&message), &message), Some(5));
        let message = close_connection(Version::V1_2);
        assert_eq!(request_id(&header(&message), &message), None);
    }
}
