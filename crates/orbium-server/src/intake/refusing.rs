// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that were discarded before they were read, because they are too large or memory is
//! short: their clients receive an exception, and the connection stays open. And protocol
//! violations, after which it is closed.

use std::fmt;

use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_channel::connection::{Cause, Refused, Violation};
use orbium_channel::framing::FramingError;
use orbium_channel::peer_memory::NoMemory;
use orbium_giop::{
    Completion, ExceptionKind, FragmentError, ReplyStatus, SystemException, SystemExceptionBody,
    begin_reply, finish_message, minor,
};

use super::source::Source;
use crate::connections::connection::ServerConnection;
use crate::log::Recurring;
use crate::message_outcome::Outcome;
use orbium_metrics::Refusal;

/// Answers a discarded request.
#[cold]
pub(super) fn refuse(source: &Source<'_>, refused: &Refused) -> Outcome {
    let connection = source.connection;
    let exception = match refused.cause {
        Cause::TooLarge(error) => {
            count(source);
            match error {
                Some(error) => log_too_large(source, &error),
                None => log_too_large(source, &"fragments exceed `limits.message_size`"),
            }
            let (kind, code) = (ExceptionKind::ImpLimit, minor::REQUEST_TOO_LARGE);
            SystemException::orbium(kind, code, Completion::No)
        }
        Cause::NoMemory => {
            log_no_memory(connection, refused.octets);
            connection.send_collected();
            NoMemory::exception(Completion::No)
        }
    };
    if refused.expects_reply {
        reply(connection, refused, exception);
    }
    if connection.is_broken() {
        Outcome::Close
    } else {
        Outcome::Dispatched
    }
}

fn reply(connection: &ServerConnection, refused: &Refused, exception: SystemException) {
    let Refused {
        version,
        request_id,
        ..
    } = *refused;
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, version.minor));
    let status = ReplyStatus::SystemException;
    let start = begin_reply(&mut writer, version, request_id, status, &[]);
    SystemExceptionBody::from(exception).write(&mut writer);
    finish_message(&mut writer, start);
    connection.reply(&writer);
}

/// Reports a protocol violation; the connection is closed.
#[cold]
pub(super) fn violated(source: &Source<'_>, violation: Violation) -> Outcome {
    let connection = source.connection;
    match violation {
        Violation::Framing(FramingError::TooLarge { .. }) => count(source),
        Violation::Framing(FramingError::NoMemory)
        | Violation::Fragment(FragmentError::NoMemory(_)) => {
            log_no_memory(connection, 0);
            connection.send_collected();
        }
        _ => {}
    }
    crate::log::debug!(target: "orbium::wire", peer = %connection.peer(), %violation, "cannot be read");
    if violation.answer().is_some() {
        connection.send_message_error();
    }
    Outcome::Close
}

/// Handles a request without memory for its reply, or another message without memory.
#[cold]
pub(super) fn unanswerable(source: &Source<'_>) -> Outcome {
    violated(source, Violation::Framing(FramingError::NoMemory))
}

#[cold]
fn log_too_large(source: &Source<'_>, error: &dyn fmt::Display) {
    let cause = Recurring::MessageSize;
    if let Some(suppressed) = source.connection.tracked.admit(cause) {
        crate::log::warn!(
            target: "orbium::request",
            cause = cause.cause(),
            peer = %source.connection.peer(),
            %error,
            suppressed,
            "request refused",
        );
    }
}

#[cold]
fn log_no_memory(connection: &ServerConnection, octets: usize) {
    let cause = Recurring::NoMemory;
    if let Some(suppressed) = connection.tracked.admit(cause) {
        crate::log::warn!(
            target: "orbium::request",
            cause = cause.cause(),
            peer = %connection.peer(),
            octets,
            suppressed,
            "request refused: no memory for the message",
        );
    }
}

#[cold]
fn count(source: &Source<'_>) {
    if let Some(all) = source.context.measurements() {
        all.count_refused(Refusal::MessageSize);
    }
}
