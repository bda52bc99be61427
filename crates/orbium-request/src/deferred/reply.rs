// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reply token, by which a servant replies after it has returned.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use orbium_cdr::CdrWriter;
use orbium_giop::{Completion, ExceptionKind, Ior, SystemException, minor};
use orbium_invocation::raises::{DispatchError, Raised, Raises};

use super::open::OpenRequest;
use super::urgency::Urgency;
use crate::IncomingRequest;
use crate::reply::UntypedReply;

/// Marshals results.
type Write<T> = for<'v> fn(&'v T, &mut CdrWriter<'v>);

/// The reply to a request of an `@deferred` operation in IDL: a token that may be moved to any
/// thread, and is consumed by replying.
///
/// `T` is the result of the operation, `E` its error type. The request is open until the token
/// replies; if the token is dropped instead, the client gets NO_RESPONSE, completed MAYBE. The
/// memory of the request is not retained.
///
/// ```
/// # use std::thread;
/// # use orbium_request::DeferredReply;
/// # struct Call;
/// # struct Recorder;
/// # impl Recorder {
/// fn read(&self, _: &Call, at: u32, reply: DeferredReply<Vec<u8>>) {
///     thread::spawn(move || reply.ok(vec![0; at as usize]));
/// }
/// # }
/// ```
#[must_use = "the client waits for the answer"]
pub struct DeferredReply<T, E = SystemException> {
    /// `None` once it was consumed.
    request: Option<Arc<OpenRequest>>,
    write: Write<T>,
    error: PhantomData<fn() -> E>,
}

impl<T, E> DeferredReply<T, E> {
    /// Whether the reply would not reach a client any more: the client has cancelled the request,
    /// its connection is gone, or the adapter of the object has ended.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.request.as_ref().is_none_or(|it| it.is_cancelled())
    }

    /// The deadline of the call; `None` if the client sent none.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.urgency().deadline
    }

    /// The urgency of the request.
    #[must_use]
    pub fn urgency(&self) -> Urgency {
        let request = self.request.as_ref();
        request.map(|it| it.urgency()).unwrap_or_default()
    }

    /// Whether the client expects a reply. A reply to a oneway is discarded.
    #[must_use]
    pub fn response_expected(&self) -> bool {
        self.request.as_ref().is_some_and(|it| it.is_expected())
    }

    pub(super) fn request(&self) -> Option<&Arc<OpenRequest>> {
        self.request.as_ref()
    }

    fn answer(
        mut self,
        give: impl FnOnce(&mut UntypedReply<'_>, Write<T>) -> Result<(), DispatchError>,
    ) -> Result<(), SystemException> {
        let write = self.write;
        match self.request.take() {
            Some(request) => request.answer(|reply| give(reply, write)).1,
            None => Ok(()),
        }
    }

    /// Has `give` reply, independently of the types of the operation.
    ///
    /// # Errors
    /// The error of `give`; the client gets this exception.
    #[doc(hidden)]
    pub fn answer_untyped(
        self,
        give: impl FnOnce(&mut UntypedReply<'_>) -> Result<(), DispatchError>,
    ) -> Result<(), SystemException> {
        self.answer(|reply, _| give(reply))
    }

    /// Sends the results: a value, or a reference to one. Results of a cancelled request are
    /// discarded.
    ///
    /// # Errors
    /// A result cannot be encoded: it exceeds a bound, or the code set of the connection lacks a
    /// character. The client gets this exception. A failed connection is not an error.
    pub fn ok(self, results: impl Borrow<T>) -> Result<(), SystemException> {
        self.answer(|reply, write| reply.result(|writer| write(results.borrow(), writer)))
    }

    /// Forwards the client to another object, which serves the request instead.
    pub fn forward(self, to: &impl Forward) {
        // The IOR of an existing reference can always be marshalled.
        let _ = self.answer(|reply, _| reply.forward(to.ior(), to.is_permanent()));
    }
}

/// The target of a forward; `ForwardRequest` of `orbium` implements it.
pub trait Forward {
    /// The reference of the target.
    fn ior(&self) -> &Ior;

    /// Whether the client may replace its reference by that one: LOCATION_FORWARD_PERM, which
    /// GIOP 1.2 has.
    fn is_permanent(&self) -> bool;
}

impl<T, E: Raises> DeferredReply<T, E> {
    /// Raises an exception declared by the operation, or a system exception.
    ///
    /// # Errors
    /// A member of the exception cannot be encoded; the client gets this exception.
    pub fn raise(self, exception: impl Into<E>) -> Result<(), SystemException> {
        let error = exception.into();
        let given = self.answer(|reply, _| reply.raise(&error));
        match error.raised() {
            // It was sent unchanged.
            Raised::System(_) => Ok(()),
            Raised::User(..) => given,
        }
    }

    /// Replies like a servant that returns `outcome`.
    ///
    /// # Errors
    /// As [`ok`](Self::ok) and [`raise`](Self::raise).
    pub fn complete(self, outcome: Result<T, E>) -> Result<(), SystemException> {
        match outcome {
            Ok(results) => self.ok(results),
            Err(error) => self.raise(error),
        }
    }
}

impl<T, E> Drop for DeferredReply<T, E> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            drop_unanswered(&request);
        }
    }
}

#[cold]
fn drop_unanswered(request: &OpenRequest) {
    let panics = thread::panicking();
    let exception = if panics {
        SystemException::orbium(
            ExceptionKind::Unknown,
            minor::SERVANT_PANICKED,
            Completion::Maybe,
        )
    } else {
        SystemException::new(ExceptionKind::NoResponse, 0, Completion::Maybe)
    };
    let (was_open, _) = request.answer(|_| Err(exception.into()));
    if was_open && !panics && request.is_expected() {
        request.all().count_dropped();
        crate::log::warn!(
            target: "orbium::request",
            request_id = request.request_id(),
            "a servant dropped the reply of a deferred operation without an answer",
        );
    }
}

impl<T, E> fmt::Debug for DeferredReply<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeferredReply")
            .field(
                "request_id",
                &self.request.as_ref().map(|it| it.request_id()),
            )
            .finish_non_exhaustive()
    }
}

impl UntypedReply<'_> {
    /// The token for a request to an object of that adapter, passed to the servant by a generated
    /// skeleton.
    ///
    /// # Errors
    /// TRANSIENT 1: the limit of open requests of the adapter is reached.
    #[doc(hidden)]
    #[cold]
    pub fn defer<T, E>(
        &mut self,
        incoming: &IncomingRequest<'_>,
        adapter: usize,
        write: Write<T>,
    ) -> Result<DeferredReply<T, E>, DispatchError> {
        let request = OpenRequest::open(incoming, self, adapter)?;
        self.answered = true;
        Ok(DeferredReply {
            request: Some(request),
            write,
            error: PhantomData,
        })
    }
}
