// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of stubs: of the servant itself where it is one of the same ORB, or else by a
//! message.

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_giop::SystemException;
use orbium_invocation::collocation::Passing;

use super::ObjectRef;
use super::detoured::Detoured;
use crate::adapter::{CollocatedServant, Served, Terms};
use crate::client::{self, Collocated, Reference, Results};
use crate::raises::Raises;
use crate::{Call, Operation, Orb};

/// What writes those arguments that are not plain.
pub(crate) type Copies<'v, 'a> = &'v dyn Fn(&mut CdrWriter<'a>);

impl ObjectRef {
    /// As [`call`](Self::call); where a servant of the same ORB is seen as `S`, `serve` calls
    /// it. `passing` says of the arguments how a servant gets them, and whether the result can
    /// be moved unchecked; `write` writes a result. `arguments` are what writes them all, and
    /// what writes those that are not plain: `serve` is given these if it has to take copies.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    #[doc(hidden)]
    #[inline]
    pub fn call_or_serve<'a, S: ?Sized + Sync + 'static, T, E: Raises>(
        &self,
        operation: &'static Operation,
        passing: (Passing, bool),
        arguments: (impl Fn(&mut CdrWriter<'a>), impl Fn(&mut CdrWriter<'a>)),
        results: impl Fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
        write: for<'v> fn(&'v T, &mut CdrWriter<'v>),
        serve: impl FnOnce(&S, &Call<'_>, Option<&mut CdrReader<'_>>) -> Result<T, E>,
    ) -> Result<T, E> {
        let (arguments, copies) = arguments;
        if self.target().may_be_collocated() {
            let results = (write, &results as _);
            if let Some(served) = self.serve(operation, passing, &copies, results, serve) {
                return served;
            }
        }
        client::call(self.target(), operation, arguments, results)
    }

    /// As [`send`](Self::send); where a servant of the same ORB is seen as `S`, `serve` calls
    /// it.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    #[doc(hidden)]
    #[inline]
    pub fn send_or_serve<'a, S: ?Sized + Sync + 'static>(
        &self,
        operation: &'static Operation,
        passing: Passing,
        arguments: (impl Fn(&mut CdrWriter<'a>), impl Fn(&mut CdrWriter<'a>)),
        serve: impl FnOnce(&S, &Call<'_>, Option<&mut CdrReader<'_>>) -> Result<(), SystemException>,
    ) -> Result<(), SystemException> {
        let (arguments, copies) = arguments;
        if self.target().may_be_collocated()
            && let Some(posted) = self.post(operation, passing, &copies, serve)
        {
            return posted;
        }
        client::send(self.target(), operation, arguments)
    }

    /// Calls the servant; `None` if it takes a message. Out of line: the way of all other
    /// calls is inlined in the stub.
    #[inline(never)]
    fn serve<S: ?Sized + Sync + 'static, T, E: Raises>(
        &self,
        operation: &'static Operation,
        (passing, is_plain): (Passing, bool),
        copies: Copies<'_, '_>,
        results: Results<'_, T>,
        serve: impl FnOnce(&S, &Call<'_>, Option<&mut CdrReader<'_>>) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        self.in_place(operation, |at, detoured| {
            let observed = detoured.and_then(|it| it.observed(self, operation));
            let terms = detoured.map(|it| it.terms(operation, observed.as_ref()));
            let terms = terms.as_ref().unwrap_or(&Terms::NONE);
            let called = (self.target(), self.orb());
            let served = served(called, at, operation, passing, copies, terms, serve)?;
            if is_plain
                && detoured.is_none()
                && let Ok(Ok(value)) = served
            {
                return Some(Ok(value));
            }
            let late = detoured.and_then(Detoured::late);
            let served = late.map_or(served, Err);
            let ended = self
                .target()
                .copied(at, (operation, is_plain), served, results);
            if let (Some(observed), Err(error)) = (&observed, &ended) {
                observed.note_raised(&error.raised());
            }
            Some(ended)
        })
    }

    /// As `serve`, for a oneway.
    #[inline(never)]
    fn post<S: ?Sized + Sync + 'static>(
        &self,
        operation: &'static Operation,
        passing: Passing,
        copies: Copies<'_, '_>,
        serve: impl FnOnce(&S, &Call<'_>, Option<&mut CdrReader<'_>>) -> Result<(), SystemException>,
    ) -> Option<Result<(), SystemException>> {
        self.in_place(operation, |at, detoured| {
            let observed = detoured.and_then(|it| it.observed(self, operation));
            let terms = detoured.map(|it| it.terms(operation, observed.as_ref()));
            let terms = terms.as_ref().unwrap_or(&Terms::NONE);
            let called = (self.target(), self.orb());
            let served = served(called, at, operation, passing, copies, terms, serve)?;
            let Some(detoured) = detoured else {
                // What the servant raises has no way to the caller of a oneway.
                return Some(Ok(()));
            };
            let Some(raised) = detoured.raised_by_oneway(served) else {
                return Some(Ok(()));
            };
            if let Some(observed) = &observed {
                observed.note_raised(&raised.raised());
            }
            Some(Err(self.target().raised_in_place(operation, raised)))
        })
    }
}

/// Has the servant serve a request that is made through that reference of that ORB.
#[inline(always)]
pub(crate) fn served<S: ?Sized + Sync + 'static, T, E: Raises>(
    (object, orb): (&Reference, &Orb),
    at: &Collocated,
    operation: &'static Operation,
    passing: Passing,
    copies: Copies<'_, '_>,
    terms: &Terms<'_, '_>,
    serve: impl FnOnce(&S, &Call<'_>, Option<&mut CdrReader<'_>>) -> Result<T, E>,
) -> Option<Served<T, E>> {
    let mut copied = match passing {
        Passing::Plain => None,
        _ => object.copied_arguments(at, passing, copies)?,
    };
    let servant = match at.servant::<CollocatedServant<S>>() {
        Some(servant) => servant,
        None => at.add_servant(orb.core().adapters.collocated_servant(at)?)?,
    };
    let serve = |servant: &S, call: &Call<'_>| match &mut copied {
        None => serve(servant, call, None),
        Some(copied) => {
            let mut reader = copied.reader(object.client().decoding());
            serve(servant, call, Some(&mut reader))
        }
    };
    if servant.is_placed {
        let adapters = &orb.core().adapters;
        return servant.serve_placed(adapters, at, operation, terms, serve);
    }
    servant.serve(at, operation, terms, serve)
}
