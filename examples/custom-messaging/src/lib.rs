// SPDX-License-Identifier: MIT OR Apache-2.0
//! A messaging protocol of one's own: every message, or whatever another protocol has
//! made of it, travels with a checksum.
//!
//! | octets | meaning |
//! |---|---|
//! | 0 to 3 | octets of the message, big endian |
//! | 4 to 7 | CRC-32 of those four |
//! | then | the message |
//! | last four | CRC-32 of the message |
//!
//! The length has a checksum of its own: who trusts a wrong one waits for octets
//! that never come.
#![forbid(unsafe_code)]

use std::ops::Range;

use orbium::giop::messaging::{
    Decoder, Encoder, Input, Message, Messaging, MessagingError, Session, Side,
};

/// Octets before the message.
const HEAD: usize = 8;
/// Octets behind it.
const TAIL: usize = 4;

/// Messages with a checksum: `?messaging=checksum`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checksum;

impl Messaging for Checksum {
    fn name(&self) -> &str {
        "checksum"
    }

    fn input(&self) -> Input {
        Input::Octets
    }

    fn session(&self, _side: Side, limit: usize) -> Session {
        Session::new(Adding, Checking { limit })
    }
}

/// The CRC-32 of all pieces together, as it is sent.
fn checksum(pieces: &[&[u8]]) -> [u8; 4] {
    let mut hasher = crc32fast::Hasher::new();
    pieces.iter().for_each(|piece| hasher.update(piece));
    hasher.finalize().to_be_bytes()
}

/// The sending part.
#[derive(Debug)]
struct Adding;

impl Encoder for Adding {
    fn encode(
        &mut self,
        message: Message<'_>,
        head: &mut Vec<u8>,
        tail: &mut Vec<u8>,
    ) -> Result<Range<usize>, MessagingError> {
        let len = u32::try_from(message.len()).map_err(|_| MessagingError::TooLarge)?;
        let len = len.to_be_bytes();
        head.extend(len);
        head.extend(checksum(&[&len]));
        tail.extend(checksum(message.pieces()));
        // All of the message is sent from where it is.
        Ok(0..message.len())
    }
}

/// The receiving part.
#[derive(Debug)]
struct Checking {
    limit: usize,
}

impl Decoder for Checking {
    fn frame_len(&self, wire: &[u8]) -> Result<Option<usize>, MessagingError> {
        let Some((len, sum)) = wire.get(..HEAD).and_then(|head| head.split_first_chunk()) else {
            return Ok(None);
        };
        if checksum(&[len]) != sum {
            return Err(MessagingError::Refused("the checksum of a length is wrong"));
        }
        let len = u32::from_be_bytes(*len) as usize;
        if len > self.limit {
            return Err(MessagingError::TooLarge);
        }
        Ok(Some(HEAD + len + TAIL))
    }

    fn decode(&mut self, frame: &[u8], message: &mut Vec<u8>) -> Result<(), MessagingError> {
        let octets = frame.get(HEAD..).and_then(|rest| rest.split_last_chunk());
        let Some((octets, sum)) = octets else {
            return Err(MessagingError::Truncated);
        };
        let sum: &[u8; TAIL] = sum;
        if checksum(&[octets]) != *sum {
            return Err(MessagingError::Refused(
                "the checksum of a message is wrong",
            ));
        }
        message.extend_from_slice(octets);
        Ok(())
    }
}
