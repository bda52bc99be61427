// SPDX-License-Identifier: MIT OR Apache-2.0
//! A call that a servant of the same ORB may serve, without the types of its operation: one path leads all calls to
//! the servants of an interface.

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_giop::SystemException;
use orbium_invocation::collocation::Passing;

use super::by_message::serve_by_message;
use super::lent::{Lend, Lent};
use crate::adapter::{CollocatedServant, Dispatches, Served, Terms, Unserved, Upcalls};
use crate::client::{Collocated, Reference, TypedOutcome};
use crate::raises::{ExceptionId, Raises};
use crate::{Call, Operation, Orb};
use orbium_interceptor::server::UpcallResult;

/// What writes those arguments that are not plain.
pub(crate) type Copies<'v, 'a> = &'v (dyn Fn(&mut CdrWriter<'a>) + Sync);

/// Calls a servant, and keeps what it returns; the reader has those arguments that it gets as copies.
pub(crate) type Serve<'c, S> =
    &'c dyn Fn(&S, &Call<'_>, Option<&mut CdrReader<'_>>) -> Result<(), ExceptionId>;

/// Copies what the servant has returned, as the caller of the object is to have it.
pub(crate) type CopyResults<'c> =
    &'c dyn Fn(&Reference, &Collocated) -> Result<Result<(), ExceptionId>, SystemException>;

/// Has a servant that is none of the interface serve the request of a call through a reference, with
/// its arguments marshalled.
pub(crate) type ByMessage<'c> =
    &'c dyn Fn((&Reference, &Collocated), &Terms<'_, '_>, &mut Dispatches<'_>) -> UpcallResult;

/// A call of an operation of servants that are seen as `S`.
pub(crate) struct InPlaceCall<'c, 'a, S: ?Sized> {
    pub(crate) operation: &'static Operation,
    /// How the servant gets the arguments.
    pub(crate) passing: Passing,
    pub(crate) copies: Copies<'c, 'a>,
    pub(crate) serve: Serve<'c, S>,
    /// Has a servant called that is not seen as `S`.
    pub(crate) by_message: ByMessage<'c>,
    pub(crate) results: KeptResults<'c>,
    /// Has another thread make the call, if this one may lend what it refers to.
    pub(crate) lend: Option<Lend<'c>>,
}

/// The results that a servant has returned, where `serve` has kept them.
#[derive(Clone, Copy)]
pub(crate) struct KeptResults<'c> {
    /// Whether they can be moved unchecked.
    pub(crate) is_plain: bool,
    /// `None` where `serve` has seen to it.
    pub(crate) copy: Option<CopyResults<'c>>,
}

impl KeptResults<'_> {
    /// Those that are as the caller is to have them.
    pub(crate) const CHECKED: Self = Self {
        is_plain: true,
        copy: None,
    };

    /// What a servant has returned, once it is as the caller is to have it.
    ///
    /// # Errors
    /// The system exception that it raised, or why the rest cannot be copied.
    pub(crate) fn checked(
        &self,
        object: &Reference,
        at: &Collocated,
        served: Result<(), ExceptionId>,
    ) -> Result<Result<(), ExceptionId>, SystemException> {
        match (served, self.copy) {
            (Ok(()), _) if self.is_plain => Ok(Ok(())),
            (Err(ExceptionId::System(exception)), _) => Err(exception),
            (served, None) => Ok(served),
            (_, Some(copy)) => copy(object, at),
        }
    }

    /// As `checked`, as what the servant has returned.
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

/// The end of a call where a servant, or a reply, has left the outcome in the types of the operation.
///
/// # Errors
/// A system exception, which is nowhere else.
pub(crate) fn kept(ended: Result<(), ExceptionId>) -> Result<(), SystemException> {
    match ended {
        Ok(()) | Err(ExceptionId::User(_)) => Ok(()),
        Err(ExceptionId::System(exception)) => Err(exception),
    }
}

/// A call as its stub makes it: all by value, which is next to nothing to pass on where the operation
/// has no parameters.
pub(crate) struct StubCall<T, A, C, R, F> {
    /// Writes all arguments.
    pub(crate) arguments: A,
    /// Writes those that are not plain.
    pub(crate) copies: C,
    pub(crate) read: R,
    pub(crate) write: for<'v> fn(&'v T, &mut CdrWriter<'v>),
    pub(crate) serve: F,
}

impl<T, A, C, R, F> StubCall<T, A, C, R, F> {
    /// The call with its functions behind pointers.
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
    /// Writes all arguments.
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

impl<'a, T, F> TypedCall<'_, 'a, T, F> {
    /// Without these types, its outcome kept in `outcome`.
    pub(crate) fn in_place<S, E, R>(
        &self,
        outcome: &TypedOutcome<T, E>,
        run: impl FnOnce(&InPlaceCall<'_, 'a, S>) -> R,
    ) -> R
    where
        S: ?Sized,
        E: Raises,
        F: Fn(&S, &Call<'_>, Option<&mut CdrReader<'_>>) -> Result<T, E>,
    {
        run(&InPlaceCall {
            operation: self.operation,
            passing: self.passing,
            copies: self.copies,
            serve: &|servant: &S, call, copies| outcome.keep((self.serve)(servant, call, copies)),
            by_message: &|called, terms, dispatches| {
                let mut reply = outcome.read_by(self.read);
                let asked = (self.operation, terms);
                serve_by_message(called, asked, self.arguments, &mut reply, dispatches)
            },
            results: KeptResults {
                is_plain: self.is_plain,
                copy: Some(&|object, at| {
                    let format = (at.format, object.client().decoding());
                    outcome.copy(format, self.is_plain, (self.write, self.read))
                }),
            },
            lend: None,
        })
    }

    /// As `in_place`, of a call that another thread may make with what this one lends.
    pub(crate) fn lending<S, E, R>(
        &self,
        outcome: &TypedOutcome<T, E>,
        run: impl FnOnce(&InPlaceCall<'_, 'a, S>) -> R,
    ) -> R
    where
        S: ?Sized + Sync + 'static,
        T: Send,
        E: Raises + Send,
        F: Fn(&S, &Call<'_>, Option<&mut CdrReader<'_>>) -> Result<T, E> + Sync,
    {
        let lend: Lend<'_> = &|lent| {
            let made = lent.run(|called, at, terms| {
                let kept = TypedOutcome::new();
                let served = self.in_place(&kept, |call| served::<S>(called, at, terms, call));
                Some((served?, kept))
            });
            Some(made?.map_or_else(
                |exception| Err(Unserved::Withdrawn(exception)),
                |(served, kept)| {
                    outcome.take_from(kept);
                    served
                },
            ))
        };
        self.in_place(outcome, |call| {
            let lend = Some(lend);
            run(&InPlaceCall { lend, ..*call })
        })
    }
}

/// Has the servant serve a request that is made through that reference of that ORB. Interceptors see
/// what it has returned once that is checked.
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
    let checked = |served| call.results.as_served(object, at, served);
    let mut serve = |servant: &S, request: &Call<'_>| match &mut copied {
        None => (call.serve)(servant, request, None),
        Some(copied) => {
            let mut reader = copied.reader(object.client().decoding());
            (call.serve)(servant, request, Some(&mut reader))
        }
    };
    if let Some(servant) = servant {
        let operation = call.operation;
        let served = if servant.is_placed {
            servant.serve_placed(adapters, at, operation, terms, &checked, &mut serve)
        } else {
            servant.serve(at, operation, terms, &mut serve)
        };
        if served.is_some() {
            return served;
        }
    }
    let mut upcalls = Upcalls {
        serve: &mut serve,
        by_message: &|dispatches| (call.by_message)((object, at), terms, dispatches),
        checked: &checked,
    };
    let served = adapters.serve_found(at, call.operation, terms, &mut upcalls);
    served.or_else(|| (call.lend?)(&Lent::of::<S>((object, orb), at, terms)?))
}
