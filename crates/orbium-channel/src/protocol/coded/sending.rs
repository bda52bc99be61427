// SPDX-License-Identifier: MIT OR Apache-2.0
//! From GIOP messages to frames that are sent.

use std::io::{self, IoSlice};

use orbium_giop::messaging::{Encoder, Message, MessagingError};
use orbium_giop::{HEADER_LEN, MessageHeader};
use orbium_transport::ByteStream;

use super::refusal::refused;

/// A larger buffer is released after its message: up to this much may remain of a frame that a peer
/// does not receive at once.
const MAX_RETAINED_BUFFER: usize = 64 * 1024;

/// Maximum number of pieces sent at once: those of a message and a protocol's additions.
pub(super) const MAX_PIECES: usize = 20;

/// A frame of up to that many octets is copied together before it is sent, which costs less than a
/// gathered send.
const COPIED: usize = 4 * 1024;

/// The sending direction of a stream of frames.
pub(super) struct Sending {
    encoder: Box<dyn Encoder>,
    limit: usize,
    /// The start of a message of which the rest is not yet passed.
    begun: Vec<u8>,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// The unsent rest of the last frame.
    left: Vec<u8>,
    sent: usize,
    /// Octets of the message in the frame, reported once the frame is sent: until then the caller
    /// passes them again.
    owed: usize,
}

/// Octets of the GIOP message that starts in the pieces, if they contain the header.
fn message_len(pieces: &[&[u8]], limit: usize) -> io::Result<Option<usize>> {
    let mut head = [0; HEADER_LEN];
    let mut at = 0;
    for piece in pieces {
        let count = piece.len().min(HEADER_LEN - at);
        head[at..at + count].copy_from_slice(&piece[..count]);
        at += count;
    }
    if at < HEADER_LEN {
        return Ok(None);
    }
    let header = MessageHeader::parse(&head).map_err(|error| refused(error.into(), limit))?;
    let len = HEADER_LEN + header.size as usize;
    if len > limit {
        return Err(refused(MessagingError::TooLarge, limit));
    }
    Ok(Some(len))
}

impl Sending {
    pub(super) fn new(encoder: Box<dyn Encoder>, limit: usize) -> Self {
        Self {
            encoder,
            limit,
            begun: Vec::new(),
            head: Vec::new(),
            tail: Vec::new(),
            left: Vec::new(),
            sent: 0,
            owed: 0,
        }
    }

    /// Takes the next message from the start of `pieces`, `given` octets in all, and
    /// sends its frame.
    pub(super) fn send(&mut self, inner: &dyn ByteStream, given: &[&[u8]]) -> io::Result<usize> {
        let count: usize = given.iter().map(|piece| piece.len()).sum();
        if self.owed > count {
            let what = "a send that is repeated must begin with the same octets";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        if self.owed > 0 {
            return self.flush(inner);
        }
        if count == 0 {
            // Lets the stream continue a handshake.
            return inner.send(&[]);
        }
        let begun = std::mem::take(&mut self.begun);
        let mut pieces = [&[][..]; MAX_PIECES];
        let Some(room) = pieces.get_mut(1..=given.len()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        room.copy_from_slice(given);
        pieces[0] = &begun;
        let pieces = &mut pieces[..=given.len()];
        match message_len(pieces, self.limit)? {
            Some(len) if len <= begun.len() + count => {
                cut(pieces, len);
                self.owed = len - begun.len();
                self.send_frame(inner, Message::new(pieces))
            }
            _ => {
                self.begun = pieces.concat();
                Ok(count)
            }
        }
    }

    /// As [`ByteStream::begun`].
    pub(super) fn begun(&self) -> usize {
        self.owed
    }

    fn send_frame(&mut self, inner: &dyn ByteStream, message: Message<'_>) -> io::Result<usize> {
        self.head.clear();
        self.tail.clear();
        let encoded = self
            .encoder
            .encode(message, &mut self.head, &mut self.tail)
            .map_err(|error| refused(error, self.limit))?;
        let len = self.head.len() + encoded.len() + self.tail.len();
        let octets = std::iter::once(&self.head[..])
            .chain(message.slices(encoded))
            .chain(std::iter::once(&self.tail[..]))
            .filter(|slice| !slice.is_empty());
        self.sent = 0;
        if len <= COPIED {
            self.left.clear();
            octets.for_each(|slice| self.left.extend_from_slice(slice));
            orbium_trace::probe!(MessagingSend);
            let sent = self.flush(inner);
            orbium_trace::probe!(IoSend);
            return sent;
        }
        let mut slices = [IoSlice::new(&[]); MAX_PIECES + 2];
        let mut count = 0;
        for slice in octets {
            slices[count] = IoSlice::new(slice);
            count += 1;
        }
        orbium_trace::probe!(MessagingSend);
        let sent = match inner.send_vectored(&slices[..count]) {
            Ok(sent) => sent,
            Err(error) if waits(&error) => 0,
            Err(error) => return Err(error),
        };
        orbium_trace::probe!(IoSend);
        if sent == len {
            self.fall_back();
            return Ok(std::mem::take(&mut self.owed));
        }
        self.left.clear();
        let mut before = sent;
        for slice in &slices[..count] {
            self.left
                .extend_from_slice(&slice[before.min(slice.len())..]);
            before = before.saturating_sub(slice.len());
        }
        self.flush(inner)
    }

    /// Releases the buffers of a large message.
    #[cold]
    fn fall_back(&mut self) {
        for buffer in [&mut self.head, &mut self.tail, &mut self.left] {
            if buffer.capacity() > MAX_RETAINED_BUFFER {
                *buffer = Vec::new();
            }
        }
    }

    /// Sends the rest of a frame; then the message is sent.
    fn flush(&mut self, inner: &dyn ByteStream) -> io::Result<usize> {
        while self.sent < self.left.len() {
            self.sent += inner.send(&self.left[self.sent..])?;
        }
        self.left.clear();
        self.fall_back();
        Ok(std::mem::take(&mut self.owed))
    }
}

/// Truncates the pieces to a total of that length.
fn cut(pieces: &mut [&[u8]], mut len: usize) {
    for piece in pieces {
        let taken = len.min(piece.len());
        *piece = &piece[..taken];
        len -= taken;
    }
}

fn waits(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}
