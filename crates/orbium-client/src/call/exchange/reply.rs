// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receiving and reading the reply to a request.

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader, Format};
use orbium_channel::peer_memory::{NoMemory, copied};
use orbium_giop::{
    Completion, ExceptionKind, MessageHeader, MessageKind, PlainReply, ReplyHeader, ReplyStatus,
    SystemException, minor,
};
use orbium_interceptor::ContextList;
use orbium_invocation::call_cancelled;
use orbium_invocation::raises::ExceptionId;
use orbium_invocation::story::{Phase, unreadable};

use super::{Answer, Exchange, orbium};
use crate::call::received_reply::ReceivedReply;
use crate::errors::{broken_invariant, not_trusted};
use orbium_connection::Received;
use orbium_connection::outcome::{Outcome, contexts_of, outcome_of, raised_as, read_answer};
use orbium_invocation::typed_reply::ReplyReader;

impl Exchange<'_, '_> {
    /// The answer in a reply that may have service contexts.
    #[inline]
    pub(super) fn extended(&self, answer: Answer) -> Answer {
        match answer {
            Answer::Results if self.has_reply_contexts() => Answer::Extended,
            answer => answer,
        }
    }

    /// Receives a reply with a deadline or a start time, or for a thread that serves a queue.
    #[cold]
    // Out of the plain exchange, which it takes registers from.
    #[inline(never)]
    pub(super) fn receive_timed(&mut self, serves: bool) -> Answer {
        let is_cancellable = self.object.overrides().cancellation.is_some();
        if is_cancellable {
            self.observe_cancellation(true);
        }
        let answer = self.receive_before_the_deadline(serves);
        if is_cancellable {
            self.observe_cancellation(false);
        }
        // Only a final reply is delayed until its start time: not a forward, nor a oneway.
        let is_over = matches!(self.outcome, None | Some(Outcome::Failed(_)));
        if self.reply.is_none() || !is_over {
            return answer;
        }
        let in_time = match self.timing.reply_start {
            None => self.timing.check_reply(),
            Some(_) => self.timing.await_reply_start(),
        };
        match in_time {
            Ok(()) => answer,
            Err(late) => {
                self.note(Phase::Wait, &"the reply came after the deadline");
                self.end(Outcome::Failed(late))
            }
        }
    }

    /// Starts or stops ending the wait when the caller cancels the call.
    #[cold]
    // Out of the plain exchange, which it takes registers from.
    #[inline(never)]
    fn observe_cancellation(&mut self, begins: bool) {
        let token = self.object.overrides().cancellation.as_ref();
        if let Some(connection) = &mut self.link.connection {
            connection.set_cancellation(token.filter(|_| begins));
        }
    }

    #[inline]
    fn receive_before_the_deadline(&mut self, serves: bool) -> Answer {
        if let Some(connection) = &mut self.link.connection
            && !(self.timing.is_new() && connection.receives_within(self.timing.timeout))
            && !connection.comes_before(self.timing.reply)
        {
            return self.no_reply(Received::TimedOut);
        }
        self.receive(serves)
    }

    /// Whether replies to other requests were received until the deadline, or until the caller
    /// cancelled the call.
    #[cold]
    fn is_given_up(&self) -> bool {
        self.timing.reply.has_passed() || self.object.is_cancelled()
    }

    #[inline]
    pub(super) fn receive(&mut self, serves: bool) -> Answer {
        let mut has_received = false;
        loop {
            let Some(connection) = &mut self.link.connection else {
                return self.end(Outcome::Failed(broken_invariant()));
            };
            let Some((header, reply)) = connection.plain_reply() else {
                let until = self.timing.reply;
                let received = if serves {
                    self.link.receive_some_aside(until, &mut has_received)
                } else {
                    connection.receive_some(until, &mut has_received)
                };
                if let Some(received) = received
                    && let Some(answer) = self.take_unusual(received)
                {
                    return answer;
                }
                continue;
            };
            orbium_trace::probe!(TransportReceive);
            if reply.request_id == self.request_id {
                return self.answered(header, reply);
            }
            connection.consume(&header);
            if self.is_given_up() {
                return self.no_reply(Received::TimedOut);
            }
        }
    }

    #[inline(always)]
    fn answered(&mut self, header: MessageHeader, reply: PlainReply) -> Answer {
        if let Some(connection) = &mut self.link.connection {
            connection.introduction = None;
        }
        self.reply = Some((header, reply.body));
        orbium_trace::probe!(MessagingReceive);
        self.interpret(reply.status)
    }

    /// Handles an answer that is not a plain reply in the buffer of the connection; `None` to
    /// continue receiving.
    // Out of the plain exchange, which it takes registers from.
    #[inline(never)]
    fn take_unusual(&mut self, received: Received) -> Option<Answer> {
        let (Received::Message(header), Some(connection)) = (received, &mut self.link.connection)
        else {
            return Some(self.no_reply(received));
        };
        let (message, seams) = connection.message_with_seams(&header);
        let reply = match ReplyHeader::plain(&header, message) {
            Some(reply) => Some(reply),
            None => {
                let (reply, said) = read_answer(&header, message, seams);
                if let Some(said) = said {
                    connection.note(said);
                }
                reply
            }
        };
        match reply {
            Some(reply) if reply.request_id == self.request_id => {
                let answer = self.answered(header, reply);
                Some(self.extended(answer))
            }
            None if header.kind == MessageKind::Reply => Some(self.no_reply(received)),
            // A late reply, or an answer to another LocateRequest. Any number of them must not
            // delay this call beyond its deadline.
            _ => {
                connection.consume(&header);
                let is_over = self.is_given_up();
                is_over.then(|| self.no_reply(Received::TimedOut))
            }
        }
    }

    /// Ends the exchange without a valid reply.
    #[cold]
    // Out of the plain exchange, which it takes registers from.
    #[inline(never)]
    fn no_reply(&mut self, received: Received) -> Answer {
        let received = match received {
            Received::TimedOut if self.object.is_cancelled() => Received::Cancelled,
            other => other,
        };
        let connection = self.link.connection.as_mut();
        let cause = connection.and_then(|connection| connection.take_cause());
        let phase = match received {
            Received::Refused => Phase::Tls,
            _ => Phase::Wait,
        };
        match &cause {
            Some(cause) => self.note(phase, cause),
            None => self.note(phase, &received.text()),
        }
        if let (Received::TimedOut | Received::Cancelled, Some(connection)) =
            (received, &self.link.connection)
            && self.link.candidate.is_cancelled
        {
            connection.cancel(self.link.candidate.version, self.request_id);
        }
        if let (false, Some(connection)) = (received.ended_by_peer(), &self.link.connection) {
            connection.note_error();
        }
        match received {
            // Other connections may work.
            Received::TimedOut | Received::Cancelled | Received::TooLarge => self.link.abandon(),
            _ => self.link.give_up(),
        }
        let (kind, code) = match received {
            Received::Closed => {
                return self.end(Outcome::NotBegun(orbium(
                    ExceptionKind::Transient,
                    minor::CONNECTION_CLOSED,
                    Completion::No,
                )));
            }
            Received::Refused => return self.end(Outcome::Failed(not_trusted())),
            Received::Cancelled => {
                return self.end(Outcome::Failed(call_cancelled(Completion::Maybe)));
            }
            Received::TimedOut => (ExceptionKind::Timeout, minor::DEADLINE_PASSED),
            Received::MessageError => (ExceptionKind::CommFailure, minor::MESSAGE_ERROR),
            Received::Garbage => (ExceptionKind::CommFailure, minor::PROTOCOL_ERROR),
            Received::TooLarge => (ExceptionKind::Marshal, minor::MESSAGE_TOO_LARGE),
            Received::Lost => {
                return self.end(Outcome::Lost(orbium(
                    ExceptionKind::CommFailure,
                    minor::CONNECTION_LOST,
                    Completion::Maybe,
                )));
            }
            Received::Message(_) => (ExceptionKind::CommFailure, minor::CONNECTION_LOST),
        };
        self.end(Outcome::Failed(orbium(kind, code, Completion::Maybe)))
    }

    #[inline]
    pub(super) fn interpret(&mut self, status: ReplyStatus) -> Answer {
        match status {
            ReplyStatus::NoException => Answer::Results,
            ReplyStatus::UserException => Answer::UserException,
            other => self.interpret_other(other),
        }
    }

    #[cold]
    fn interpret_other(&mut self, status: ReplyStatus) -> Answer {
        let mut outcome = Outcome::malformed();
        // If the body cannot be read, the default remains.
        let _ = self.read(|reader| {
            outcome = outcome_of(status, reader)?;
            Ok(())
        });
        self.note(Phase::Wait, &outcome.text());
        self.end(outcome)
    }

    /// Reads the body of the reply. The reader is created where it is used: returning one costs a
    /// call 28 instructions.
    #[inline]
    fn read<T>(
        &mut self,
        read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<T, CdrError> {
        let Some((header, body)) = self.reply else {
            return Err(CdrError::new(CdrErrorKind::Truncated, 0));
        };
        let (message, seams) = match (&mut self.octets, &mut self.link.connection) {
            (Some(octets), _) => (octets.as_mut_slice(), [].as_slice()),
            (None, Some(connection)) => connection.message_with_seams(&header),
            (None, None) => return Err(CdrError::new(CdrErrorKind::Truncated, 0)),
        };
        let format = Format {
            minor: header.format().minor,
            ..self.link.candidate.format().with_order(header.order)
        };
        let mut reader = CdrReader::at(&mut message[body..], body, format);
        reader.set_fragment_boundaries(seams);
        self.object.client().decoding().apply(&mut reader);
        read(&mut reader)
    }

    /// Whether the reply has service contexts; except in a plain form, it may.
    #[inline]
    pub(crate) fn has_reply_contexts(&self) -> bool {
        !matches!(self.reply, None | Some((_, PlainReply::BODY)))
    }

    /// The service contexts of the reply, if any.
    #[inline]
    pub(crate) fn reply_contexts(&mut self) -> ContextList {
        match self.reply {
            Some((header, _)) if self.has_reply_contexts() => self.some_reply_contexts(header),
            _ => ContextList::default(),
        }
    }

    #[cold]
    fn some_reply_contexts(&mut self, header: MessageHeader) -> ContextList {
        match (&mut self.octets, &mut self.link.connection) {
            (Some(octets), _) => contexts_of(&header, octets, &[]),
            (None, Some(connection)) => {
                let (message, seams) = connection.message_with_seams(&header);
                contexts_of(&header, message, seams)
            }
            (None, None) => ContextList::default(),
        }
    }

    /// The raw reply, for later unmarshalling.
    pub fn take_reply(&mut self, status: ReplyStatus) -> Result<ReceivedReply, SystemException> {
        let format = self.link.candidate.format();
        let (header, body) = self.reply.ok_or_else(broken_invariant)?;
        let (message, seams) = match (&mut self.octets, &mut self.link.connection) {
            (Some(octets), _) => (octets.as_mut_slice(), [].as_slice()),
            (None, Some(connection)) => connection.message_with_seams(&header),
            (None, None) => return Err(broken_invariant()),
        };
        let budget = self.object.client().budget();
        let (octets, charge) = copied(message, Vec::new(), budget).map_err(|NoMemory| {
            budget.count_refused();
            NoMemory::exception(Completion::Yes)
        })?;
        let seams = seams.to_vec();
        Ok(ReceivedReply {
            header,
            status,
            body,
            octets,
            seams,
            charge,
            format,
        })
    }

    /// Reads the results.
    #[inline(always)]
    pub(crate) fn results<T>(
        &mut self,
        read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<T, SystemException> {
        let results = self.read(read);
        orbium_trace::probe!(Unmarshal);
        results.map_err(|error| self.unreadable(error))
    }

    /// The exception for results that cannot be read.
    #[cold]
    // Out of the plain exchange, which it takes registers from.
    #[inline(never)]
    fn unreadable(&self, error: CdrError) -> SystemException {
        self.note(Phase::Decode, &unreadable(error));
        SystemException::from_cdr(error, Completion::Yes)
    }

    /// Reads the user exception.
    ///
    /// # Errors
    /// The exception raised instead if it cannot be read.
    #[cold]
    pub(crate) fn user_exception(
        &mut self,
        reply: &mut dyn ReplyReader,
    ) -> Result<ExceptionId, SystemException> {
        let read = self.read(|reader| {
            let id = reader.read_owned_name()?;
            reply.read_exception(&id, reader)
        });
        raised_as(read).inspect_err(|exception| self.note(Phase::Decode, exception))
    }
}
