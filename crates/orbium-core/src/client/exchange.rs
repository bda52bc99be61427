// SPDX-License-Identifier: MIT OR Apache-2.0
//! One request and its reply.

use std::sync::Arc;
use std::time::Duration;

use orbium_cdr::{ByteOrder, CdrError, CdrErrorKind, CdrReader, CdrWriter, Decode, Format};
use orbium_giop::{
    AddressingDisposition, BodyStart, Completion, ExceptionKind, HEADER_LEN, Ior, MessageHeader,
    MessageKind, ReplyHeader, ReplyStatus, ResponseFlags, ServiceContext, SystemException,
    SystemExceptionBody, finish_message, minor, service_context,
};
use orbium_sync::role;
use orbium_transport::Deadline;

use crate::Orb;
use crate::client::binding::{Candidate, Route};
use crate::client::connection::{Connection, Received};
use crate::client::pool::Pool;
use crate::local;
use crate::raises::Raises;
use crate::{Operation, client::attempt::Timing};

/// How an exchange ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The results are there to be read; or the oneway was sent.
    Results,
    /// A user exception is there to be read.
    UserException,
    /// The object is elsewhere.
    Forward(Box<Ior>),
    /// The server wants the object addressed in another way.
    Readdress(AddressingDisposition),
    /// The server had not begun: the request may be sent again.
    NotBegun(SystemException),
    /// Nothing more can be done.
    Failed(SystemException),
}

/// A request being made, and then its reply.
pub(crate) struct Exchange<'a, 'b> {
    writer: CdrWriter<'a>,
    start: BodyStart,
    link: Link<'b>,
    orb: &'b Orb,
    candidate: &'b Candidate,
    timing: Timing,
    oneway: bool,
    request_id: u32,
    /// The reply: its header, and where its body starts.
    reply: Option<(MessageHeader, usize)>,
    /// Its octets, if they are not in the connection's buffer.
    octets: Option<Vec<u8>>,
}

enum Link<'b> {
    Remote {
        pool: &'b Arc<Pool>,
        /// `None` once it must not be used again.
        connection: Option<Box<Connection>>,
    },
    Local,
}

impl Drop for Exchange<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        if let Link::Remote { pool, connection } = &mut self.link {
            match connection.take() {
                Some(mut connection) => {
                    match (&self.reply, &self.octets) {
                        (Some((header, _)), None) => connection.consume(header),
                        // Never sent: the buffer is still with the writer.
                        (None, None) if !self.oneway => {
                            connection.put_storage(self.writer.take_storage());
                        }
                        _ => {}
                    }
                    pool.release(connection);
                }
                None => pool.discard(),
            }
        }
    }
}

fn orbium(kind: ExceptionKind, code: u32, completed: Completion) -> SystemException {
    SystemException::orbium(kind, code, completed)
}

/// The exception for arguments that cannot be sent: what the caller gave is
/// wrong, not what came from the wire.
#[cold]
fn bad_argument(error: CdrError) -> SystemException {
    let exception = SystemException::from_cdr(error, Completion::No);
    match error.kind {
        CdrErrorKind::BoundExceeded
        | CdrErrorKind::BadString
        | CdrErrorKind::BadDiscriminator
        | CdrErrorKind::BadEnumerator => {
            SystemException::new(ExceptionKind::BadParam, exception.minor, Completion::No)
        }
        _ => exception,
    }
}

impl<'a, 'b> Exchange<'a, 'b> {
    /// Takes a connection and writes the request header.
    #[inline]
    pub(crate) fn begin(
        orb: &'b Orb,
        candidate: &'b Candidate,
        operation: &'static Operation,
        timing: Timing,
    ) -> Result<Self, SystemException> {
        let format = Format {
            order: ByteOrder::NATIVE,
            minor: candidate.version.minor,
            char_set: candidate.negotiated.char_set,
            wide_set: candidate.negotiated.wide_set,
        };
        let response = if operation.oneway {
            ResponseFlags::None
        } else {
            ResponseFlags::Full
        };
        let (link, mut writer, request_id, introduction) = match &candidate.route {
            Route::Remote(pool) => {
                let mut connection = pool.acquire(timing.deadline)?;
                let writer = CdrWriter::reuse(connection.take_storage(), format);
                let id = connection.next_id();
                let introduction = connection.introduction;
                (
                    Link::Remote {
                        pool,
                        connection: Some(connection),
                    },
                    writer,
                    id,
                    introduction,
                )
            }
            Route::Local => (Link::Local, CdrWriter::new(format), 0, None),
        };
        let template = candidate.template();
        let start = match introduction {
            None => template.begin(&mut writer, request_id, response, operation.name, &[]),
            Some(negotiated) => {
                let data = negotiated.context().encode();
                let context = ServiceContext {
                    id: service_context::CODE_SETS,
                    data: &data,
                };
                template.begin(
                    &mut writer,
                    request_id,
                    response,
                    operation.name,
                    &[context],
                )
            }
        };
        Ok(Self {
            writer,
            start,
            link,
            orb,
            candidate,
            timing,
            oneway: operation.oneway,
            request_id,
            reply: None,
            octets: None,
        })
    }

    /// Where the arguments go.
    #[inline]
    pub(crate) fn writer(&mut self) -> &mut CdrWriter<'a> {
        &mut self.writer
    }

    /// Sends the request and waits for the reply, if there is to be one.
    #[inline]
    pub(crate) fn perform(&mut self) -> Outcome {
        finish_message(&mut self.writer, self.start);
        if let Some(error) = self.writer.error() {
            return Outcome::Failed(bad_argument(error));
        }
        let sent = match &mut self.link {
            Link::Local => return self.perform_locally(),
            Link::Remote { connection, .. } => match connection {
                Some(connection) => send(connection, &mut self.writer, &self.timing),
                None => return Outcome::Failed(broken_invariant()),
            },
        };
        match sent {
            Ok(()) if self.oneway => Outcome::Results,
            Ok(()) => self.receive(),
            Err(failure) => self.not_sent(failure),
        }
    }

    /// The message did not go out whole, so the server cannot have begun.
    #[cold]
    fn not_sent(&mut self, failure: SendFailure) -> Outcome {
        self.drop_connection();
        match failure {
            SendFailure::TooLarge => Outcome::Failed(orbium(
                ExceptionKind::Marshal,
                minor::MESSAGE_TOO_LARGE,
                Completion::No,
            )),
            SendFailure::TimedOut => Outcome::Failed(orbium(
                ExceptionKind::Timeout,
                minor::DEADLINE_PASSED,
                Completion::No,
            )),
            SendFailure::Lost => Outcome::NotBegun(orbium(
                ExceptionKind::CommFailure,
                minor::SEND_FAILED,
                Completion::No,
            )),
        }
    }

    fn drop_connection(&mut self) {
        if let Link::Remote { connection, .. } = &mut self.link {
            *connection = None;
        }
    }

    #[inline]
    fn receive(&mut self) -> Outcome {
        let Link::Remote {
            connection: Some(connection),
            ..
        } = &mut self.link
        else {
            return Outcome::Failed(broken_invariant());
        };
        loop {
            let (header, mut octets) = match connection.receive(self.timing.deadline) {
                Received::Framed(header) => (header, None),
                Received::Assembled(header, octets) => (header, Some(octets)),
                other => return self.no_reply(&other),
            };
            let message = match &mut octets {
                Some(octets) => octets.as_mut_slice(),
                None => connection.message(&header),
            };
            let mut reader = header.reader(&mut message[HEADER_LEN..]);
            let answer = ReplyHeader::read(&mut reader, header.format().minor)
                .map(|answer| (answer.request_id, answer.status));
            let body = reader.position();
            match answer {
                Ok((id, status)) if id == self.request_id && header.kind == MessageKind::Reply => {
                    connection.introduction = None;
                    self.reply = Some((header, body));
                    self.octets = octets;
                    return self.interpret(status);
                }
                Ok(_) => {
                    // A reply that came too late for its call.
                    if octets.is_none() {
                        connection.consume(&header);
                    }
                }
                Err(_) => return self.no_reply(&Received::Lost),
            }
        }
    }

    /// No reply came, or none that can be understood.
    #[cold]
    fn no_reply(&mut self, received: &Received) -> Outcome {
        if let (
            Received::TimedOut,
            Link::Remote {
                connection: Some(connection),
                ..
            },
        ) = (received, &self.link)
        {
            connection.cancel(self.candidate.version, self.request_id);
        }
        self.drop_connection();
        let (kind, code) = match received {
            Received::Closed => {
                return Outcome::NotBegun(orbium(
                    ExceptionKind::Transient,
                    minor::CONNECTION_CLOSED,
                    Completion::No,
                ));
            }
            Received::TimedOut => (ExceptionKind::Timeout, minor::DEADLINE_PASSED),
            Received::MessageError => (ExceptionKind::CommFailure, minor::MESSAGE_ERROR),
            Received::Garbage => (ExceptionKind::CommFailure, minor::PROTOCOL_ERROR),
            Received::Lost | Received::Framed(_) | Received::Assembled(..) => {
                (ExceptionKind::CommFailure, minor::CONNECTION_LOST)
            }
        };
        Outcome::Failed(orbium(kind, code, Completion::Maybe))
    }

    #[cold]
    fn perform_locally(&mut self) -> Outcome {
        let message = std::mem::replace(&mut self.writer, CdrWriter::new(Format::native()));
        let Ok(message) = message.finish() else {
            return Outcome::Failed(broken_invariant());
        };
        let negotiated = self.candidate.negotiated;
        match local::perform(self.orb, message, negotiated) {
            Ok(None) => Outcome::Results,
            Ok(Some((header, body, status, octets))) => {
                self.reply = Some((header, body));
                self.octets = Some(octets);
                self.interpret(status)
            }
            Err(exception) => Outcome::Failed(exception),
        }
    }

    #[inline]
    fn interpret(&mut self, status: ReplyStatus) -> Outcome {
        match status {
            ReplyStatus::NoException => Outcome::Results,
            ReplyStatus::UserException => Outcome::UserException,
            other => self.interpret_other(other),
        }
    }

    #[cold]
    fn interpret_other(&mut self, status: ReplyStatus) -> Outcome {
        let outcome = self.read(|reader| match status {
            ReplyStatus::SystemException => {
                let body = SystemExceptionBody::read(reader)?;
                Ok(Outcome::Failed(body.exception()))
            }
            ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => {
                Ok(Outcome::Forward(Box::new(Ior::decode(reader)?)))
            }
            ReplyStatus::NeedsAddressingMode => {
                let wanted = AddressingDisposition::from_number(reader.read_u16()?)
                    .ok_or_else(|| reader.error(CdrErrorKind::BadDiscriminator))?;
                Ok(Outcome::Readdress(wanted))
            }
            ReplyStatus::NoException | ReplyStatus::UserException => Ok(Outcome::Results),
        });
        outcome.unwrap_or_else(|_| {
            Outcome::Failed(orbium(
                ExceptionKind::Marshal,
                minor::REPLY_MALFORMED,
                Completion::Maybe,
            ))
        })
    }

    /// Reads the body of the reply.
    #[inline]
    fn read<T>(
        &mut self,
        read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<T, CdrError> {
        let Some((header, body)) = self.reply else {
            return Err(CdrError::new(CdrErrorKind::Truncated, 0));
        };
        let message = match (&mut self.octets, &mut self.link) {
            (Some(octets), _) => octets.as_mut_slice(),
            (
                None,
                Link::Remote {
                    connection: Some(connection),
                    ..
                },
            ) => connection.message(&header),
            _ => return Err(CdrError::new(CdrErrorKind::Truncated, 0)),
        };
        let format = Format {
            order: header.order,
            minor: header.format().minor,
            char_set: self.candidate.negotiated.char_set,
            wide_set: self.candidate.negotiated.wide_set,
        };
        let mut reader =
            CdrReader::at(&mut message[body..], body, format).with_owner(Some(self.orb.owner()));
        read(&mut reader)
    }

    /// Reads the results.
    #[inline]
    pub(crate) fn results<T>(
        mut self,
        read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<T, SystemException> {
        self.read(read)
            .map_err(|error| SystemException::from_cdr(error, Completion::Yes))
    }

    /// Reads the user exception.
    #[cold]
    pub(crate) fn user_exception<E: Raises>(mut self) -> E {
        let raised = self.read(|reader| {
            let id = reader.read_name()?.to_owned();
            E::decode_raised(&id, reader).transpose()
        });
        match raised {
            Ok(Some(exception)) => exception,
            Ok(None) => SystemException::omg(ExceptionKind::Unknown, 1, Completion::Maybe).into(),
            Err(error) => SystemException::from_cdr(error, Completion::Yes).into(),
        }
    }
}

enum SendFailure {
    TooLarge,
    TimedOut,
    Lost,
}

/// Sends the request; the buffer goes back to the connection.
#[inline]
fn send(
    connection: &mut Connection,
    writer: &mut CdrWriter<'_>,
    timing: &Timing,
) -> Result<(), SendFailure> {
    if writer.len() > connection.message_limit() {
        return Err(SendFailure::TooLarge);
    }
    role::about_to_block();
    connection
        .set_timeout(timing.timeout)
        .map_err(|_| SendFailure::Lost)?;
    let sent = connection.send(writer, timing.deadline);
    connection.put_storage(writer.take_storage());
    sent.map_err(|error| match error.kind() {
        std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock => SendFailure::TimedOut,
        _ => SendFailure::Lost,
    })
}

#[cold]
fn broken_invariant() -> SystemException {
    orbium(
        ExceptionKind::Internal,
        minor::INVARIANT_BROKEN,
        Completion::Maybe,
    )
}

/// How long a call may take, and until when.
impl Timing {
    pub(crate) fn new(timeout: Option<Duration>) -> Self {
        Self {
            timeout,
            deadline: Deadline::after(timeout),
        }
    }
}
