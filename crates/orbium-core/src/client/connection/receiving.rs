// SPDX-License-Identifier: MIT OR Apache-2.0
//! What comes in answer: whole messages, until the deadline.

use std::io;

use orbium_channel::framing::{FramingError, Grouped};
use orbium_giop::{FragmentError, MessageHeader, MessageKind, Version, message_error};
use orbium_invocation::reactor::wait_on_reactor;
use orbium_sys::{Interest, if_done, made_of};
use orbium_transport::Deadline;

use super::Connection;
use crate::client::assembly::Whole;
use crate::client::ticks;

/// What came in answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Received {
    /// A message: see [`Connection::message`].
    Message(MessageHeader),
    /// The server ended the connection in order: nothing was begun.
    Closed,
    /// The connection was lost.
    Lost,
    /// The deadline passed.
    TimedOut,
    /// The server does not trust us: nothing was begun.
    Refused,
    /// The server says that our message was none.
    MessageError,
    /// What came was no message.
    Garbage,
    /// What came is larger than the limit.
    TooLarge,
}

impl Received {
    /// Whether the server ended the connection.
    pub(crate) fn ended_by_peer(self) -> bool {
        matches!(self, Self::Closed | Self::Lost | Self::Refused)
    }

    /// What it means to a call that awaits a reply, if no more is known.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Message(_) => "the reply cannot be understood",
            Self::Closed => "the server closed the connection and had not begun the request",
            Self::Lost => "the connection ended",
            Self::TimedOut => "no reply before the deadline",
            Self::Refused => "the server refuses this client",
            Self::MessageError => "the server answered MessageError",
            Self::Garbage => "what came is no GIOP message",
            Self::TooLarge => "what came is too large",
        }
    }
}

impl Connection {
    /// The next message in answer.
    #[inline]
    pub(crate) fn receive(&mut self, deadline: Deadline) -> Received {
        let mut has_received = false;
        loop {
            match self.framing.next() {
                Ok(Some(header)) => match header.kind {
                    MessageKind::Reply | MessageKind::LocateReply if !header.more_fragments => {
                        return Received::Message(header);
                    }
                    _ => {
                        if let Some(received) = self.other(&header) {
                            return received;
                        }
                    }
                },
                // The timeout was set for one receive; a reply that comes in pieces must
                // not have it several times.
                Ok(None) if has_received && !self.goes_on(deadline) => {
                    return Received::TimedOut;
                }
                Ok(None) => {
                    if let Some(received) = self.receive_once(deadline, &mut has_received) {
                        return received;
                    }
                }
                Err(error) => {
                    if let Some(received) = self.no_message(error) {
                        return received;
                    }
                }
            }
        }
    }

    /// Receives some of a message; what ends the wait for it. `has_received`: a further
    /// receive needs a timeout of its own.
    #[inline(always)]
    fn receive_once(&mut self, deadline: Deadline, has_received: &mut bool) -> Option<Received> {
        match self.framing.receive(&*self.stream) {
            Ok(0) => Some(Received::Lost),
            Ok(_) => {
                *has_received = deadline != Deadline::NEVER;
                None
            }
            Err(error) => self.receive_failed(error, deadline),
        }
    }

    /// Whether something can be received before the deadline, as far as that has
    /// to be found out here: mostly the timeout that the stream has will do.
    pub(crate) fn comes_before(&mut self, deadline: Deadline) -> bool {
        let Some(left) = if_done(deadline.remaining()) else {
            return false;
        };
        // A thread that waits on the reactor uses no socket timeouts.
        let suits = self.reacts || ticks::is_in_time(self.timeout, left);
        suits || self.framing.is_partial() || self.goes_on(deadline)
    }

    /// Bounds the next receive by what is left until the deadline; whether there
    /// is anything left.
    #[cold]
    fn goes_on(&mut self, deadline: Deadline) -> bool {
        if self.reacts || !self.stream.counts_in_ticks() {
            let Some(left) = if_done(deadline.remaining()) else {
                return false;
            };
            return if_done(self.set_timeout(left)).is_some();
        }
        self.stream.has_buffered() || ticks::comes_before(&*self.stream, deadline)
    }

    #[cold]
    #[inline(never)]
    fn receive_failed(&mut self, error: io::Error, deadline: Deadline) -> Option<Received> {
        let kind = made_of(error, |error| {
            let kind = orbium_sys::kind_of(error);
            self.cause = match kind {
                io::ErrorKind::Interrupted
                | io::ErrorKind::WouldBlock
                | io::ErrorKind::TimedOut => None,
                _ => Some(error.to_string()),
            };
            if kind == io::ErrorKind::PermissionDenied {
                crate::log::warn!(target: "orbium::conn", %error, "refused by the peer");
            }
            kind
        });
        match kind {
            io::ErrorKind::PermissionDenied => Some(Received::Refused),
            io::ErrorKind::Interrupted => None,
            io::ErrorKind::WouldBlock if self.reacts => {
                let source = self.stream.source();
                match wait_on_reactor(source, Interest::Read, deadline) {
                    Ok(()) => None,
                    Err(error) => match orbium_sys::kind_alone(error) {
                        io::ErrorKind::TimedOut => Some(Received::TimedOut),
                        _ => Some(Received::Lost),
                    },
                }
            }
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                (!self.goes_on(deadline)).then_some(Received::TimedOut)
            }
            _ => Some(Received::Lost),
        }
    }

    /// What came is no message, or too large.
    #[cold]
    #[inline(never)]
    fn no_message(&mut self, error: FramingError) -> Option<Received> {
        if error == FramingError::NoMemory
            && let Ok(refused) = self.assembly.skip(&mut self.framing)
        {
            return refused.map(|whole| self.assembled(whole));
        }
        self.send_message_error();
        crate::log::debug!(target: "orbium::wire", %error, "not a message");
        self.cause = Some(error.to_string());
        Some(match error {
            FramingError::TooLarge { .. } => Received::TooLarge,
            FramingError::Header(_) | FramingError::NoMemory => Received::Garbage,
        })
    }

    /// Anything but a whole reply.
    #[cold]
    fn other(&mut self, header: &MessageHeader) -> Option<Received> {
        match header.kind {
            MessageKind::CloseConnection => Some(Received::Closed),
            MessageKind::MessageError => Some(Received::MessageError),
            MessageKind::Reply | MessageKind::LocateReply | MessageKind::Fragment => {
                match self.assembly.accept(header, &mut self.framing) {
                    Ok(None) => None,
                    Ok(Some(whole)) => Some(self.assembled(whole)),
                    // The rest of a reply to an abandoned request.
                    Err(FragmentError::NothingToContinue(Some(_))) => None,
                    Err(error) => {
                        crate::log::debug!(target: "orbium::wire", %error, "bad fragment in a reply");
                        self.send_message_error();
                        self.cause = Some(self.fragment_fault(error));
                        Some(match is_limit(error) {
                            true => Received::TooLarge,
                            false => Received::Garbage,
                        })
                    }
                }
            }
            // Requests come over bidirectional connections only.
            _ => {
                self.send_message_error();
                Some(Received::Lost)
            }
        }
    }

    /// A message in a buffer of its own.
    fn assembled(&mut self, whole: Whole) -> Received {
        let header = whole.message.first_chunk().map(MessageHeader::parse);
        let Some(Ok(header)) = header else {
            return Received::Lost;
        };
        self.assembled = Some(whole);
        Received::Message(header)
    }

    /// What is wrong with a fragment, and which limit it exceeds.
    fn fragment_fault(&self, error: FragmentError) -> String {
        let limit = Grouped(self.message_limit);
        match error {
            FragmentError::MessageTooLarge(_) => {
                format!("reply in fragments of more than {limit} bytes (`limits.message_size`)")
            }
            other => other.to_string(),
        }
    }

    fn send_message_error(&self) {
        self.say_last(&message_error(Version::V1_2));
    }
}

/// Whether a limit is exceeded, and not the protocol violated.
pub(crate) fn is_limit(error: FragmentError) -> bool {
    matches!(
        error,
        FragmentError::MessageTooLarge(_)
            | FragmentError::TooManyMessages(_)
            | FragmentError::TooManyOctets(_)
    )
}
