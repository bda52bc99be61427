// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that are larger than the limit: answered by an exception that says so, and
//! skipped.

use std::fmt;

use orbium_cdr::{ByteOrder, CdrWriter, Format};
use orbium_channel::framing::FramingError;
use orbium_giop::{
    Completion, ExceptionKind, MessageKind, ReplyStatus, SystemException, SystemExceptionBody,
    Version, begin_reply, finish_message, minor, split_header,
};

use super::source::Source;
use super::state::Intake;
use crate::connection::ServerConnection;
use crate::log::Recurring;
use crate::outcome::Outcome;
use orbium_metrics::Refusal;

/// Octets of a request within which its header has to end, if it is to be answered.
const HEAD: usize = 4096;

impl Intake {
    /// What comes next is no message, or too large. A request with a readable header is
    /// answered by an exception, and skipped; otherwise the connection ends.
    #[cold]
    #[inline(never)]
    pub(super) fn refuse(&mut self, source: &Source<'_>, error: FramingError) -> Outcome {
        if !matches!(
            error,
            FramingError::TooLarge {
                kind: MessageKind::Request,
                ..
            }
        ) {
            if matches!(error, FramingError::TooLarge { .. }) {
                count(source);
            }
            return refuse(source.connection, error);
        }
        let Some((header, received)) = self.framing.oversized() else {
            return refuse(source.connection, error);
        };
        let len = received.len();
        let (head, after) = split_header(received);
        let asked = match header.read_request(&head, &mut header.reader(after)) {
            Ok(request) => (request.request_id, request.response.expects_reply()),
            // The rest of its header is to come.
            Err(_) if len < HEAD => return Outcome::Incomplete,
            Err(_) => {
                count(source);
                return refuse(source.connection, error);
            }
        };
        count(source);
        log_refusal(source, &error);
        self.framing.skip_oversized(&header);
        if let (request_id, true) = asked {
            too_large(source.connection, header.version, request_id);
        }
        Outcome::Dispatched
    }
}

/// Logs that a message is larger than the limit.
#[cold]
pub(super) fn log_refusal(source: &Source<'_>, error: &dyn fmt::Display) {
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

/// Counts a message that is larger than the limit.
#[cold]
pub(super) fn count(source: &Source<'_>) {
    if let Some(all) = source.context.measurements() {
        all.count_refused(Refusal::MessageSize);
    }
}

/// Answers a request that is larger than the limit.
#[cold]
pub(super) fn too_large(connection: &ServerConnection, version: Version, request_id: u32) {
    let exception = SystemException::orbium(
        ExceptionKind::ImpLimit,
        minor::REQUEST_TOO_LARGE,
        Completion::No,
    );
    let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, version.minor));
    let status = ReplyStatus::SystemException;
    let start = begin_reply(&mut writer, version, request_id, status, &[]);
    SystemExceptionBody::from(exception).write(&mut writer);
    finish_message(&mut writer, start);
    connection.reply(&writer);
}

#[cold]
fn refuse(connection: &ServerConnection, error: FramingError) -> Outcome {
    crate::log::debug!(target: "orbium::wire", peer = %connection.peer(), %error, "not a message");
    connection.send_message_error();
    Outcome::Close
}
