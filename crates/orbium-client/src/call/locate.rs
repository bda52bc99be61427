// SPDX-License-Identifier: MIT OR Apache-2.0
//! LocateRequest: queries a server for an object's location.

use std::io;
use std::sync::Arc;

use orbium_cdr::{ByteOrder, CdrError, CdrErrorKind, CdrWriter, Decode, Format};
use orbium_giop::{
    AddressingDisposition, Completion, ExceptionKind, HEADER_LEN, Ior, LocateReplyHeader,
    LocateStatus, MessageHeader, MessageKind, SystemException, SystemExceptionBody, minor,
    write_locate_request,
};
use orbium_invocation::story::{Phase, note};

use crate::call::link::Link;
use crate::errors::not_trusted;
use crate::reference::Reference;
use orbium_connection::outcome::Outcome;
use orbium_connection::{Connection, Received};
use orbium_invocation::exceptions::deadline_passed;
use orbium_invocation::timing::Timing;

fn lost() -> SystemException {
    SystemException::orbium(
        ExceptionKind::CommFailure,
        minor::CONNECTION_LOST,
        Completion::No,
    )
}

/// Sends one LocateRequest: `Ok` is whether the object is there, `Err` the next step.
pub(crate) fn perform(
    object: &Reference,
    ior: &Ior,
    mut link: Link<'_>,
    timing: &Timing,
) -> Result<bool, Outcome> {
    let (candidate, timeout) = (link.candidate, link.timeout);
    let Some(connection) = &mut link.connection else {
        return Ok(object.orb().locate(&candidate.object_key));
    };
    let request_id = connection.next_id();
    let format = Format::plain(ByteOrder::NATIVE, candidate.version.minor);
    let target = candidate.target(ior);
    let mut writer = CdrWriter::new(format);
    write_locate_request(&mut writer, candidate.version, request_id, &target);
    let serves = connection.about_to_wait();
    let sent = connection
        .set_timeout(timeout)
        .and_then(|()| connection.send(&writer, timing.sending));
    if let Err(error) = sent {
        note(Phase::Send, candidate.channel(), &error);
        link.give_up();
        return Err(match error.kind() {
            io::ErrorKind::PermissionDenied => Outcome::Failed(not_trusted()),
            _ => Outcome::NotBegun(lost()),
        });
    }
    let mut has_received = false;
    loop {
        let header = match link.receive(timing.reply, serves, &mut has_received) {
            Received::Message(header) => header,
            other => return Err(unanswered(&mut link, other)),
        };
        let Some(connection) = &mut link.connection else {
            return Err(unanswered(&mut link, Received::Lost));
        };
        if let Some(answer) = read(connection, &header, request_id) {
            if let Err(outcome) = &answer {
                note(Phase::Wait, candidate.channel(), &outcome.text());
            }
            return answer;
        }
        if timing.reply.has_passed() {
            return Err(unanswered(&mut link, Received::TimedOut));
        }
    }
}

/// The outcome without an answer.
fn unanswered(link: &mut Link<'_>, received: Received) -> Outcome {
    note(Phase::Wait, link.candidate.channel(), &received.text());
    match received {
        Received::TimedOut => link.abandon(),
        _ => link.give_up(),
    }
    match received {
        Received::Closed => Outcome::NotBegun(lost()),
        Received::TimedOut => Outcome::Failed(deadline_passed()),
        Received::Refused => Outcome::Failed(not_trusted()),
        _ => Outcome::Failed(lost()),
    }
}

/// The answer in a message; `None` if it is the late answer to an earlier request.
fn read(
    connection: &mut Connection,
    header: &MessageHeader,
    request_id: u32,
) -> Option<Result<bool, Outcome>> {
    let message = connection.message(header);
    let mut reader = header.reader(&mut message[HEADER_LEN..]);
    let answer = match header.kind {
        MessageKind::LocateReply => LocateReplyHeader::read(&mut reader, header.format().minor),
        _ => {
            connection.consume(header);
            return None;
        }
    };
    let said = match answer {
        Ok(answer) if answer.request_id == request_id => {
            Some(interpret(answer.status, &mut reader))
        }
        Ok(_) => None,
        Err(error) => Some(Err(malformed(error))),
    };
    connection.consume(header);
    said
}

fn malformed(error: CdrError) -> Outcome {
    Outcome::Failed(SystemException::from_cdr(error, Completion::No))
}

fn interpret(
    status: LocateStatus,
    reader: &mut orbium_cdr::CdrReader<'_>,
) -> Result<bool, Outcome> {
    let outcome = match status {
        LocateStatus::ObjectHere => return Ok(true),
        LocateStatus::UnknownObject => return Ok(false),
        LocateStatus::ObjectForward | LocateStatus::ObjectForwardPerm => {
            Ior::decode(reader).map(|ior| Outcome::Forward(Arc::new(ior)))
        }
        LocateStatus::SystemException => {
            SystemExceptionBody::read(reader).map(|body| Outcome::Failed(body.exception()))
        }
        LocateStatus::NeedsAddressingMode => reader.read_u16().and_then(|wanted| {
            AddressingDisposition::from_number(wanted)
                .map(Outcome::Readdress)
                .ok_or_else(|| reader.error(CdrErrorKind::BadDiscriminator))
        }),
    };
    Err(outcome
        .unwrap_or_else(|error| Outcome::Failed(SystemException::from_cdr(error, Completion::No))))
}
