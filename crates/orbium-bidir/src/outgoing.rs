// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sending direction of a bidirectional connection: message boundaries, and whole messages
//! collected from the calling halves.

use std::io::{self, IoSlice};

use orbium_cdr::ByteOrder;
use orbium_channel::receive_buffer::SMALL;
use orbium_giop::{HEADER_LEN, MessageHeader, MessageKind, service_context};

use crate::pending_requests::{Call, Calls, HalfId};

/// Header and request id.
const HEAD: usize = HEADER_LEN + 4;

/// A number in that byte order.
fn number(order: ByteOrder, octets: [u8; 4]) -> u32 {
    let number = u32::from_ne_bytes(octets);
    if order.is_foreign() {
        number.swap_bytes()
    } else {
        number
    }
}

/// The bytes of a number in that order.
pub(crate) fn octets(order: ByteOrder, value: u32) -> [u8; 4] {
    if order.is_foreign() {
        value.swap_bytes().to_ne_bytes()
    } else {
        value.to_ne_bytes()
    }
}

/// Finds the ends of messages in bytes that are sent in pieces.
#[derive(Debug, Default)]
pub(crate) struct Boundary {
    head: [u8; HEADER_LEN],
    have: usize,
    left: usize,
}

impl Boundary {
    /// Whether no message is partly sent.
    pub(crate) fn is_between(&self) -> bool {
        self.have == 0 && self.left == 0
    }

    /// So many bytes of the pieces were sent.
    pub(crate) fn pass(&mut self, pieces: &[IoSlice<'_>], mut sent: usize) {
        for piece in pieces {
            let now = &piece[..piece.len().min(sent)];
            sent -= now.len();
            self.pass_bytes(now);
        }
    }

    fn pass_bytes(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.left > 0 {
                let now = self.left.min(bytes.len());
                self.left -= now;
                bytes = &bytes[now..];
                continue;
            }
            let now = (HEADER_LEN - self.have).min(bytes.len());
            self.head[self.have..self.have + now].copy_from_slice(&bytes[..now]);
            self.have += now;
            bytes = &bytes[now..];
            if self.have == HEADER_LEN {
                self.have = 0;
                // The ORB's own messages have headers.
                self.left = MessageHeader::parse(&self.head).map_or(0, |it| it.size as usize);
            }
        }
    }
}

/// Collects the bytes that a calling half sends to whole messages.
#[derive(Debug, Default)]
pub(crate) struct Collected(Vec<u8>);

impl Collected {
    /// Bytes of the partly received message.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Bytes required next: those of the header, then all.
    fn wanted(&self) -> io::Result<usize> {
        let Some(head) = self.0.first_chunk::<HEADER_LEN>() else {
            return Ok(HEADER_LEN);
        };
        let header = MessageHeader::parse(head).map_err(|_| io::ErrorKind::InvalidInput)?;
        Ok(HEADER_LEN + header.size as usize)
    }

    /// Adds the bytes that belong to this message; returns their number.
    ///
    /// # Errors
    /// The bytes are not a GIOP message.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut taken = 0;
        while taken < bytes.len() {
            let missing = self.wanted()? - self.0.len();
            if missing == 0 {
                break;
            }
            let end = bytes.len().min(taken + missing);
            self.0.extend_from_slice(&bytes[taken..end]);
            taken = end;
        }
        Ok(taken)
    }

    /// The message, if it is whole.
    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        let is_whole = self.wanted().is_ok_and(|wanted| wanted == self.0.len());
        is_whole.then(|| std::mem::take(&mut self.0))
    }

    /// Restores the beginning of a message.
    pub(crate) fn restore(&mut self, begun: Vec<u8>) {
        self.0 = begun;
    }

    /// Recycles the buffer of a sent message.
    pub(crate) fn recycle(&mut self, mut message: Vec<u8>) {
        if message.capacity() <= SMALL {
            message.clear();
            self.0 = message;
        }
    }
}

/// Whether a message would end its connection, which one half must not do. It is not queued for
/// sending: the server engine may have its last replies to send at that time.
pub(crate) fn ends_connection(message: &[u8]) -> bool {
    let head = message.first_chunk::<HEADER_LEN>();
    let header = head.and_then(|head| MessageHeader::parse(head).ok());
    header.is_some_and(|it| {
        matches!(
            it.kind,
            MessageKind::CloseConnection | MessageKind::MessageError
        )
    })
}

/// Sets the id of a calling half's message on the wire, and inserts `announcement`, preceded by its
/// number, as a service context if it is a request. `false` if it must not be sent: a message for
/// an abandoned request is obsolete.
///
/// # Errors
/// The message is older than GIOP 1.2, which does not support bidirectional use.
pub(crate) fn prepare(
    message: &mut Vec<u8>,
    half: HalfId,
    calls: &mut Calls,
    announcement: Option<(u32, &[u8])>,
) -> io::Result<bool> {
    let head = message.first_chunk::<HEADER_LEN>();
    let header = head.and_then(|head| MessageHeader::parse(head).ok());
    let header = header.ok_or(io::ErrorKind::InvalidInput)?;
    match header.kind {
        MessageKind::Reply | MessageKind::LocateReply => return Err(refused()),
        _ if header.version.minor < 2 || message.len() < HEAD => return Err(refused()),
        _ => {}
    }
    let mut id = [0; 4];
    id.copy_from_slice(&message[HEADER_LEN..HEAD]);
    let local = number(header.order, id);
    let id = match header.kind {
        MessageKind::Request | MessageKind::LocateRequest => {
            let is_oneway = header.kind == MessageKind::Request && message.get(HEAD) == Some(&0);
            let is_answered = !is_oneway;
            let carried = announcement.filter(|_| header.kind == MessageKind::Request);
            let id = calls.begin(Call {
                half,
                local,
                is_answered,
                announced: carried.map_or(0, |(number, _)| number),
            });
            if is_oneway && !header.more_fragments {
                calls.end(id);
            }
            id
        }
        kind => {
            let Some(id) = calls.id_of(half, local) else {
                return Ok(false);
            };
            let is_answered = calls.get(id).is_some_and(|call| call.is_answered);
            let is_last = kind == MessageKind::Fragment && !header.more_fragments;
            if kind == MessageKind::CancelRequest || is_last && !is_answered {
                calls.end(id);
            }
            id
        }
    };
    message[HEADER_LEN..HEAD].copy_from_slice(&octets(header.order, id));
    if let (Some((_, data)), MessageKind::Request) = (announcement, header.kind) {
        announce(message, &header, data);
    }
    Ok(true)
}

fn refused() -> io::Error {
    io::ErrorKind::Unsupported.into()
}

/// Inserts a service context before the others of a GIOP 1.2 request. It has a multiple of eight
/// bytes, so that all data after it keep their alignment; an encapsulation may be longer than its
/// contents.
fn announce(message: &mut Vec<u8>, header: &MessageHeader, data: &[u8]) {
    let Some(at) = contexts_of(message, header.order) else {
        return;
    };
    let len = data.len().next_multiple_of(8);
    let (Ok(count), Ok(added)) = (u32::try_from(len), u32::try_from(len + 8)) else {
        return;
    };
    let Some(size) = header.size.checked_add(added) else {
        return;
    };
    let order = header.order;
    let Some(contexts) = number_at(message, at, order).and_then(|it| it.checked_add(1)) else {
        return;
    };
    let mut context = Vec::with_capacity(len + 8);
    context.extend_from_slice(&octets(order, service_context::BI_DIR_IIOP));
    context.extend_from_slice(&octets(order, count));
    context.extend_from_slice(data);
    context.resize(len + 8, 0);
    message[at..at + 4].copy_from_slice(&octets(order, contexts));
    message.splice(at + 4..at + 4, context);
    let header = MessageHeader { size, ..*header };
    message[..HEADER_LEN].copy_from_slice(&header.encode());
}

fn number_at(message: &[u8], at: usize, order: ByteOrder) -> Option<u32> {
    let octets = message.get(at..)?.first_chunk()?;
    Some(number(order, *octets))
}

/// Offset of the count of service contexts in a request of GIOP 1.2; `None` if it follows a whole
/// reference, or is in a later fragment.
fn contexts_of(message: &[u8], order: ByteOrder) -> Option<usize> {
    /// Request id, response flags, three reserved bytes.
    const TARGET: usize = HEADER_LEN + 8;
    let disposition = *message.get(TARGET..)?.first_chunk()?;
    let disposition = if order.is_foreign() {
        u16::from_ne_bytes(disposition).swap_bytes()
    } else {
        u16::from_ne_bytes(disposition)
    };
    // Alignment is relative to the beginning of the message.
    let key = match disposition {
        0 => TARGET + 4,
        // Behind the tag of the profile.
        1 => TARGET + 8,
        _ => return None,
    };
    let behind = |at: usize| {
        let len = number_at(message, at, order)? as usize;
        let end = at.checked_add(4)?.checked_add(len)?;
        end.checked_next_multiple_of(4)
    };
    let operation = behind(key)?;
    let contexts = behind(operation)?;
    // The announcement is not split by the end of a fragment.
    message.get(contexts..contexts + 4).map(|_| contexts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use orbium_cdr::{CdrWriter, Format};
    use orbium_giop::{Version, close_connection};

    /// A request with a key, an operation, a service context and a body of a double.
    fn request(order: ByteOrder, id: u32, flags: u8, key: &[u8], operation: &str) -> Vec<u8> {
        let mut writer = CdrWriter::new(Format::plain(order, 2));
        writer.write_raw(&[0; HEADER_LEN]);
        writer.write_u32(id);
        writer.write_u32(if order == ByteOrder::Little {
            u32::from(flags)
        } else {
            u32::from(flags) << 24
        });
        writer.write_u16(0);
        writer.write_count(key.len());
        writer.write_raw(key);
        writer.write_name(operation);
        writer.write_u32(1);
        writer.write_u32(77);
        writer.write_count(3);
        writer.write_raw(b"abc");
        writer.write_u64(0.5_f64.to_bits());
        let mut octets = writer.finish().unwrap();
        let header = MessageHeader {
            version: Version::V1_2,
            order,
            more_fragments: false,
            kind: MessageKind::Request,
            size: (octets.len() - HEADER_LEN) as u32,
        };
        octets[..HEADER_LEN].copy_from_slice(&header.encode());
        octets
    }

    #[test]
    fn a_request_gets_its_id_and_the_announcement() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for (key, operation) in [(&b"k"[..], "op"), (&b"key12"[..], "operation")] {
                let mut calls = Calls::new(false);
                let mut message = request(order, 40, 3, key, operation);
                let before = message.clone();
                let sent = prepare(&mut message, HalfId(1), &mut calls, Some((1, b"\x01data")));
                assert!(sent.unwrap());
                let header = MessageHeader::parse(message.first_chunk().unwrap()).unwrap();
                assert_eq!(header.size as usize, message.len() - HEADER_LEN);
                assert_eq!(message.len(), before.len() + 16);
                let (head, body) = message.split_at_mut(HEADER_LEN);
                let head: [u8; HEADER_LEN] = (*head).try_into().unwrap();
                let mut reader = header.reader(body);
                let request = header.read_request(&head, &mut reader).unwrap();
                assert_eq!(request.request_id, 1);
                assert_eq!(request.operation, operation.as_bytes());
                let point = request.contexts.find(service_context::BI_DIR_IIOP);
                assert_eq!(point, Some(&b"\x01data\0\0\0"[..]));
                assert_eq!(request.contexts.find(77), Some(&b"abc"[..]));
                reader.align(8).unwrap();
                assert_eq!(reader.read_u64().unwrap(), 0.5_f64.to_bits());
                assert_eq!(calls.id_of(HalfId(1), 40), Some(1));
            }
        }
    }

    #[test]
    fn a_oneway_is_not_waited_for_and_a_cancelled_request_is_forgotten() {
        let mut calls = Calls::new(true);
        let mut oneway = request(ByteOrder::NATIVE, 2, 0, b"k", "op");
        assert!(prepare(&mut oneway, HalfId(1), &mut calls, None).unwrap());
        assert_eq!(calls.id_of(HalfId(1), 2), None);
        let mut twoway = request(ByteOrder::NATIVE, 4, 3, b"k", "op");
        assert!(prepare(&mut twoway, HalfId(1), &mut calls, None).unwrap());
        let request_id = 4;
        let cancel = orbium_giop::CancelRequest { request_id };
        let mut cancel = cancel.message(Version::V1_2, ByteOrder::NATIVE).to_vec();
        assert!(prepare(&mut cancel, HalfId(1), &mut calls, None).unwrap());
        assert_eq!(cancel[HEADER_LEN..], twoway[HEADER_LEN..HEAD]);
        assert_eq!(calls.id_of(HalfId(1), 4), None);
        assert!(!prepare(&mut cancel, HalfId(1), &mut calls, None).unwrap());
    }

    #[test]
    fn one_half_does_not_end_the_connection_and_old_requests_are_refused() {
        let mut calls = Calls::new(true);
        let close = close_connection(Version::V1_2);
        assert!(ends_connection(&close));
        let mut old = request(ByteOrder::NATIVE, 2, 3, b"k", "op");
        old[5] = 1;
        assert!(prepare(&mut old, HalfId(1), &mut calls, None).is_err());
    }

    #[test]
    fn the_end_of_a_message_is_known_however_it_is_sent() {
        let message = request(ByteOrder::NATIVE, 2, 3, b"key", "op");
        let two = [message.clone(), message.clone()].concat();
        for cut in 1..two.len() {
            let mut boundary = Boundary::default();
            boundary.pass(&[IoSlice::new(&two)], cut);
            assert_eq!(boundary.is_between(), cut == message.len(), "{cut}");
            boundary.pass(&[IoSlice::new(&two[cut..])], two.len() - cut);
            assert!(boundary.is_between());
        }
        let mut collected = Collected::default();
        for end in [5, 20, two.len()] {
            assert_eq!(collected.take(), None);
            let begun = collected.len();
            let taken = collected.add(&two[begun..end]).unwrap();
            assert_eq!(collected.len(), begun + taken);
        }
        // No more than the first message.
        assert_eq!(collected.take().as_ref(), Some(&message));
        collected.add(&message).unwrap();
        assert_eq!(collected.take().as_ref(), Some(&message));
        assert_eq!(collected.take(), None);
    }
}
