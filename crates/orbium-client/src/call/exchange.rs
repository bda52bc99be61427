// SPDX-License-Identifier: MIT OR Apache-2.0
//! One request and its reply.

mod reply;

use std::fmt;
use std::io;
use std::time::Duration;

use orbium_cdr::{CdrError, CdrWriter, Format};
use orbium_channel::framing::TooLarge;
use orbium_giop::{
    BodyStart, Completion, ExceptionKind, MessageHeader, ResponseFlags, ServiceContext,
    SystemException, finish_message, minor,
};
use orbium_invocation::Operation;
use orbium_invocation::story::{Phase, note};

use crate::call::link::Link;
use crate::errors::{broken_invariant, not_trusted};
use crate::reference::Reference;
use orbium_connection::Connection;
use orbium_connection::outcome::{Outcome, raised};
use orbium_invocation::exceptions::deadline_passed;
use orbium_invocation::timing::Timing;
use orbium_sync::role;

/// The answer received by an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The results; or the oneway was sent.
    Results,
    /// The results, in a reply that may have service contexts.
    Extended,
    /// A user exception.
    UserException,
    /// None: see [`Exchange::outcome`].
    None,
}

/// A request in progress, and then its reply.
pub struct Exchange<'a, 'b> {
    writer: CdrWriter<'a>,
    start: BodyStart,
    link: Link<'b>,
    object: &'b Reference,
    timing: &'b Timing,
    oneway: bool,
    request_id: u32,
    /// The reply: its header, and the offset of its body.
    reply: Option<(MessageHeader, usize)>,
    /// Its bytes, if it was made within the process.
    octets: Option<Vec<u8>>,
    outcome: Option<Outcome>,
}

impl Drop for Exchange<'_, '_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.give_back();
    }
}

impl Exchange<'_, '_> {
    /// Ends an exchange that was answered and read. It owns nothing then, and is forgotten:
    /// dropping it takes a copy and a call.
    #[inline(always)]
    pub(crate) fn finish(&mut self) {
        debug_assert!(self.outcome.is_none(), "an exchange without an answer");
        debug_assert!(self.writer.is_empty(), "a request that was not sent");
        self.give_back();
        self.link.release();
        if self.octets.is_some() {
            self.octets = None;
        }
    }

    /// Returns the reply, or the written request, to the connection.
    #[inline(always)]
    fn give_back(&mut self) {
        if let Some(connection) = &mut self.link.connection {
            match (&self.reply, &self.octets) {
                (Some((header, _)), None) => connection.consume(header),
                // If it was never sent, the writer still has the buffer.
                _ => connection.put_back(self.writer.take_storage()),
            }
        }
    }
}

fn orbium(kind: ExceptionKind, code: u32, completed: Completion) -> SystemException {
    SystemException::orbium(kind, code, completed)
}

impl<'a, 'b> Exchange<'a, 'b> {
    /// An exchange without any request data yet.
    #[inline(always)]
    pub fn new(
        object: &'b Reference,
        timing: &'b Timing,
        oneway: bool,
        mut link: Link<'b>,
    ) -> Self {
        let (storage, request_id) = match &mut link.connection {
            Some(connection) => (connection.take_storage(), connection.next_id()),
            None => (Vec::new(), 0),
        };
        Self {
            writer: CdrWriter::reuse(storage, link.candidate.format()),
            start: BodyStart::default(),
            link,
            object,
            timing,
            oneway,
            request_id,
            reply: None,
            octets: None,
            outcome: None,
        }
    }

    /// Writes the request header. Not by `new`: its return value would then be moved, and a writer
    /// is large.
    // Once for all stubs.
    #[inline(never)]
    pub fn begin(&mut self, operation: &'static Operation) {
        let candidate = self.link.candidate;
        let connection = &mut self.link.connection;
        let introduction = match connection {
            Some(connection) => connection.introduction,
            None => {
                self.writer = CdrWriter::new(candidate.format());
                None
            }
        };
        self.start = candidate.begin_request(
            &mut self.writer,
            self.request_id,
            operation,
            introduction,
            self.timing,
            || connection.as_mut()?.numbers(),
        );
    }

    /// As `begin`, with service contexts in addition to those of the ORB.
    #[cold]
    pub fn begin_with(
        &mut self,
        operation: &'static Operation,
        response: ResponseFlags,
        contexts: &[ServiceContext<'_>],
    ) {
        let candidate = self.link.candidate;
        let introduction = match &self.link.connection {
            Some(connection) => connection.introduction,
            None => {
                self.writer = CdrWriter::new(candidate.format());
                None
            }
        };
        self.start = candidate.begin_request_with(
            &mut self.writer,
            (self.request_id, response),
            operation,
            introduction,
            self.timing,
            contexts,
        );
    }

    /// The id of the request; 0 for a collocated call.
    pub fn request_id(&self) -> u32 {
        self.request_id
    }

    /// The outcome of an exchange without a readable answer.
    #[cold]
    // Out of the plain exchange, which it takes registers from.
    #[inline(never)]
    pub fn outcome(&mut self) -> Outcome {
        self.outcome
            .take()
            .unwrap_or(Outcome::Failed(broken_invariant()))
    }

    #[cold]
    fn end(&mut self, outcome: Outcome) -> Answer {
        self.outcome = Some(outcome);
        Answer::None
    }

    /// Releases the connection: interceptors may use it; the reply is not read any further.
    #[cold]
    pub(crate) fn release(&mut self) {
        self.give_back();
        self.link.release();
    }

    /// Gives the connection up, whether or not data were received.
    #[cold]
    pub(crate) fn abandon(mut self) {
        self.link.give_up();
    }

    /// The writer of the arguments.
    #[inline]
    pub fn writer(&mut self) -> &mut CdrWriter<'a> {
        &mut self.writer
    }

    /// Sends the request and waits for the reply, if one is expected.
    #[inline(always)]
    pub fn perform(&mut self) -> Answer {
        finish_message(&mut self.writer, self.start);
        if let Some(error) = self.writer.error() {
            return self.unwritable(error);
        }
        if self.oneway {
            return self.perform_oneway();
        }
        let Some(connection) = &mut self.link.connection else {
            return self.perform_locally();
        };
        orbium_trace::probe!(MessagingSend);
        match send(connection, &mut self.writer, self.link.timeout, self.timing) {
            Ok(serves) if serves | self.timing.is_timed => self.receive_timed(serves),
            Ok(_) => self.receive(false),
            Err(failure) => self.not_sent(failure),
        }
    }

    /// Sends a oneway; does not block the thread of a servant while the send buffer has space.
    fn perform_oneway(&mut self) -> Answer {
        let Some(connection) = &mut self.link.connection else {
            return self.perform_locally();
        };
        orbium_trace::probe!(MessagingSend);
        let timeout = self.link.timeout;
        let sent = if role::is_set() {
            send_without_waiting(connection, &mut self.writer, timeout, self.timing)
        } else {
            send(connection, &mut self.writer, timeout, self.timing)
        };
        match sent {
            Ok(_) if self.timing.is_timed => self.sent_in_time(),
            Ok(_) => Answer::Results,
            Err(failure) => self.not_sent(failure),
        }
    }

    /// The answer to a oneway with a deadline, of which a shared connection may have sent a part.
    #[cold]
    fn sent_in_time(&mut self) -> Answer {
        let connection = self.link.connection.as_ref();
        if !connection.is_some_and(|connection| connection.has_left_rest()) {
            return Answer::Results;
        }
        self.note(Phase::Send, &"the oneway could not be sent whole in time");
        self.end(Outcome::Failed(SystemException {
            completed: Completion::Maybe,
            ..deadline_passed()
        }))
    }

    /// Ends the exchange: the arguments cannot be sent.
    #[cold]
    // Out of the plain exchange, which it takes registers from.
    #[inline(never)]
    fn unwritable(&mut self, error: CdrError) -> Answer {
        self.note(
            Phase::Send,
            &format_args!("the arguments cannot be written: {error}"),
        );
        let exception = self.link.candidate.bad_argument(error);
        self.end(if self.link.candidate.lacks_code_sets(error.kind) {
            Outcome::Unwritable(exception)
        } else {
            Outcome::Failed(exception)
        })
    }

    /// Records a step in the story of the call.
    #[cold]
    // Out of the plain exchange, which it takes registers from.
    #[inline(never)]
    pub(crate) fn note(&self, phase: Phase, what: &dyn fmt::Display) {
        note(phase, self.link.candidate.channel(), what);
    }

    /// Ends the exchange: the message was not sent completely, so the server cannot have begun. The
    /// connection is given up, unless sending has not begun.
    #[cold]
    // Out of the plain exchange, which it takes registers from.
    #[inline(never)]
    fn not_sent(&mut self, failure: SendFailure) -> Answer {
        let outcome = match failure {
            SendFailure::TooLarge { size, limit } => {
                let noun = "request";
                self.note(Phase::Send, &TooLarge { noun, size, limit });
                Outcome::Failed(orbium(
                    ExceptionKind::Marshal,
                    minor::MESSAGE_TOO_LARGE,
                    Completion::No,
                ))
            }
            SendFailure::NoTime => self.late(),
            SendFailure::System(error) => {
                self.link.give_up();
                self.outcome_of_sending(&error)
            }
        };
        self.end(outcome)
    }

    /// The outcome after a failed send.
    fn outcome_of_sending(&self, error: &io::Error) -> Outcome {
        match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => self.late(),
            io::ErrorKind::PermissionDenied => {
                self.note(Phase::Tls, error);
                Outcome::Failed(not_trusted())
            }
            _ => {
                self.note(Phase::Send, error);
                Outcome::NotBegun(orbium(
                    ExceptionKind::CommFailure,
                    minor::SEND_FAILED,
                    Completion::No,
                ))
            }
        }
    }

    /// The outcome of a request without enough time to send it.
    fn late(&self) -> Outcome {
        self.note(Phase::Send, &"the request could not be sent in time");
        Outcome::Failed(deadline_passed())
    }

    /// Performs the request within the ORB, on the calling thread or the main one. A deadline that
    /// has already passed is detected first; a running servant cannot be stopped, so on the calling
    /// thread a deadline that passes during the upcall is detected when it returns. A oneway has
    /// then arrived, and succeeds.
    #[cold]
    fn perform_locally(&mut self) -> Answer {
        if self.timing.sending.has_passed() {
            self.note(Phase::Send, &"the deadline had passed");
            return self.end(Outcome::Failed(deadline_passed()));
        }
        let message = std::mem::replace(&mut self.writer, CdrWriter::new(Format::native()));
        let Ok(message) = message.finish() else {
            return self.end(Outcome::Failed(broken_invariant()));
        };
        let negotiated = self.link.candidate.negotiated;
        let until = if self.oneway {
            self.timing.sending
        } else {
            self.timing.reply
        };
        let token = self.object.overrides().cancellation.as_ref();
        let orb = self.object.orb();
        let performed = orb.perform(message, negotiated, until, token);
        if !self.oneway
            && self.timing.is_timed
            && performed.is_ok()
            && let Err(late) = self.timing.await_reply_start()
        {
            self.note(Phase::Wait, &"the servant returned after the deadline");
            return self.end(Outcome::Failed(late));
        }
        match performed {
            Ok(None) => Answer::Results,
            Ok(Some((header, body, status, octets))) => {
                self.reply = Some((header, body));
                self.octets = Some(octets);
                let answer = self.interpret(status);
                self.extended(answer)
            }
            Err(exception) => {
                self.note(Phase::Wait, &raised(exception));
                self.end(Outcome::Failed(exception))
            }
        }
    }
}

enum SendFailure {
    /// Sending has not begun.
    TooLarge {
        size: usize,
        limit: usize,
    },
    /// Sending has not begun: no time is left.
    NoTime,
    System(io::Error),
}

/// Sends the request; the buffer is returned to the connection. Returns whether the thread serves a
/// queue until the reply has arrived.
#[inline]
fn send(
    connection: &mut Connection,
    writer: &mut CdrWriter<'_>,
    timeout: Option<Duration>,
    timing: &Timing,
) -> Result<bool, SendFailure> {
    if writer.len() > connection.message_limit() {
        return Err(SendFailure::TooLarge {
            size: writer.len(),
            limit: connection.message_limit(),
        });
    }
    let serves = connection.about_to_wait();
    if let Err(error) = connection.set_timeout(timeout) {
        return Err(no_timeout(error, timeout));
    }
    let sent = connection.send(writer, timing.sending);
    connection.put_storage(writer.take_storage());
    sent.map(|()| serves).map_err(SendFailure::System)
}

/// As `send`, for a oneway of a servant: its thread hands off its role only if it has to wait for
/// buffer space.
#[cold]
fn send_without_waiting(
    connection: &mut Connection,
    writer: &mut CdrWriter<'_>,
    timeout: Option<Duration>,
    timing: &Timing,
) -> Result<bool, SendFailure> {
    if timeout == Some(Duration::ZERO) || writer.len() > connection.message_limit() {
        return send(connection, writer, timeout, timing);
    }
    let sent = connection.send_at_once(writer);
    let sent = sent.map_err(SendFailure::System)?;
    if sent == 0 {
        return send(connection, writer, timeout, timing);
    }
    if sent < writer.len() {
        connection.about_to_wait();
        let set = connection.set_timeout(timeout);
        set.map_err(|error| no_timeout(error, timeout))?;
        let rest = connection.send_rest(writer, sent, timing.sending);
        rest.map_err(SendFailure::System)?;
    }
    connection.put_storage(writer.take_storage());
    Ok(false)
}

/// The failure if a time-out could not be set on a connection.
#[cold]
// Out of the plain exchange, which it takes registers from.
#[inline(never)]
fn no_timeout(error: io::Error, timeout: Option<Duration>) -> SendFailure {
    match timeout {
        Some(Duration::ZERO) => SendFailure::NoTime,
        _ => SendFailure::System(error),
    }
}
