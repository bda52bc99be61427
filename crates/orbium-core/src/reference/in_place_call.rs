// SPDX-License-Identifier: MIT OR Apache-2.0
//! A call that a servant of the same ORB may serve, without the types of its operation: one path
//! for all calls of an interface.

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_giop::SystemException;
use orbium_invocation::collocation::Passing;

use super::by_message::serve_by_message;
use super::lent::Lent;
use crate::adapter::{CollocatedServant, Dispatches, Served, Terms, Upcalls};
use crate::client::{Collocated, Reference, TypedOutcome};
use crate::raises::{ExceptionId, Raises};
use crate::{Call, Operation, Orb};
use orbium_interceptor::server::UpcallResult;

/// Marshals the arguments that are not plain.
pub(crate) type Copies<'v, 'a> = &'v (dyn Fn(&mut CdrWriter<'a>) + Sync);

/// A call of an operation of servants that implement `S`.
pub(crate) struct InPlaceCall<'c, 'a, S: ?Sized> {
    pub(crate) operation: &'static Operation,
    /// The passing of the arguments to the servant.
    pub(crate) passing: Passing,
    pub(crate) copies: Copies<'c, 'a>,
    /// Whether the results can be moved unchecked.
    pub(crate) is_plain: bool,
    pub(crate) upcall: &'c dyn TypedUpcall<S>,
    /// Whether another thread may make the call with borrowed arguments while this thread waits.
    pub(crate) lends: bool,
}

/// The upcall of such a call, in the types of its operation.
pub(crate) trait TypedUpcall<S: ?Sized> {
    /// Calls a servant, and retains its result; the reader contains the arguments that are passed
    /// as copies.
    ///
    /// # Errors
    /// The exception of the servant.
    fn serve(
        &self,
        servant: &S,
        call: &Call<'_>,
        copies: Option<&mut CdrReader<'_>>,
    ) -> Result<(), ExceptionId>;

    /// Has a servant that does not implement `S` serve a call through a reference, with marshalled
    /// arguments.
    fn serve_by_message(
        &self,
        called: (&Reference, &Collocated),
        terms: &Terms<'_, '_>,
        dispatches: &mut Dispatches<'_>,
    ) -> UpcallResult;

    /// Copies the servant's results for the caller of the object.
    ///
    /// # Errors
    /// The reason why they cannot be copied.
    fn copy_results(
        &self,
        object: &Reference,
        at: &Collocated,
        served: Result<(), ExceptionId>,
    ) -> Result<Result<(), ExceptionId>, SystemException>;

    /// Has another thread make the call with borrowed arguments; `None` if it needs a message.
    fn lend(&self, lent: &Lent<'_, '_>) -> Option<Served>;
}

impl<S: ?Sized> InPlaceCall<'_, '_, S> {
    /// The servant's results, copied for its caller.
    ///
    /// # Errors
    /// The system exception of the servant, or the reason why its results cannot be copied.
    pub(crate) fn checked(
        &self,
        object: &Reference,
        at: &Collocated,
        served: Result<(), ExceptionId>,
    ) -> Result<Result<(), ExceptionId>, SystemException> {
        match served {
            Ok(()) if self.is_plain => Ok(Ok(())),
            Err(ExceptionId::System(exception)) => Err(exception),
            served => self.upcall.copy_results(object, at, served),
        }
    }

    /// As `checked`, in the form of a servant's result.
    pub(crate) fn as_served(
        &self,
        object: &Reference,
        at: &Collocated,
        served: Result<(), ExceptionId>,
    ) -> Result<(), ExceptionId> {
        let checked = self.checked(object, at, served);
        checked.unwrap_or_else(|exception| Err(exception.into()))
    }
}

/// A call as made by its stub, passed by value: without parameters of the operation it has almost
/// no size.
pub(crate) struct StubCall<T, A, C, R, F> {
    /// Marshals all arguments.
    pub(crate) arguments: A,
    /// Marshals the arguments that are not plain.
    pub(crate) copies: C,
    pub(crate) read: R,
    pub(crate) write: for<'v> fn(&'v T, &mut CdrWriter<'v>),
    pub(crate) serve: F,
}

impl<T, A, C, R, F> StubCall<T, A, C, R, F> {
    /// The call with pointers to its functions.
    pub(crate) fn typed<'c, 'a>(
        &'c self,
        operation: &'static Operation,
        (passing, is_plain): (Passing, bool),
    ) -> TypedCall<'c, 'a, T, F>
    where
        A: Fn(&mut CdrWriter<'a>) + Sync,
        C: Fn(&mut CdrWriter<'a>) + Sync,
        R: Fn(&mut CdrReader<'_>) -> Result<T, CdrError> + Sync,
    {
        TypedCall {
            operation,
            passing,
            is_plain,
            arguments: &self.arguments,
            copies: &self.copies,
            write: self.write,
            read: &self.read,
            serve: &self.serve,
        }
    }
}

/// A call in the types of its operation.
pub(crate) struct TypedCall<'c, 'a, T, F> {
    pub(crate) operation: &'static Operation,
    pub(crate) passing: Passing,
    pub(crate) is_plain: bool,
    /// Marshals all arguments.
    pub(crate) arguments: Copies<'c, 'a>,
    pub(crate) copies: Copies<'c, 'a>,
    pub(crate) write: for<'v> fn(&'v T, &mut CdrWriter<'v>),
    pub(crate) read: &'c (dyn Fn(&mut CdrReader<'_>) -> Result<T, CdrError> + Sync),
    pub(crate) serve: &'c F,
}

impl<T, F> Clone for TypedCall<'_, '_, T, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, F> Copy for TypedCall<'_, '_, T, F> {}

impl<'c, 'a, T, F> TypedCall<'c, 'a, T, F> {
    /// The call, with its result retained in `outcome`.
    pub(crate) fn keeping<'k, E>(
        &'k self,
        outcome: &'k TypedOutcome<T, E>,
    ) -> KeptCall<'k, 'c, 'a, T, E, F> {
        KeptCall {
            call: self,
            outcome,
        }
    }
}

/// A call in the types of its operation, and the slot for its result.
pub(crate) struct KeptCall<'k, 'c, 'a, T, E, F> {
    call: &'k TypedCall<'c, 'a, T, F>,
    outcome: &'k TypedOutcome<T, E>,
}

impl<'a, T, E, F> KeptCall<'_, '_, 'a, T, E, F> {
    /// The call without these types.
    pub(crate) fn in_place<S>(&self) -> InPlaceCall<'_, 'a, S>
    where
        S: ?Sized + Sync + 'static,
        T: Send,
        E: Raises + Send,
        F: Fn(&S, &Call<'_>, Option<&mut CdrReader<'_>>) -> Result<T, E> + Sync,
    {
        InPlaceCall {
            operation: self.call.operation,
            passing: self.call.passing,
            copies: self.call.copies,
            is_plain: self.call.is_plain,
            upcall: self,
            lends: true,
        }
    }
}

impl<S, T, E, F> TypedUpcall<S> for KeptCall<'_, '_, '_, T, E, F>
where
    S: ?Sized + Sync + 'static,
    T: Send,
    E: Raises + Send,
    F: Fn(&S, &Call<'_>, Option<&mut CdrReader<'_>>) -> Result<T, E> + Sync,
{
    fn serve(
        &self,
        servant: &S,
        call: &Call<'_>,
        copies: Option<&mut CdrReader<'_>>,
    ) -> Result<(), ExceptionId> {
        self.outcome.keep((self.call.serve)(servant, call, copies))
    }

    fn serve_by_message(
        &self,
        called: (&Reference, &Collocated),
        terms: &Terms<'_, '_>,
        dispatches: &mut Dispatches<'_>,
    ) -> UpcallResult {
        let mut read = self.call.read;
        let mut reply = self.outcome.read_by(&mut read);
        let asked = (self.call.operation, terms);
        serve_by_message(called, asked, self.call.arguments, &mut reply, dispatches)
    }

    fn copy_results(
        &self,
        object: &Reference,
        at: &Collocated,
        _: Result<(), ExceptionId>,
    ) -> Result<Result<(), ExceptionId>, SystemException> {
        let format = (at.format, object.client().decoding());
        let TypedCall {
            is_plain,
            write,
            read,
            ..
        } = *self.call;
        self.outcome.copy(format, is_plain, (write, read))
    }

    fn lend(&self, lent: &Lent<'_, '_>) -> Option<Served> {
        let call = self.call;
        let mut outcome = TypedOutcome::new();
        let kept = &mut outcome;
        let served = lent.serve(&mut |called, at, terms| {
            // Exclusive, as the lender waits: a shared borrow could not be sent to another thread.
            let kept: &mut TypedOutcome<T, E> = kept;
            served_aside::<S>(called, at, terms, &call.keeping(kept).in_place())
        });
        self.outcome.take_from(outcome);
        served
    }
}

/// As [`served`], for another thread.
#[cold]
fn served_aside<S: ?Sized + Sync + 'static>(
    called: (&Reference, &Orb),
    at: &Collocated,
    terms: &Terms<'_, '_>,
    call: &InPlaceCall<'_, '_, S>,
) -> Option<Served> {
    served(called, at, terms, call)
}

/// Has the servant serve a request made through that reference of that ORB. Interceptors see its
/// checked results.
#[inline(always)]
pub(crate) fn served<S: ?Sized + Sync + 'static>(
    (object, orb): (&Reference, &Orb),
    at: &Collocated,
    terms: &Terms<'_, '_>,
    call: &InPlaceCall<'_, '_, S>,
) -> Option<Served> {
    let mut copied = match call.passing {
        Passing::Plain => None,
        passing => object.copied_arguments(at, passing, call.copies)?,
    };
    let adapters = &orb.core().adapters;
    let servant = match at.servant::<CollocatedServant<S>>() {
        Some(servant) => Some(servant),
        None => adapters
            .collocated_servant(at)
            .and_then(|servant| at.add_servant(servant)),
    };
    let checked = |served| call.as_served(object, at, served);
    let mut serve = |servant: &S, request: &Call<'_>| match &mut copied {
        None => call.upcall.serve(servant, request, None),
        Some(copied) => {
            let mut reader = copied.reader(object.client().decoding());
            call.upcall.serve(servant, request, Some(&mut reader))
        }
    };
    if let Some(servant) = servant {
        let operation = call.operation;
        let mut served = None;
        if !servant.is_placed {
            served = servant.serve(at, operation, terms, &mut serve);
        }
        let served = served
            .or_else(|| servant.serve_placed(adapters, at, operation, terms, &checked, &mut serve));
        if served.is_some() {
            return served;
        }
    }
    let mut upcalls = Upcalls {
        serve: &mut serve,
        by_message: &|dispatches| {
            let called = (object, at);
            call.upcall.serve_by_message(called, terms, dispatches)
        },
        checked: &checked,
    };
    let served = adapters.serve_found(at, call.operation, terms, &mut upcalls);
    served.or_else(|| {
        if !call.lends {
            return None;
        }
        let lent = Lent::of::<S>((object, orb), at, terms)?;
        call.upcall.lend(&lent)
    })
}
