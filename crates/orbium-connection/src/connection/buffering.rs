// SPDX-License-Identifier: MIT OR Apache-2.0
//! Use of a connection by buffered oneways and by those of servants, without blocking.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use orbium_cdr::CdrWriter;
use orbium_channel::connection::CodeSets;
use orbium_channel::oneway_buffer::OnewayBuffer;
use orbium_channel::outgoing::{self, Patience};
use orbium_invocation::reactor::wait_on_reactor;
use orbium_transport::Deadline;

use super::Connection;
use crate::introduction::{Introduction, PriorityContext};

impl Connection {
    /// The id of a oneway, and its service contexts. The first of a buffer (`is_first`) has those
    /// of a first request, as the buffer may have to be sent over another connection. Later
    /// messages in the stream do not announce code sets.
    pub(crate) fn introduce_oneway(
        &mut self,
        said: PriorityContext,
        is_first: bool,
    ) -> (u32, Option<Introduction>) {
        let negotiated = self.giop.code_sets().negotiated();
        let announced = is_first
            .then(|| CodeSets::of_client(negotiated).announcement())
            .flatten();
        (self.next_id(), Introduction::new(announced, said))
    }

    /// Sets whether sends and receives block.
    pub(crate) fn set_blocking(&self, blocks: bool) -> io::Result<()> {
        if self.reacts {
            Ok(())
        } else {
            self.stream.set_nonblocking(!blocks)
        }
    }

    /// Sends the buffered messages, and that message after them, as far as the peer accepts them;
    /// returns whether all is sent. The unsent rest is buffered.
    pub(crate) fn send_buffered(
        &self,
        buffer: &mut OnewayBuffer,
        behind: Option<&CdrWriter<'_>>,
    ) -> io::Result<bool> {
        match behind {
            Some(message) => buffer.send_with(message, &*self.stream),
            None => buffer.send(&*self.stream),
        }
    }

    /// Sends as much of a finished message as the stream accepts without blocking; returns the
    /// number of bytes. 0 for a message in fragments or in several pieces.
    pub fn send_at_once(&self, message: &CdrWriter<'_>) -> io::Result<usize> {
        let is_fragmented = self.fragment_size.is_some_and(|size| message.len() > size);
        if is_fragmented || message.is_gathered() {
            return Ok(0);
        }
        match self.stream.send_at_once(message.written()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            outcome => outcome,
        }
    }

    /// Sends the rest of a message after [`send_at_once`](Self::send_at_once).
    pub fn send_rest(
        &self,
        message: &CdrWriter<'_>,
        sent: usize,
        deadline: Deadline,
    ) -> io::Result<()> {
        let patience = Patience::Until(deadline, wait_on_reactor);
        outgoing::send_octets(&*self.stream, &message.written()[sent..], patience)
    }

    /// The descriptor on which to wait until the stream accepts bytes, also after the connection is
    /// closed.
    pub(crate) fn room_to_send(&self) -> io::Result<Arc<OwnedFd>> {
        match self.stream.sending_source() {
            Some(source) => Ok(source),
            None => Ok(Arc::new(self.stream.source().as_fd().try_clone_to_owned()?)),
        }
    }
}
