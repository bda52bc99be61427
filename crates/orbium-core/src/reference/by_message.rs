// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of servants of the same ORB that their adapters have found, and that do not implement the
//! interface of the caller: the request and the reply are marshalled.

use orbium_cdr::CdrWriter;
use orbium_giop::ResponseFlags;
use orbium_interceptor::Interrupt;
use orbium_invocation::call_exceptions::broken_invariant;
use orbium_request::Kept;

use crate::Operation;
use crate::adapter::{Dispatches, Terms};
use crate::client::{Collocated, Reference, ReplyReader};
use crate::raises::DispatchError;
use orbium_connection::outcome::Outcome;
use orbium_interceptor::server::UpcallResult;

/// Has such a servant serve a marshalled request, and reads its reply.
#[cold]
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
    let mut answer = kept.answer(&mut storage, at.format, response);
    let dispatched = object.with_arguments(at, arguments, |reader| {
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
