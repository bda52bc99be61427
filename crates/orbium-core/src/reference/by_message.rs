// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of servants of the same ORB that their adapters have found, and that are none of the
//! interface that the caller sees: between the two are a request and a reply as in messages.

use orbium_cdr::{CdrReader, CdrWriter, Format};
use orbium_giop::{Completion, ResponseFlags, SystemException, Version};
use orbium_interceptor::Interrupt;
use orbium_invocation::call_exceptions::broken_invariant;
use orbium_request::Kept;

use crate::adapter::{Dispatches, Terms};
use crate::client::{Collocated, Reference, ReplyReader};
use crate::raises::DispatchError;
use crate::{Operation, UntypedReply};
use orbium_connection::outcome::Outcome;
use orbium_interceptor::server::UpcallResult;

/// Has such a servant serve a request, and reads its reply.
#[cold]
#[inline(never)]
pub(super) fn serve_by_message<'a>(
    (object, at): (&Reference, &Collocated),
    (operation, terms): (&Operation, &Terms<'_, '_>),
    arguments: &dyn Fn(&mut CdrWriter<'a>),
    reply: &mut dyn ReplyReader,
    dispatches: &mut Dispatches<'_>,
) -> UpcallResult {
    let response = terms.response_to(operation);
    let kept = Kept::default();
    let mut storage = Vec::new();
    let mut answer = answer_to(&kept, &mut storage, at.format, response);
    let dispatched = with_arguments((object, at), arguments, |reader| {
        dispatches(reader, &mut answer).map_err(DispatchError::exception)
    });
    if let Err(exception) = dispatched {
        return Ok(Err(exception.into()));
    }
    if response != ResponseFlags::Full && !kept.has_message() {
        return Ok(Ok(()));
    }
    let message = kept.into_message(terms.expiry.deadline());
    match object.served_by_message(at.format, message, reply).outcome {
        Ok(served) => Ok(served),
        Err(Outcome::Failed(exception)) => Ok(Err(exception.into())),
        Err(Outcome::Forward(to)) => Err(Interrupt::Forward(to)),
        Err(_) => Ok(Err(broken_invariant().into())),
    }
}

/// Hands the arguments to `serve` as a request has them.
pub(super) fn with_arguments<'a, R>(
    (object, at): (&Reference, &Collocated),
    arguments: &dyn Fn(&mut CdrWriter<'a>),
    serve: impl FnOnce(&mut CdrReader<'_>) -> Result<R, SystemException>,
) -> Result<R, SystemException> {
    let mut writer = CdrWriter::new(at.format);
    arguments(&mut writer);
    let octets = writer.finish();
    let mut octets = octets.map_err(|error| SystemException::from_cdr(error, Completion::No))?;
    let mut reader = CdrReader::new(&mut octets, at.format);
    object.client().decoding().apply(&mut reader);
    serve(&mut reader)
}

/// The reply of a servant that answers by a message, which is kept.
pub(super) fn answer_to<'r>(
    kept: &'r Kept,
    storage: &'r mut Vec<u8>,
    format: Format,
    response: ResponseFlags,
) -> UntypedReply<'r> {
    let version = Version {
        major: 1,
        minor: format.minor,
    };
    UntypedReply::new(kept, storage, version, 0, format, response)
}
