// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiving direction: passes ciphertext from the socket to rustls, and returns the decrypted
//! data.

use std::io::Read;

use rustls::Connection;

use crate::TlsFailure;

/// Initial size of a receive in bytes of ciphertext: many small messages at once.
const SMALL: usize = 8 * 1024;

/// Size of a receive once that many bytes arrive at a time.
const LARGE: usize = 64 * 1024;

/// Number of consecutive small receives after which a large buffer is released.
const SMALL_IN_A_ROW: u32 = 16;

/// Whether more data can arrive.
#[derive(Debug)]
enum State {
    Open,
    /// The peer sent close_notify.
    Ended,
    Failed(TlsFailure),
}

/// Received data that are not yet consumed.
///
/// rustls takes 4 KiB at a time. With the buffer before it, a large message takes few system calls,
/// and no lock on rustls is held while a thread waits for the socket.
#[derive(Debug)]
pub(crate) struct Receiving {
    /// Initialised bytes; those from `start` to `end` are ciphertext that rustls
    /// has not taken.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Number of consecutive receives for which a small buffer would have sufficed.
    small_receives: u32,
    /// The end of the ciphertext that rustls has taken.
    position: RecordPosition,
    /// Maximum bytes that rustls has decrypted and stored.
    plain: usize,
    state: State,
}

impl Receiving {
    pub(crate) fn new() -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            end: 0,
            small_receives: 0,
            position: RecordPosition::default(),
            plain: 0,
            state: State::Open,
        }
    }

    /// Whether there is something to return without receiving: data, the end or a failure.
    pub(crate) fn has_news(&self) -> bool {
        self.plain > 0 || !matches!(self.state, State::Open)
    }

    /// Whether the peer sent close_notify.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    /// The reason why nothing more can be received.
    pub(crate) fn failure(&self) -> Option<&TlsFailure> {
        match &self.state {
            State::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    /// Whether a record has begun to arrive.
    pub(crate) fn is_partial(&self) -> bool {
        self.start != self.end || self.position.is_within()
    }

    /// Whether part of a record was received, and nothing can be returned before the rest arrives.
    pub(crate) fn is_midway(&self) -> bool {
        !self.has_news() && self.is_partial()
    }

    /// The room for more ciphertext. rustls must have taken the previous one.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        let (received, held) = (self.end, self.buffer.len());
        (self.start, self.end) = (0, 0);
        self.small_receives = if received < SMALL {
            (self.small_receives + 1).min(SMALL_IN_A_ROW)
        } else {
            0
        };
        if held < SMALL {
            self.buffer.resize(SMALL, 0);
        } else if received == held {
            self.buffer.resize((2 * held).min(LARGE), 0);
        } else if held > SMALL && self.small_receives >= SMALL_IN_A_ROW {
            self.buffer.truncate(SMALL);
            self.buffer.shrink_to_fit();
        }
        &mut self.buffer
    }

    /// Adds that many bytes of ciphertext, which were written to the room.
    pub(crate) fn add(&mut self, count: usize) {
        self.end += count;
    }

    /// Passes ciphertext to rustls until it has data, or all is passed.
    pub(crate) fn feed(&mut self, connection: &mut Connection) {
        while self.plain == 0 && self.start < self.end && matches!(self.state, State::Open) {
            if let Err(error) = self.feed_once(connection) {
                let is_client = matches!(connection, Connection::Client(_));
                self.state = State::Failed(TlsFailure::from_rustls(error, is_client));
                // Data of previous records may exist.
                self.plain = usize::MAX;
            }
        }
    }

    fn feed_once(&mut self, connection: &mut Connection) -> Result<(), rustls::Error> {
        let ciphertext = &self.buffer[self.start..self.end];
        // From memory: fails only if rustls would have to store too much.
        let taken = connection
            .read_tls(&mut &*ciphertext)
            .map_err(|error| rustls::Error::General(error.to_string()))?;
        self.position.advance(&ciphertext[..taken]);
        self.start += taken;
        let state = connection.process_new_packets()?;
        self.plain = state.plaintext_bytes_to_read();
        if state.peer_has_closed() {
            self.state = State::Ended;
        }
        Ok(())
    }

    /// Copies data into `room`, and decrypts one record ahead to keep `has_news` up to date.
    ///
    /// # Errors
    /// The reason why nothing more can be received, once all previous data are delivered.
    #[inline]
    pub(crate) fn deliver(
        &mut self,
        room: &mut [u8],
        connection: &mut Connection,
    ) -> Result<usize, TlsFailure> {
        let mut delivered = 0;
        loop {
            if self.plain > 0 && delivered < room.len() {
                match connection.reader().read(&mut room[delivered..]) {
                    Ok(count @ 1..) => {
                        delivered += count;
                        self.plain -= count;
                    }
                    // No data remain, in any state.
                    _ => self.plain = 0,
                }
            } else if self.plain > 0 {
                break;
            } else {
                self.feed(connection);
                if self.plain == 0 {
                    break;
                }
            }
        }
        match &self.state {
            State::Failed(failure) if delivered == 0 && self.plain == 0 => Err(failure.clone()),
            _ => Ok(delivered),
        }
    }
}

/// The position within a record, which rustls does not provide: waiting for the rest of a record is
/// not the same as waiting on an idle connection.
#[derive(Debug, Default)]
struct RecordPosition {
    header: [u8; Self::HEADER],
    /// Bytes of the header received so far.
    known: usize,
    /// Missing bytes of the record after the header.
    missing: usize,
}

impl RecordPosition {
    /// Kind, version, length (RFC 8446, 5.1).
    const HEADER: usize = 5;

    fn advance(&mut self, mut octets: &[u8]) {
        while !octets.is_empty() {
            let count;
            if self.known < Self::HEADER {
                count = octets.len().min(Self::HEADER - self.known);
                self.header[self.known..self.known + count].copy_from_slice(&octets[..count]);
                self.known += count;
                let [_, _, _, high, low] = self.header;
                self.missing = usize::from(u16::from_be_bytes([high, low]));
            } else {
                count = octets.len().min(self.missing);
                self.missing -= count;
            }
            if self.known == Self::HEADER && self.missing == 0 {
                self.known = 0;
            }
            octets = &octets[count..];
        }
    }

    fn is_within(&self) -> bool {
        self.known > 0
    }
}

#[cfg(test)]
mod tests {
    use super::RecordPosition;

    #[test]
    fn the_position_in_a_record_is_known_however_the_stream_is_cut() {
        let mut stream = Vec::new();
        let mut boundaries = vec![0];
        for length in [3_u16, 0, 300, 1] {
            stream.extend_from_slice(&[23, 3, 3]);
            stream.extend_from_slice(&length.to_be_bytes());
            stream.resize(stream.len() + usize::from(length), 7);
            boundaries.push(stream.len());
        }
        for step in 1..=stream.len() {
            let mut position = RecordPosition::default();
            let mut at = 0;
            for piece in stream.chunks(step) {
                position.advance(piece);
                at += piece.len();
                assert_eq!(
                    position.is_within(),
                    !boundaries.contains(&at),
                    "{step}, {at}"
                );
            }
        }
    }
}
