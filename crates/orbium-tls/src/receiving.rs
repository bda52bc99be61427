// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receiving direction: from ciphertext in a buffer to octets.

use std::ops::Range;

use crate::control::Control;
use crate::record::{self, HEADER, LARGEST_SEALED, Protection, RecordError, kind};
use crate::{TlsFailure, TlsVersion, alert};

/// Octets of ciphertext asked for at first: many small messages at once.
const SMALL: usize = 8 * 1024;

/// Octets asked for once as many arrive at a time.
const LARGE: usize = 4 * (HEADER + LARGEST_SEALED);

/// Records in a row that bring nothing, after which the peer is taken to mean
/// harm.
const MOST_BARREN: u32 = 32;

/// Octets of the largest message about keys and tickets.
const LARGEST_HANDSHAKE: usize = 128 * 1024;

/// Why nothing more can be received, and what to tell the peer.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) failure: TlsFailure,
    /// `None` if it was the peer that told us.
    pub(crate) alert: Option<u8>,
}

impl Fault {
    fn protocol(alert: u8, what: &str) -> Self {
        Self {
            failure: TlsFailure::Protocol(what.to_owned()),
            alert: Some(alert),
        }
    }
}

impl From<RecordError> for Fault {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Unexpected => {
                Self::protocol(alert::UNEXPECTED_MESSAGE, "a record of a kind out of place")
            }
            RecordError::TooLong => Self::protocol(alert::RECORD_OVERFLOW, "a record too long"),
            RecordError::Forged => Self {
                failure: TlsFailure::Damaged,
                alert: Some(alert::BAD_RECORD_MAC),
            },
        }
    }
}

/// Whether more can come.
#[derive(Debug)]
enum State {
    Open,
    /// The peer said that it sends nothing more.
    Ended,
    Failed(Fault),
}

/// What was received, opened or not.
#[derive(Debug)]
pub(crate) struct Receiving {
    protection: Protection,
    /// Initialised octets; those from `start` to `end` are ciphertext.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Octets opened and not taken yet, before `start`.
    plain: Range<usize>,
    /// A message about keys or tickets that has begun.
    handshake: Vec<u8>,
    barren: u32,
    state: State,
}

impl Receiving {
    /// With the ciphertext that came behind the handshake.
    pub(crate) fn new(protection: Protection, buffer: Vec<u8>) -> Self {
        Self {
            protection,
            start: 0,
            end: buffer.len(),
            buffer,
            plain: 0..0,
            handshake: Vec::new(),
            barren: 0,
            state: State::Open,
        }
    }

    /// Whether there is something to tell without receiving: octets, the end or
    /// a failure.
    pub(crate) fn has_news(&self) -> bool {
        !self.plain.is_empty() || !matches!(self.state, State::Open)
    }

    /// Whether the peer said that it sends nothing more.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    /// Whether a record has begun to arrive.
    pub(crate) fn is_partial(&self) -> bool {
        self.start != self.end
    }

    /// Whether part of something was received, and nothing can be told before
    /// its rest is there.
    pub(crate) fn is_midway(&self) -> bool {
        !self.has_news() && (self.is_partial() || !self.handshake.is_empty())
    }

    /// Octets of memory in use.
    pub(crate) fn held(&self) -> usize {
        self.buffer.capacity() + self.handshake.capacity()
    }

    /// Opens the next record with data, if it is there, so that `has_news` is
    /// right.
    pub(crate) fn settle(&mut self, control: &Control) {
        if self.plain.is_empty()
            && let Err(fault) = self.open_next(control)
        {
            self.state = State::Failed(fault);
        }
    }

    /// Copies what is there into `room`, and opens one record ahead.
    #[inline]
    pub(crate) fn deliver(&mut self, room: &mut [u8], control: &Control) -> Result<usize, Fault> {
        let mut delivered = 0;
        loop {
            let count = self.plain.len().min(room.len() - delivered);
            if count > 0 {
                let from = self.plain.start..self.plain.start + count;
                room[delivered..delivered + count].copy_from_slice(&self.buffer[from]);
                self.plain.start += count;
                delivered += count;
            }
            if !self.plain.is_empty() {
                return Ok(delivered);
            }
            self.settle(control);
            if self.plain.is_empty() {
                break;
            }
        }
        match &self.state {
            State::Failed(fault) if delivered == 0 => Err(fault.clone()),
            _ => Ok(delivered),
        }
    }

    /// Where more ciphertext goes. Nothing opened must be left.
    pub(crate) fn room(&mut self) -> Result<&mut [u8], Fault> {
        let was_filled = self.end == self.buffer.len();
        self.plain = 0..0;
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let record = record::length(&self.buffer[..self.end])?.unwrap_or(HEADER);
        let held = self.buffer.len();
        let wanted = if was_filled && held >= SMALL {
            (2 * held).min(LARGE)
        } else {
            held.max(SMALL)
        };
        let wanted = wanted.max(record);
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        Ok(&mut self.buffer[self.end..])
    }

    /// So many octets of ciphertext were put there.
    pub(crate) fn add(&mut self, count: usize) {
        self.end += count;
    }

    /// Opens records until one brings data, or none is there whole.
    fn open_next(&mut self, control: &Control) -> Result<(), Fault> {
        while let State::Open = self.state {
            let Some(length) = record::length(&self.buffer[self.start..self.end])? else {
                return Ok(());
            };
            if length > self.end - self.start {
                return Ok(());
            }
            let start = self.start;
            let record = &mut self.buffer[start..start + length];
            let (kind, plain) = self.protection.open(record)?;
            let plain = start + plain.start..start + plain.end;
            self.start += length;
            if kind == kind::DATA && !plain.is_empty() && self.handshake.is_empty() {
                self.plain = plain;
                self.barren = 0;
                return Ok(());
            }
            self.barren += 1;
            if self.barren > MOST_BARREN {
                let what = "many records without data";
                return Err(Fault::protocol(alert::UNEXPECTED_MESSAGE, what));
            }
            match kind {
                kind::DATA if self.handshake.is_empty() => {}
                kind::ALERT if self.handshake.is_empty() => self.take_alert(plain, control)?,
                kind::HANDSHAKE if !plain.is_empty() => self.take_handshake(plain, control)?,
                _ => return Err(RecordError::Unexpected.into()),
            }
        }
        Ok(())
    }

    #[cold]
    fn take_alert(&mut self, plain: Range<usize>, control: &Control) -> Result<(), Fault> {
        const WARNING: u8 = 1;
        let &[level, description] = &self.buffer[plain] else {
            return Err(Fault::protocol(alert::DECODE_ERROR, "a malformed alert"));
        };
        match (level, description) {
            (_, alert::CLOSE_NOTIFY) => self.state = State::Ended,
            (WARNING, _) if control.version == TlsVersion::V1_2 => {}
            // Their levels mean nothing in TLS 1.3 (RFC 8446, 6).
            (_, alert::USER_CANCELLED) if control.version == TlsVersion::V1_3 => {}
            _ => {
                return Err(Fault {
                    failure: alert::meaning(description),
                    alert: None,
                });
            }
        }
        Ok(())
    }

    #[cold]
    fn take_handshake(&mut self, plain: Range<usize>, control: &Control) -> Result<(), Fault> {
        const HELLO_REQUEST: &[u8] = &[0; 4];
        if control.version == TlsVersion::V1_2 {
            // A server would negotiate anew; to ignore that is allowed (RFC
            // 5246, 7.4.1.1), and to do so is not wise.
            if control.is_client && &self.buffer[plain] == HELLO_REQUEST {
                return Ok(());
            }
            return Err(Fault::protocol(alert::NO_RENEGOTIATION, "renegotiation"));
        }
        self.handshake.extend_from_slice(&self.buffer[plain]);
        while let Some(length) = message_length(&self.handshake) {
            if length > LARGEST_HANDSHAKE {
                let what = "a handshake message too long";
                return Err(Fault::protocol(alert::DECODE_ERROR, what));
            }
            if self.handshake.len() < length {
                return Ok(());
            }
            self.take_message(length, control)?;
            self.handshake.drain(..length);
        }
        if self.handshake.is_empty() {
            // Rare, and large if there are tickets: not worth keeping.
            self.handshake = Vec::new();
        }
        Ok(())
    }

    /// The first message of `handshake`, of that length.
    fn take_message(&mut self, length: usize, control: &Control) -> Result<(), Fault> {
        const NEW_SESSION_TICKET: u8 = 4;
        const KEY_UPDATE: u8 = 24;
        let internal = |failure| Fault {
            failure,
            alert: Some(alert::INTERNAL_ERROR),
        };
        let message = &self.handshake[..length];
        let is_last = self.handshake.len() == length;
        match message[0] {
            NEW_SESSION_TICKET if control.is_client => {
                let kept = control.keep_ticket(&message[4..]);
                kept.map_err(|failure| Fault {
                    failure,
                    alert: Some(alert::DECODE_ERROR),
                })
            }
            KEY_UPDATE => {
                // What follows is sealed with another key, so nothing does.
                let (&[_, _, _, _, request @ 0..=1], true) = (message, is_last) else {
                    let what = "a malformed key update";
                    return Err(Fault::protocol(alert::UNEXPECTED_MESSAGE, what));
                };
                self.protection = control.next_receiving().map_err(internal)?;
                if request == 1 {
                    control.ask_for_key();
                }
                Ok(())
            }
            _ => Err(Fault::protocol(
                alert::UNEXPECTED_MESSAGE,
                "a handshake message out of place",
            )),
        }
    }
}

/// Length of the first handshake message, its header included.
fn message_length(octets: &[u8]) -> Option<usize> {
    let [_, a, b, c] = *octets.first_chunk()?;
    Some(4 + u32::from_be_bytes([0, a, b, c]) as usize)
}

#[cfg(test)]
mod tests;
