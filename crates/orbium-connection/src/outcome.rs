// SPDX-License-Identifier: MIT OR Apache-2.0
//! Outcome of an exchange that ended without results.

use std::sync::Arc;

use orbium_cdr::{CdrError, CdrErrorKind, CdrReader, Decode};
use orbium_channel::dedication::DedicationReply;
use orbium_giop::{
    AddressingDisposition, Completion, ExceptionKind, HEADER_LEN, Ior, MessageHeader, MessageKind,
    PlainReply, ReplyHeader, ReplyStatus, SystemException, SystemExceptionBody, minor,
    service_context,
};
use orbium_interceptor::ContextList;

/// Outcome of an exchange that ended without results.
#[derive(Debug)]
pub enum Outcome {
    /// The object is elsewhere.
    Forward(Arc<Ior>),
    /// The server requires another addressing mode.
    Readdress(AddressingDisposition),
    /// The server had not begun the request, which may be sent again.
    NotBegun(SystemException),
    /// The connection was lost before the reply: the server may have served the request.
    Lost(SystemException),
    /// The arguments cannot be written with the code sets of the reference; its server may return a
    /// better reference.
    Unwritable(SystemException),
    /// The invocation has failed: it cannot be retried.
    Failed(SystemException),
}

impl Outcome {
    /// The text for a step with this outcome.
    #[cold]
    pub fn text(&self) -> String {
        match self {
            Self::Forward(ior) => format!("forwarded to {}", leads_to(ior)),
            Self::Readdress(_) => "the server requires another addressing mode".to_owned(),
            Self::NotBegun(exception)
            | Self::Lost(exception)
            | Self::Unwritable(exception)
            | Self::Failed(exception) => raised(*exception),
        }
    }

    /// The outcome of a malformed reply.
    #[cold]
    pub fn malformed() -> Self {
        Self::Failed(SystemException::orbium(
            ExceptionKind::Marshal,
            minor::REPLY_MALFORMED,
            Completion::Maybe,
        ))
    }
}

/// The system exception for an exception that was read, was not declared, or could not
/// be read.
///
/// # Errors
/// UNKNOWN if it was not declared; MARSHAL if it could not be read.
#[cold]
pub fn raised_as<E>(read: Result<Option<E>, CdrError>) -> Result<E, SystemException> {
    match read {
        Ok(Some(exception)) => Ok(exception),
        Ok(None) => Err(SystemException::omg(
            ExceptionKind::Unknown,
            1,
            Completion::Maybe,
        )),
        Err(error) => Err(SystemException::from_cdr(error, Completion::Yes)),
    }
}

/// The first address of a reference.
fn leads_to(ior: &Ior) -> String {
    match orbium_channel::protocol::offers(ior).first() {
        Some(offer) => offer.channel.to_string(),
        None => "nil".to_owned(),
    }
}

/// The outcome in a reply without results.
///
/// # Errors
/// Its body is malformed, or it has results.
pub fn outcome_of(status: ReplyStatus, reader: &mut CdrReader<'_>) -> Result<Outcome, CdrError> {
    Ok(match status {
        ReplyStatus::SystemException => {
            Outcome::Failed(SystemExceptionBody::read(reader)?.exception())
        }
        ReplyStatus::LocationForward | ReplyStatus::LocationForwardPerm => {
            Outcome::Forward(Arc::new(Ior::decode(reader)?))
        }
        ReplyStatus::NeedsAddressingMode => {
            let wanted = AddressingDisposition::from_number(reader.read_u16()?);
            let unknown = || reader.error(CdrErrorKind::BadDiscriminator);
            Outcome::Readdress(wanted.ok_or_else(unknown)?)
        }
        ReplyStatus::NoException | ReplyStatus::UserException => {
            return Err(reader.error(CdrErrorKind::BadDiscriminator));
        }
    })
}

/// The header of a reply in the general form, `None` for other messages; and the server's reply to
/// a dedication request.
#[cold]
pub fn read_answer(
    header: &MessageHeader,
    message: &mut [u8],
    seams: &[u32],
) -> (Option<PlainReply>, Option<DedicationReply>) {
    // A short header has no other fields than those checked.
    if header.kind != MessageKind::Reply || header.is_short() {
        return (None, None);
    }
    let len = message.len();
    let mut reader = header.reader(&mut message[HEADER_LEN..]);
    reader.set_fragment_boundaries(seams);
    let Ok(answer) = ReplyHeader::read(&mut reader, header.format().minor) else {
        return (None, None);
    };
    let said = answer.contexts.find(service_context::ORBIUM_DEDICATION);
    let said = said.and_then(|data| DedicationReply::decode(data).ok());
    let plain = PlainReply {
        request_id: answer.request_id,
        status: answer.status,
        body: len - reader.remaining(),
    };
    (Some(plain), said)
}

/// The service contexts of a reply.
#[cold]
pub fn contexts_of(header: &MessageHeader, message: &mut [u8], seams: &[u32]) -> ContextList {
    let Some((_, body)) = message.split_first_chunk_mut::<HEADER_LEN>() else {
        return ContextList::default();
    };
    if header.is_short() {
        return ContextList::default();
    }
    let mut reader = header.reader(body);
    reader.set_fragment_boundaries(seams);
    let read = ReplyHeader::read(&mut reader, header.format().minor);
    read.map_or_else(
        |_| ContextList::default(),
        |it| ContextList::of(&it.contexts),
    )
}

/// The outcome of a step that ended in an exception of the server.
pub fn raised(exception: SystemException) -> String {
    format!("raised {exception}")
}
