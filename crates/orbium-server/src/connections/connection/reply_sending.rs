// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies to a client: sent at once, or queued while it does not receive.

use std::io;
use std::sync::atomic::Ordering;

use orbium_cdr::CdrWriter;
use orbium_channel::outgoing::{self, Patience};
use orbium_channel::receive_buffer::SMALL;
use orbium_sync::role;
use orbium_sys::Interest;
use orbium_transport::{ByteStream, Deadline};

use super::{Kept, Pending, ServerConnection};
use crate::strategy::notifier::Notifier;

impl ServerConnection {
    /// Sends the reply to a request from the reading thread, which detects a failure of the
    /// connection itself.
    #[inline]
    pub(crate) fn reply(&self, message: &CdrWriter<'_>) {
        let sent = match &self.notifier {
            _ if self.is_shared() => self.send_among_others(Some(message)),
            // No other thread can be sending.
            None => self.send_blocking(message),
            Some(notifier) => self.send_alone(message, notifier),
        };
        if let Err(error) = sent {
            self.break_off(error);
        }
    }

    /// Sends the reply to a request from a thread that has handed off the reading, unless the
    /// client has cancelled it.
    #[cold]
    pub(crate) fn reply_late(&self, request_id: u32, message: &CdrWriter<'_>) {
        if self.was_cancelled(request_id) {
            return;
        }
        if let Err(error) = self.send_among_others(Some(message)) {
            self.break_off(error);
        }
    }

    /// Sends the collected replies, then a message.
    #[cold]
    pub(super) fn send_among_others(&self, message: Option<&CdrWriter<'_>>) -> io::Result<()> {
        let mut pending = self.lock();
        let collected = pending.take_collected();
        let was_held = !collected.is_empty();
        let sent = match &self.notifier {
            Some(notifier) => self.send_or_keep(&mut pending, collected, message, notifier),
            None => self.send_behind(collected, message),
        };
        if was_held {
            self.end_collected();
            drop(pending);
            self.end_late();
        }
        sent
    }

    /// Sends a message after the collected replies, in one send if it is small.
    fn send_behind(
        &self,
        mut collected: Vec<u8>,
        message: Option<&CdrWriter<'_>>,
    ) -> io::Result<()> {
        let small = |len| len <= SMALL && self.fragment_size.is_none_or(|size| len <= size);
        let (alone, joined) = match message {
            Some(message) if collected.is_empty() || !small(message.len()) => (Some(message), None),
            joined => (None, joined),
        };
        if let Some(message) = joined {
            for piece in message.pieces() {
                collected.extend_from_slice(piece);
            }
        }
        let patience = Patience::For(self.send_time);
        outgoing::send_octets(&*self.stream, &collected, patience)?;
        alone.map_or(Ok(()), |message| self.send_blocking(message))
    }

    #[inline]
    fn send_blocking(&self, message: &CdrWriter<'_>) -> io::Result<()> {
        let patience = || Patience::For(self.send_time);
        outgoing::send(&*self.stream, message, self.fragment_size, patience)
    }

    /// Sends as much as the peer receives at once, of the collected replies and a message, and
    /// queues the rest.
    fn send_or_keep(
        &self,
        pending: &mut Pending,
        mut octets: Vec<u8>,
        message: Option<&CdrWriter<'_>>,
        notifier: &Notifier,
    ) -> io::Result<()> {
        let at_once = pending.octets.is_empty() && octets.is_empty();
        match (message, self.fragment_size) {
            (None, _) => {}
            (Some(message), Some(size)) if message.len() > size => {
                outgoing::fragments_into(&mut octets, message, size);
            }
            (Some(message), _) if at_once && !message.is_gathered() => {
                let written = message.written();
                let sent = sent_at_once(&*self.stream, written)?;
                if sent == written.len() {
                    return Ok(());
                }
                octets.extend_from_slice(&written[sent..]);
            }
            (Some(message), _) => message
                .pieces()
                .for_each(|piece| octets.extend_from_slice(piece)),
        }
        if pending.octets.is_empty() {
            let sent = sent_at_once(&*self.stream, &octets)?;
            octets.drain(..sent);
            if octets.is_empty() {
                return Ok(());
            }
        }
        self.keep(pending, octets, notifier)
    }

    /// As `send_or_keep`, by the reading thread while no other thread may reply: without the lock,
    /// unless data must be queued.
    fn send_alone(&self, message: &CdrWriter<'_>, notifier: &Notifier) -> io::Result<()> {
        let in_one = self.fragment_size.is_none_or(|size| message.len() <= size);
        if !in_one || message.is_gathered() || self.has_pending() {
            return self.send_or_keep(&mut self.lock(), Vec::new(), Some(message), notifier);
        }
        let written = message.written();
        let sent = sent_at_once(&*self.stream, written)?;
        if sent < written.len() {
            return self.keep(&mut self.lock(), written[sent..].to_vec(), notifier);
        }
        Ok(())
    }

    /// Queues unsent data.
    #[cold]
    fn keep(&self, pending: &mut Pending, octets: Vec<u8>, notifier: &Notifier) -> io::Result<()> {
        if pending.octets.is_empty() {
            pending.since = Deadline::after(Some(self.send_time));
        }
        let total = pending.octets.len() + octets.len();
        if total > SMALL && pending.charge.set(total).is_err() {
            // A part of it may have been received by the client: the connection cannot be
            // continued.
            pending.charge.budget().count_refused();
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        if self.ended.load(Ordering::Acquire) || self.has_dedicated_thread() {
            // The reactor no longer serves the connection: this thread may block, and no other
            // thread sends.
            role::about_to_block();
            pending.octets.append(octets);
            let kept = pending.octets.take();
            pending.give_back();
            return outgoing::send_octets(&*self.stream, &kept, Patience::For(self.send_time));
        }
        pending.octets.append(octets);
        if !self.has_pending.swap(true, Ordering::AcqRel) {
            self.wait_for(notifier, pending, Interest::Write)?;
            notifier.notify_deadline(self.id);
        }
        Ok(())
    }

    /// Changes the polled events; under the lock, so that they match the queued data.
    fn wait_for(
        &self,
        notifier: &Notifier,
        pending: &mut Pending,
        interest: Interest,
    ) -> io::Result<()> {
        let source = self.stream.source();
        let poller = &notifier.poller;
        let asked = notifier.interest(interest);
        let reads_ahead = interest == Interest::Write && self.goes_both_ways();
        let read_before = std::mem::replace(&mut pending.reads_ahead, reads_ahead);
        if let Some(sending) = pending.source.take() {
            poller.remove(&sending, self.id)?;
            return if read_before {
                poller.modify(&source, self.id, asked)
            } else {
                poller.add(&source, self.id, asked)
            };
        }
        match self.stream.sending_source() {
            Some(sending) if interest == Interest::Write => {
                if reads_ahead {
                    poller.modify(&source, self.id, notifier.interest(Interest::Read))?;
                } else {
                    poller.remove(&source, self.id)?;
                }
                poller.add(&sending, self.id, asked)?;
                pending.source = Some(sending);
                Ok(())
            }
            _ if reads_ahead => poller.modify(&source, self.id, notifier.interest(Interest::Both)),
            _ => poller.modify(&source, self.id, asked),
        }
    }

    /// Waits for room to send alone: nothing more is to be received while data are queued.
    #[cold]
    pub(super) fn stop_reading_ahead(&self, notifier: &Notifier) -> io::Result<()> {
        let mut pending = self.lock();
        if !std::mem::take(&mut pending.reads_ahead) {
            return Ok(());
        }
        let (source, poller) = (self.stream.source(), &notifier.poller);
        if pending.source.is_some() {
            poller.remove(&source, self.id)
        } else {
            poller.modify(&source, self.id, notifier.interest(Interest::Write))
        }
    }

    /// Re-arms the connection (EPOLLONESHOT): for the next message, or for sending queued data.
    pub(crate) fn wait_again(&self, notifier: &Notifier) -> io::Result<()> {
        if !self.is_shared() && !self.has_pending() {
            // No other thread can queue anything, and the queue is empty.
            let interest = notifier.interest(Interest::Read);
            return notifier
                .poller
                .modify(&self.stream.source(), self.id, interest);
        }
        let pending = self.lock();
        self.ask_again(notifier, &pending)
    }

    /// Makes the registration one-shot: the poller reports the connection at most once more, until
    /// `wait_again`.
    #[cold]
    pub(crate) fn wait_once(&self, notifier: &Notifier) -> io::Result<()> {
        let pending = self.lock();
        if pending.octets.is_empty() {
            notifier
                .poller
                .modify(&self.stream.source(), self.id, Interest::ReadOnce)
        } else {
            Ok(())
        }
    }

    fn ask_again(&self, notifier: &Notifier, pending: &Pending) -> io::Result<()> {
        let source = self.stream.source();
        let ask = |interest| {
            let asked = notifier.interest(interest);
            notifier.poller.modify(&source, self.id, asked)
        };
        match (&pending.source, pending.octets.is_empty()) {
            (None, true) => ask(Interest::Read),
            (None, false) if pending.reads_ahead => ask(Interest::Both),
            (None, false) => ask(Interest::Write),
            (Some(sending), is_empty) => {
                if pending.reads_ahead {
                    ask(Interest::Read)?;
                }
                let interest = if is_empty {
                    Interest::Read
                } else {
                    Interest::Write
                };
                let asked = notifier.interest(interest);
                notifier.poller.modify(sending, self.id, asked)
            }
        }
    }

    /// Removes the connection from the poller.
    pub(crate) fn wait_for_nothing(&self, notifier: &Notifier) {
        self.remove_sources(&mut self.lock(), notifier);
    }

    /// Removes the sources from the poller.
    pub(crate) fn remove_sources(&self, pending: &mut Pending, notifier: &Notifier) {
        let sending = pending.source.take();
        // Closing a source has the same effect, once no thread holds it any more.
        if let Some(sending) = &sending {
            let _ = notifier.poller.remove(sending, self.id);
        }
        if sending.is_none() || pending.reads_ahead {
            let _ = notifier.poller.remove(&self.stream.source(), self.id);
        }
    }

    /// Sends queued data, as far as the peer receives; returns whether all are sent, and the
    /// connection can be read again.
    pub(crate) fn flush(&self) -> io::Result<bool> {
        let mut pending = self.lock();
        let sent = sent_at_once(&*self.stream, pending.octets.octets())?;
        pending.octets.consume(sent);
        if !pending.octets.is_empty() {
            if sent > 0 {
                pending.since = Deadline::after(Some(self.send_time));
            }
            if let Some(notifier) = &self.notifier
                && notifier.oneshot
            {
                self.ask_again(notifier, &pending)?;
            }
            return Ok(false);
        }
        pending.give_back();
        self.has_pending.store(false, Ordering::Release);
        if let Some(notifier) = &self.notifier {
            self.wait_for(notifier, &mut pending, Interest::Read)?;
        }
        Ok(true)
    }

    /// Sends what was kept, as far as the peer takes it, though no reactor serves the connection;
    /// whether there is more.
    pub(crate) fn send_kept(&self) -> bool {
        let mut pending = self.lock();
        match sent_at_once(&*self.stream, pending.octets.octets()) {
            Ok(sent) => {
                pending.octets.consume(sent);
                !pending.octets.is_empty()
            }
            // The end of the connection finds the same.
            Err(_) => false,
        }
    }

    /// The deadline by which the peer must have received part of the pending replies, if there are any.
    pub(crate) fn pending_deadline(&self) -> Option<Deadline> {
        self.has_pending().then(|| self.lock().since)
    }
}

impl Pending {
    /// Releases the queued data.
    pub(crate) fn give_back(&mut self) {
        self.octets = Kept::default();
        // A smaller charge is never refused.
        let _ = self.charge.set(0);
    }
}

/// Sends as much as possible without blocking.
fn sent_at_once(stream: &dyn ByteStream, octets: &[u8]) -> io::Result<usize> {
    let mut sent = 0;
    while sent < octets.len() {
        match stream.send(&octets[sent..]) {
            Ok(count) => sent += count,
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::WouldBlock => break,
                _ => return Err(error),
            },
        }
    }
    Ok(sent)
}
