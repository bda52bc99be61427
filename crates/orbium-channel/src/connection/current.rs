// SPDX-License-Identifier: MIT OR Apache-2.0
//! The current message: its bytes, and their removal from the buffer.

use orbium_giop::{Assembled, MessageHeader, MessageKind};

use super::assembly::{Whole, header_of};
use super::event::{Cause, Refused};
use super::parts::{Continuation, Parts};
use super::{Connection, refusal};
use crate::framing::{self, Framing};
use crate::peer_memory::NoMemory;

impl Connection {
    /// The message with that header, as given by `next`, and the boundaries of its fragments.
    #[inline]
    pub fn message(&mut self, header: &MessageHeader) -> (&mut [u8], &[u32]) {
        match &mut self.whole {
            None => (self.framing.message(header), &[]),
            Some(whole) => {
                let Assembled { octets, seams } = &mut whole.message;
                (octets, seams)
            }
        }
    }

    /// The same, and its surroundings.
    pub fn parts(&mut self, header: &MessageHeader) -> Parts<'_> {
        let Some(whole) = &mut self.whole else {
            let (message, rest) = self.framing.split(header);
            return Parts {
                message,
                seams: &[],
                rest,
                continuation: &mut self.continuation,
            };
        };
        let Assembled { octets, seams } = &mut whole.message;
        Parts {
            message: octets,
            seams,
            rest: self.framing.received(),
            continuation: &mut self.continuation,
        }
    }

    /// The surroundings of a message that was taken out: the bytes received after it, and the state
    /// that continues beyond it.
    pub fn behind(&mut self) -> (&[u8], &mut Continuation) {
        (self.framing.received(), &mut self.continuation)
    }

    /// Whether the message that `next` returned was fragmented.
    #[must_use]
    pub fn came_in_fragments(&self) -> bool {
        self.whole.is_some()
    }

    /// Drops the message with that header, as given by `next`.
    #[inline]
    pub fn consume(&mut self, header: &MessageHeader) {
        if self.whole.is_none() {
            self.framing.consume(header);
        } else {
            self.drop_whole();
        }
    }

    /// Discards the next message, of that many octets, which was not fragmented.
    #[inline]
    pub fn consume_plain(&mut self, octets: usize) {
        debug_assert!(self.whole.is_none());
        self.framing.consume_octets(octets);
    }

    #[cold]
    pub(super) fn drop_whole(&mut self) {
        if let Some(whole) = self.whole.take() {
            self.keep_spare(whole.message.octets);
        }
    }

    /// Takes out a message that was fragmented or inserted by [`put_whole`](Self::put_whole).
    pub fn take_whole(&mut self) -> Option<Whole> {
        self.whole.take()
    }

    /// Inserts a message that another connection has received for this one: the next result of
    /// `next`. Returns its header; `None` if it is malformed.
    pub fn put_whole(&mut self, whole: Whole) -> Option<MessageHeader> {
        let header = header_of(&whole)?;
        self.whole = Some(whole);
        Some(header)
    }

    /// Takes the message with that header out: into `room`, or with the buffer that it was received
    /// into.
    ///
    /// # Errors
    /// There is no memory for the message, which is discarded. For a reply, a reply with an
    /// exception is returned instead; a request is refused, or is `None` if its header cannot be
    /// read.
    pub fn take(
        &mut self,
        header: &MessageHeader,
        room: Vec<u8>,
    ) -> Result<Whole, Option<Refused>> {
        if let Some(whole) = self.whole.take() {
            self.spare = room;
            return Ok(whole);
        }
        let seams = Vec::new();
        match self.framing.take_out(header, room) {
            Ok((octets, charge)) => Ok(Whole {
                message: Assembled { octets, seams },
                charge,
            }),
            Err(NoMemory) => self.refuse(header),
        }
    }

    /// Takes the reply with that header out, as given by `next_plain_reply`.
    ///
    /// # Errors
    /// There is no memory for it: it was dropped. The reply that says so, which has another header.
    pub fn take_plain_reply(&mut self, header: &MessageHeader) -> Result<Whole, Whole> {
        match self.framing.take_out(header, Vec::new()) {
            Ok((octets, charge)) => Ok(Whole {
                charge,
                ..Whole::of(octets)
            }),
            Err(NoMemory) => Err(self.refuse(header).unwrap_or_default()),
        }
    }

    #[cold]
    pub(super) fn refuse(&mut self, header: &MessageHeader) -> Result<Whole, Option<Refused>> {
        self.budget().count_refused();
        let message = self.framing.message(header);
        let refused = match header.kind {
            MessageKind::Reply => {
                let id = framing::answered_by(header, message);
                let octets = id.map(|id| framing::refusal(header, id));
                Ok(Whole::of(octets.unwrap_or_default()))
            }
            _ => Err(refusal::refused(header, message, Cause::NoMemory)),
        };
        self.framing.consume(header);
        refused
    }

    /// Inserts octets before the received ones: they are read again.
    pub fn put_back(&mut self, mut octets: Vec<u8>) {
        octets.extend_from_slice(self.framing.received());
        let headers = self.framing.headers();
        self.framing = Framing::with_octets(self.framing.limit(), octets, self.framing.budget())
            .with_headers(headers)
            .with_deliveries(self.continuation.is_delivered);
    }
}
