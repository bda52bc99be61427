// SPDX-License-Identifier: MIT OR Apache-2.0
//! Detection of a peer that has already ended a connection about to be closed.

use std::io;
use std::time::Duration;

use orbium_giop::{HEADER_LEN, MessageHeader, MessageKind};
use orbium_sys::{Interest, wait_for};
use orbium_transport::ByteStream;

use crate::bidirectional::BidirectionalHalf;
use crate::connection::Delivery;

/// Maximum number of receives: late replies may precede the end.
const MAX_RECEIVES: usize = 4;

/// Bounds a receive of an incomplete TLS record.
const MAX_RECEIVE_TIME: Duration = Duration::from_millis(1);

/// Whether the peer has closed the connection, with a CloseConnection that was received before
/// (`is_closing`) or is unread, or without. Receives and discards the available bytes, so no other
/// thread may be receiving.
#[cold]
pub fn has_peer_ended(is_closing: bool, stream: &dyn ByteStream) -> bool {
    is_closing || has_stream_ended(stream)
}

fn has_stream_ended(stream: &dyn ByteStream) -> bool {
    if let Some(half) = BidirectionalHalf::of(stream).filter(|half| half.is_delivered()) {
        return has_half_ended(half, stream);
    }
    let mut octets = [0; 512];
    for _ in 0..MAX_RECEIVES {
        if !is_readable(stream) {
            return false;
        }
        if stream
            .set_timeouts(Some(Some(MAX_RECEIVE_TIME)), None)
            .is_err()
        {
            return true;
        }
        match stream.receive(&mut octets) {
            Ok(0) => return true,
            Ok(length) if octets[..length].last_chunk().is_some_and(is_close) => return true,
            Ok(_) => {}
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock
                | io::ErrorKind::TimedOut
                | io::ErrorKind::Interrupted => {}
                _ => return true,
            },
        }
    }
    false
}

/// The same for one half of a bidirectional connection, to which messages are delivered.
fn has_half_ended(half: &BidirectionalHalf, stream: &dyn ByteStream) -> bool {
    while stream.has_buffered() {
        if !matches!(stream.receive(&mut []), Ok(1..)) {
            return true;
        }
        if let Some(Delivery::Event(_)) = half.deliveries().take(Vec::new()) {
            return true;
        }
    }
    false
}

fn is_readable(stream: &dyn ByteStream) -> bool {
    let source = stream.source();
    let ready = wait_for([(&source, Interest::Read)], Some(Duration::ZERO));
    stream.has_buffered() || ready.ok() == Some([true])
}

fn is_close(header: &[u8; HEADER_LEN]) -> bool {
    let header = MessageHeader::parse(header);
    header.is_ok_and(|header| header.kind == MessageKind::CloseConnection)
}
