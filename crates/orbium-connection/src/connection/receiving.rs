// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receiving side of an exclusive connection: whole messages, until the deadline.

use std::io;
use std::time::{Duration, Instant};

use orbium_channel::connection::{Event, Violation, Whole};
use orbium_channel::framing::Grouped;
use orbium_giop::{FragmentError, MessageHeader, MessageKind, PlainReply};
use orbium_invocation::reactor::wait_on_reactor;
use orbium_invocation::{CANCELLATION_PERIOD, CancellationToken};
use orbium_sys::Interest;
use orbium_transport::Deadline;

use super::{Connection, Shared};
use crate::shared::End;
use orbium_transport::ticks;

/// The reply to a request, or the reason why there is none.
#[derive(Clone, Copy, Debug)]
pub enum Received {
    /// A message: see [`Connection::message`].
    Message(MessageHeader),
    /// The server closed the connection with CloseConnection: the request was not begun.
    Closed,
    /// The connection was lost.
    Lost,
    /// The deadline passed.
    TimedOut,
    /// The caller cancelled the call.
    Cancelled,
    /// The server refuses this client: the request was not begun.
    Refused,
    /// The server replied MessageError.
    MessageError,
    /// The received data are not a GIOP message.
    Garbage,
    /// The received message exceeds the limit.
    TooLarge,
}

impl Received {
    /// Whether the server ended the connection.
    pub fn ended_by_peer(self) -> bool {
        matches!(self, Self::Closed | Self::Lost | Self::Refused)
    }

    /// The cause to report for the call, if no other is known.
    pub fn text(self) -> &'static str {
        match self {
            Self::Message(_) => "the reply cannot be understood",
            Self::Closed => "the server closed the connection and had not begun the request",
            Self::Lost => "the connection ended",
            Self::TimedOut => "no reply before the deadline",
            Self::Cancelled => "the caller cancelled the call",
            Self::Refused => "the server refuses this client",
            Self::MessageError => "the server answered MessageError",
            Self::Garbage => "the received data is not a GIOP message",
            Self::TooLarge => "the received message exceeds the limit",
        }
    }
}

impl Connection {
    /// The header and the fields of the next message, if it is a plain reply that has arrived
    /// whole.
    #[inline(always)]
    pub fn plain_reply(&self) -> Option<(MessageHeader, PlainReply)> {
        // On the first check of a call nothing has arrived.
        if !self.giop.is_partial() {
            return None;
        }
        self.giop.next_plain_reply()
    }

    /// Returns a received reply, or receives once. `has_received`: a further receive needs a new
    /// timeout.
    #[inline]
    pub fn receive_some(
        &mut self,
        deadline: Deadline,
        has_received: &mut bool,
    ) -> Option<Received> {
        if self.giop.is_partial() {
            return self.receive_any(deadline, has_received);
        }
        if *has_received && !self.goes_on(deadline) {
            return Some(Received::TimedOut);
        }
        self.receive_once(deadline, has_received)
    }

    /// Processes a partly received message.
    fn receive_any(&mut self, deadline: Deadline, has_received: &mut bool) -> Option<Received> {
        match self.giop.peek() {
            Ok(Some(header))
                if matches!(header.kind, MessageKind::Reply | MessageKind::LocateReply)
                    && !header.more_fragments =>
            {
                Some(Received::Message(header))
            }
            // The timeout was set for one receive, and must not start again for each part of a
            // reply.
            Ok(None) if self.is_cancelled() || *has_received && !self.goes_on(deadline) => {
                Some(Received::TimedOut)
            }
            Ok(None) => self.receive_once(deadline, has_received),
            Ok(Some(_)) | Err(_) => self.other(),
        }
    }

    /// Receives once; returns the reason if the wait ends.
    #[inline(always)]
    fn receive_once(&mut self, deadline: Deadline, has_received: &mut bool) -> Option<Received> {
        if self.shared.is_some() {
            return self.receive_shared(deadline, has_received);
        }
        match self.giop.receive(&*self.stream) {
            Ok(0) => Some(Received::Lost),
            Ok(_) => {
                *has_received = deadline != Deadline::NEVER;
                None
            }
            Err(error) => self.receive_failed(error, deadline),
        }
    }

    /// Receives a whole reply to this call over a shared connection.
    #[cold]
    fn receive_shared(&mut self, deadline: Deadline, has_received: &mut bool) -> Option<Received> {
        match self.shared.as_deref() {
            Some(Shared::Slot(slot)) => {
                let came = slot.receive_reply();
                self.take_from_slot(came, deadline)
            }
            _ => match self.giop.receive(&*self.stream) {
                Ok(0) => Some(Received::Lost),
                Ok(_) => {
                    *has_received = deadline != Deadline::NEVER;
                    // Usually it is an unfragmented reply.
                    if self.giop.is_partial() {
                        None
                    } else {
                        self.other()
                    }
                }
                Err(error) => self.receive_failed(error, deadline),
            },
        }
    }

    /// The reply from the call slot of a multiplexed connection.
    fn take_from_slot(
        &mut self,
        came: io::Result<Result<Whole, End>>,
        deadline: Deadline,
    ) -> Option<Received> {
        let end = match came {
            Ok(Ok(whole)) => match self.giop.put_whole(whole) {
                Some(header) => return Some(Received::Message(header)),
                None => End::Lost,
            },
            Ok(Err(end)) => end,
            Err(error) => return self.receive_failed(error, deadline),
        };
        Some(match end {
            End::Lost => Received::Lost,
            End::Refused => Received::Refused,
            End::Closed => Received::Closed,
            End::MessageError => Received::MessageError,
            End::Violated(violation) => self.fault(violation),
        })
    }

    /// Whether a receive that begins now ends within that time.
    #[inline]
    pub fn receives_within(&self, left: Option<Duration>) -> bool {
        let suits = self.reacts || ticks::is_in_time(self.timeout, left);
        suits && self.cancellation.is_none()
    }

    /// Whether something can be received before the deadline, as far as it has to be checked here:
    /// usually the timeout of the stream suffices.
    pub fn comes_before(&mut self, deadline: Deadline) -> bool {
        let Ok(left) = deadline.remaining() else {
            return false;
        };
        if self.cancellation.is_some() {
            let checks = self.set_timeout(Some(CANCELLATION_PERIOD)).is_ok();
            return checks && (self.giop.is_partial() || self.goes_on(deadline));
        }
        // A thread that waits on the reactor uses no socket timeouts.
        let suits = self.reacts || ticks::is_in_time(self.timeout, left);
        suits || self.giop.is_partial() || self.goes_on(deadline)
    }

    /// Makes receives end early, as at a deadline, once the token is cancelled.
    #[cold]
    pub fn set_cancellation(&mut self, token: Option<&CancellationToken>) {
        self.cancellation = token.cloned();
    }

    fn is_cancelled(&self) -> bool {
        let token = self.cancellation.as_ref();
        token.is_some_and(CancellationToken::is_cancelled)
    }

    /// Bounds the next receive by the time until the deadline; returns whether any remains.
    #[cold]
    fn goes_on(&mut self, deadline: Deadline) -> bool {
        while !self.is_cancelled() {
            let until = CancellationToken::next_check(self.cancellation.as_ref(), deadline);
            if self.reacts || !self.stream.counts_in_ticks() {
                let Ok(left) = until.remaining() else {
                    return false;
                };
                return self.set_timeout(left).is_ok();
            }
            if self.stream.has_buffered() || ticks::comes_before(&*self.stream, until) {
                return true;
            }
            if until == deadline {
                break;
            }
        }
        false
    }

    #[cold]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "dropped here, off the hot path"
    )]
    fn receive_failed(&mut self, error: io::Error, deadline: Deadline) -> Option<Received> {
        let kind = error.kind();
        self.cause = match kind {
            io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                None
            }
            _ => Some(error.to_string()),
        };
        if kind == io::ErrorKind::PermissionDenied {
            orbium_trace::log::warn!(target: "orbium::conn", %error, "refused by the peer");
        }
        match kind {
            io::ErrorKind::PermissionDenied => Some(Received::Refused),
            io::ErrorKind::Interrupted => None,
            io::ErrorKind::WouldBlock if self.reacts => {
                let until = CancellationToken::next_check(self.cancellation.as_ref(), deadline);
                match wait_on_reactor(self.stream.source(), Interest::Read, until) {
                    Ok(()) => None,
                    Err(error) => match error.kind() {
                        io::ErrorKind::TimedOut => {
                            (!self.goes_on(deadline)).then_some(Received::TimedOut)
                        }
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

    /// Processes received data that are not an unfragmented reply.
    #[cold]
    fn other(&mut self) -> Option<Received> {
        match self.giop.next(&Instant::now) {
            Ok(Some(Event::Message(header))) => Some(Received::Message(header)),
            Ok(Some(Event::Close)) => Some(Received::Closed),
            Ok(Some(Event::MessageError)) => Some(Received::MessageError),
            // The rest of a reply to an abandoned request; the other events are of servers.
            Ok(None | Some(Event::Fragment | Event::Cancel(_) | Event::Refused(_))) => None,
            Err(violation) => Some(self.violated(violation)),
        }
    }

    fn violated(&mut self, violation: Violation) -> Received {
        orbium_trace::log::debug!(target: "orbium::wire", %violation, "cannot be read");
        if let Some(answer) = violation.answer() {
            self.say_last(&answer);
        }
        self.fault(violation)
    }

    fn fault(&mut self, violation: Violation) -> Received {
        // Requests are received over bidirectional connections only.
        if matches!(violation, Violation::Unexpected(_)) {
            return Received::Lost;
        }
        self.cause = Some(self.sentence(violation));
        if violation.is_limit() {
            Received::TooLarge
        } else {
            Received::Garbage
        }
    }

    fn sentence(&self, violation: Violation) -> String {
        let limit = Grouped(self.message_limit);
        match violation {
            Violation::Fragment(FragmentError::MessageTooLarge(_)) => {
                format!("reply in fragments of more than {limit} bytes (`limits.message_size`)")
            }
            other => other.to_string(),
        }
    }
}
