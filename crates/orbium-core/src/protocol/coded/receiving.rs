// SPDX-License-Identifier: MIT OR Apache-2.0
//! From frames that are received to GIOP messages.

use std::io;

use orbium_giop::messaging::{Decoder, MAX_OVERHEAD, MessagingError};
use orbium_transport::ByteStream;

use super::refused;
use crate::receive_buffer::{KEPT, ReceiveBuffer, SMALL};

/// The receiving direction of a stream of frames.
pub(super) struct Receiving {
    decoder: Box<dyn Decoder>,
    limit: usize,
    wire: ReceiveBuffer,
    /// The message decoded last, and how much of it was handed on.
    message: Vec<u8>,
    at: usize,
}

impl Receiving {
    pub(super) fn new(decoder: Box<dyn Decoder>, limit: usize) -> Self {
        Self {
            decoder,
            limit,
            wire: ReceiveBuffer::default(),
            message: Vec::new(),
            at: 0,
        }
    }

    /// Receives what is there; with `bounded`, no more than once for part of a
    /// frame.
    pub(super) fn receive(
        &mut self,
        inner: &dyn ByteStream,
        room: &mut [u8],
        bounded: bool,
    ) -> io::Result<usize> {
        while self.at == self.message.len() {
            self.message.clear();
            self.at = 0;
            if self.message.capacity() > KEPT {
                self.message = Vec::new();
            }
            match self.whole_frame()? {
                Ok(len) => {
                    let frame = &self.wire.received()[..len];
                    self.decoder
                        .decode(frame, &mut self.message)
                        .map_err(refused)?;
                    self.wire.consume(len);
                    probe!(MessagingReceive);
                }
                Err(expected) => {
                    self.wire.make_room(expected.max(SMALL));
                    // As much as there is memory for: a frame says nothing of
                    // the size of the next.
                    if self.wire.receive(inner, self.wire.room())? == 0 {
                        return Ok(0);
                    }
                    // The bound holds for one receive, and octet by octet there
                    // can be any number; who waits knows how much time is left.
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
        Ok(count)
    }

    /// The length of the frame that was received whole, or else how many octets
    /// are expected of one that was not.
    fn whole_frame(&self) -> io::Result<Result<usize, usize>> {
        let wire = self.wire.received();
        match self.decoder.frame_len(wire).map_err(refused)? {
            Some(len) if len > self.limit + MAX_OVERHEAD => Err(refused(MessagingError::TooLarge)),
            Some(0) => Err(refused(MessagingError::WrongLength)),
            Some(len) if len <= wire.len() => Ok(Ok(len)),
            Some(len) => Ok(Err(len)),
            None => Ok(Err(SMALL)),
        }
    }

    /// Whether part of a frame was received, and nothing can be handed on.
    pub(super) fn is_midway(&self) -> bool {
        self.at == self.message.len() && !self.wire.is_empty()
    }

    /// Whether there is something to hand on, or to find wrong.
    pub(super) fn has_news(&self) -> bool {
        self.at < self.message.len() || !matches!(self.whole_frame(), Ok(Err(_)))
    }
}
