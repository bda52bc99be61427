// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conclusion of requests without results: refusals before the upcall, exceptions, panics of
//! servants.

use std::any::Any;

use orbium_giop::{Completion, ExceptionKind, SystemException, minor};
use orbium_invocation::DispatchError;
use orbium_invocation::spans::original;
use orbium_sys::RealTimeError;
use orbium_trace::log::{Recurring, error, warn};

use crate::{IncomingRequest, UntypedReply};

/// Ensures that a served request is answered; returns its exception, if that is a system exception.
#[inline(always)]
pub fn conclude(
    request: &IncomingRequest<'_>,
    served: std::thread::Result<Result<(), DispatchError>>,
    reply: &mut UntypedReply<'_>,
) -> Option<SystemException> {
    match served {
        Ok(Ok(())) if reply.is_answered() => None,
        Ok(Ok(())) => Some(answer_error(reply, unanswered())),
        Ok(Err(error)) => Some(answer_error(reply, error.exception())),
        Err(panic) => Some(answer_error(reply, panicked(request, &*panic))),
    }
}

/// Logs that a request is answered with an exception before the upcall.
#[cold]
pub fn note_refusal(request: &IncomingRequest<'_>, cause: Recurring, exception: SystemException) {
    if let Some(suppressed) = request.context.instruments.book().admit(cause) {
        warn!(
            target: "orbium::request",
            cause = cause.cause(),
            operation = %original(request.operation),
            peer = request.peer.map(|peer| peer.peer().to_string()),
            error = %exception,
            suppressed,
            "request refused",
        );
    }
}

/// Checks that the request has not expired.
///
/// # Errors
/// TIMEOUT, which is logged.
#[inline(always)]
pub fn check_expiry(request: &IncomingRequest<'_>) -> Result<(), SystemException> {
    let checked = request.expiry.check();
    checked.inspect_err(|exception| note_refusal(request, Recurring::Expired, *exception))
}

/// The exception for a request that cannot be served on the required thread or lane.
#[must_use]
pub fn busy() -> SystemException {
    SystemException::orbium(ExceptionKind::Transient, minor::SERVER_BUSY, Completion::No)
}

/// The exception if the thread cannot have the priority of the request.
#[cold]
#[must_use]
pub fn not_permitted(error: &RealTimeError) -> SystemException {
    warn!(target: "orbium::poa", %error, "no native priority for a request");
    match error {
        RealTimeError::NoSuchPriority(_) => {
            SystemException::omg(ExceptionKind::DataConversion, 2, Completion::No)
        }
        _ => SystemException::orbium(
            ExceptionKind::NoPermission,
            minor::NOT_ALLOWED,
            Completion::No,
        ),
    }
}

/// Sends the exception, if a reply is expected and was not sent.
#[cold]
fn answer_error(reply: &mut UntypedReply<'_>, exception: SystemException) -> SystemException {
    if !reply.is_answered() && reply.is_expected() {
        reply.system_exception(exception);
    }
    exception
}

/// The exception for a skeleton that has neither answered nor returned an error.
#[cold]
fn unanswered() -> SystemException {
    SystemException::orbium(
        ExceptionKind::Internal,
        minor::INVARIANT_BROKEN,
        Completion::Maybe,
    )
}

/// Logs a panic of the servant; returns its exception.
#[cold]
#[must_use]
pub fn panicked(request: &IncomingRequest<'_>, panic: &(dyn Any + Send)) -> SystemException {
    // The panic hook has reported the location.
    error!(
        target: "orbium::request",
        operation = %original(request.operation),
        peer = request.peer.map(|peer| peer.peer().to_string()),
        panic = panic_message(panic),
        "servant panicked",
    );
    servant_panicked()
}

/// The exception for a panic of the servant.
#[must_use]
pub fn servant_panicked() -> SystemException {
    SystemException::orbium(
        ExceptionKind::Unknown,
        minor::SERVANT_PANICKED,
        Completion::Maybe,
    )
}

/// The message of a panic, if it is text.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "",
    }
}
