// SPDX-License-Identifier: MIT OR Apache-2.0
//! From frames that are received to GIOP messages.

use std::io;

use orbium_giop::messaging::{Decoder, MAX_OVERHEAD, MessagingError};
use orbium_transport::ByteStream;

use super::refusal::refused;
use crate::peer_memory::{Budget, Charge, NoMemory};
use crate::receive_buffer::{MAX_RETAINED_BUFFER, ReceiveBuffer, SMALL};

/// Octets to which a frame of any size may be decoded.
const MAX_UNCHECKED_LENGTH: usize = 1 << 20;

/// The permitted duration of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// It does not block.
    None,
    /// At most one receive for part of a frame.
    Bounded,
    /// It blocks until a message is available.
    Unbounded,
}

/// The receiving direction of a stream of frames.
pub(super) struct Receiving {
    decoder: Box<dyn Decoder>,
    limit: usize,
    wire: ReceiveBuffer,
    /// The part of a message that was decoded last, and the number of its octets that were
    /// returned.
    message: Vec<u8>,
    at: usize,
    /// Octets of the message that were decoded from the frame so far.
    decoded: usize,
    /// Maximum decoded octets for each octet of a frame.
    ratio: usize,
    /// For the message, if it is large, and the memory of the decoder.
    charge: Charge,
}

impl Receiving {
    pub(super) fn new(decoder: Box<dyn Decoder>, limit: usize, budget: &Budget) -> Self {
        Self {
            decoder,
            limit,
            wire: ReceiveBuffer::with_octets(Vec::new(), budget),
            ratio: budget.ratio(),
            charge: budget.charge(),
            message: Vec::new(),
            at: 0,
            decoded: 0,
        }
    }

    /// Receives, and decodes a part of a frame at a time: a message may be many times as long as
    /// its frame, and the reading thread has other connections to serve.
    pub(super) fn receive(
        &mut self,
        inner: &dyn ByteStream,
        room: &mut [u8],
        patience: Patience,
    ) -> io::Result<usize> {
        while self.at == self.message.len() {
            self.message.clear();
            self.at = 0;
            match self.whole_frame()? {
                Ok(len) if self.decode_part(len)? => {
                    self.decoded = 0;
                    self.wire.consume(len);
                    if self.wire.is_large() {
                        self.wire.settle(len);
                    }
                    orbium_trace::probe!(MessagingReceive);
                }
                // Occurs if a protocol within a stack decodes.
                Ok(_) if self.message.is_empty() && patience == Patience::None => {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                Ok(_) => {}
                Err(expected) => {
                    let room = self.wire.make_room(expected.max(SMALL));
                    room.or_else(|_| self.no_memory())?;
                    // As much as there is memory for: a frame does not contain the size of the
                    // next.
                    if self.wire.receive(inner, self.wire.room())? == 0 {
                        return Ok(0);
                    }
                    // The bound applies to one receive, and octet by octet there can be any number
                    // of them; a caller with a deadline checks it in between.
                    let bounded = patience != Patience::Unbounded;
                    if bounded && self.whole_frame()?.is_err() && !inner.has_buffered() {
                        return Err(io::ErrorKind::WouldBlock.into());
                    }
                }
            }
        }
        let left = &self.message[self.at..];
        let count = left.len().min(room.len());
        room[..count].copy_from_slice(&left[..count]);
        self.at += count;
        if self.at == self.message.len() && self.message.capacity() > SMALL {
            // The connection may become idle now.
            self.message.clear();
            self.at = 0;
            self.fall_back();
        }
        Ok(count)
    }

    /// Decodes the next part of the frame that was received whole; returns whether that was the
    /// last.
    fn decode_part(&mut self, len: usize) -> io::Result<bool> {
        if len > SMALL {
            // At least as much as the frame.
            self.charge(len)?;
        }
        let frame = &self.wire.received()[..len];
        let decoded = self.decoder.decode_part(frame, &mut self.message);
        let is_last = decoded.map_err(|error| refused(error, self.limit))?;
        let held = self.message.capacity() + self.decoder.held();
        if held > SMALL {
            self.charge(held.max(len))?;
        }
        self.decoded += self.message.len();
        let inflated = self.decoded.max(self.decoder.undelivered());
        if inflated > MAX_UNCHECKED_LENGTH && inflated / self.ratio.max(1) > len {
            self.charge.budget().count_refused();
            orbium_trace::log::warn!(
                target: "orbium::wire", inflated,
                frame = len,
                "compressed too well (limits.decompression_ratio)"
            );
            return Err(refused(MessagingError::TooCompressed, self.limit));
        }
        Ok(is_last)
    }

    /// Charges the memory of a message.
    fn charge(&mut self, octets: usize) -> io::Result<()> {
        match self.charge.set(octets) {
            Ok(()) => Ok(()),
            Err(NoMemory) => self.no_memory().map(|_| ()),
        }
    }

    /// Ends the connection: the request id is unknown before a message is decoded, so no exception
    /// can be sent.
    #[cold]
    fn no_memory(&self) -> io::Result<usize> {
        self.charge.budget().count_refused();
        orbium_trace::log::warn!(target: "orbium::wire", "no memory for a message in a frame");
        Err(io::ErrorKind::OutOfMemory.into())
    }

    /// Releases the memory of a message, unless it is moderate and the budget is not tight.
    #[cold]
    fn fall_back(&mut self) {
        if self.message.capacity() > MAX_RETAINED_BUFFER || self.charge.budget().is_tight() {
            self.message = Vec::new();
            // Less is never refused.
            let _ = self.charge.set(0);
        }
    }

    /// The length of the frame if it was received whole, otherwise the number of octets expected.
    fn whole_frame(&self) -> io::Result<Result<usize, usize>> {
        let wire = self.wire.received();
        match self
            .decoder
            .frame_len(wire)
            .map_err(|error| refused(error, self.limit))?
        {
            Some(len) if len > self.limit + MAX_OVERHEAD => {
                Err(refused(MessagingError::TooLarge, self.limit))
            }
            Some(0) => Err(refused(MessagingError::WrongLength, self.limit)),
            Some(len) if len <= wire.len() => Ok(Ok(len)),
            Some(len) => Ok(Err(len)),
            None => Ok(Err(SMALL)),
        }
    }

    /// Whether part of a frame was received, and no message octets are available.
    pub(super) fn is_midway(&self) -> bool {
        self.at == self.message.len() && !self.wire.is_empty()
    }

    /// Whether message octets or an error are available.
    pub(super) fn has_news(&self) -> bool {
        self.at < self.message.len() || !matches!(self.whole_frame(), Ok(Err(_)))
    }
}
