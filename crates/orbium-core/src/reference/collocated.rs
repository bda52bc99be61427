// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of stubs: of the servant itself where it is one of the same ORB, or else by a
//! message.

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_giop::SystemException;
use orbium_invocation::collocation::is_lendable;
use orbium_server::Expiry;

use super::ObjectRef;
use crate::adapter::CollocatedServant;
use crate::client::{self, Collocated, Detour};
use crate::raises::Raises;
use crate::{Call, Operation};

/// What writes the arguments, what writes a result, and what reads one.
type Values<'v, 'a, T> = (
    &'v dyn Fn(&mut CdrWriter<'a>),
    for<'r> fn(&'r T, &mut CdrWriter<'r>),
    &'v dyn Fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
);

impl ObjectRef {
    /// As [`call`](Self::call); where a servant of the same ORB is seen as `S`, `serve` calls
    /// it. `is_plain` says of the arguments and of the result that they can be lent
    /// unchecked; `write` writes a result.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    #[doc(hidden)]
    #[inline]
    pub fn call_or_serve<'a, S: ?Sized + Sync + 'static, T, E: Raises>(
        &self,
        operation: &'static Operation,
        is_plain: (bool, bool),
        arguments: impl Fn(&mut CdrWriter<'a>),
        results: impl Fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
        write: for<'v> fn(&'v T, &mut CdrWriter<'v>),
        serve: impl FnOnce(&S, &Call<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.target().may_be_collocated() {
            let values = (&arguments as _, write, &results as _);
            if let Some(served) = self.serve(operation, is_plain, values, serve) {
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
        is_plain: bool,
        arguments: impl Fn(&mut CdrWriter<'a>),
        serve: impl FnOnce(&S, &Call<'_>),
    ) -> Result<(), SystemException> {
        if self.target().may_be_collocated()
            && self.post(operation, is_plain, &arguments, serve).is_some()
        {
            return Ok(());
        }
        client::send(self.target(), operation, arguments)
    }

    /// Calls the servant; `None` if it takes a message. Out of line: the way of all other
    /// calls is inlined in the stub.
    #[inline(never)]
    fn serve<S: ?Sized + Sync + 'static, T, E: Raises>(
        &self,
        operation: &'static Operation,
        is_plain: (bool, bool),
        values: Values<'_, '_, T>,
        serve: impl FnOnce(&S, &Call<'_>) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        let detoured;
        let (at, expiry, detoured) = match self.target().collocated() {
            Some(at) => (at, &Expiry::NEVER, None),
            None => {
                detoured = Detoured::of(self)?;
                (detoured.at(self)?, &detoured.expiry, Some(&*detoured))
            }
        };
        if !is_plain.0 && !self.may_lend(at, values.0) {
            return None;
        }
        match self.served(at, operation, expiry, serve)? {
            Ok(Ok(value)) if is_plain.1 && detoured.is_none() => Some(Ok(value)),
            served => {
                let late = detoured.and_then(Detoured::late);
                let served = late.map_or(served, Err);
                Some(self.copied((at, operation, is_plain.1), served, values))
            }
        }
    }

    /// As `serve`, for a oneway.
    #[inline(never)]
    fn post<'a, S: ?Sized + Sync + 'static>(
        &self,
        operation: &'static Operation,
        is_plain: bool,
        arguments: &dyn Fn(&mut CdrWriter<'a>),
        serve: impl FnOnce(&S, &Call<'_>),
    ) -> Option<()> {
        let detoured;
        let (at, expiry) = match self.target().collocated() {
            Some(at) => (at, &Expiry::NEVER),
            None => {
                detoured = Detoured::of(self)?;
                (detoured.at(self)?, &detoured.expiry)
            }
        };
        if !is_plain && !self.may_lend(at, arguments) {
            return None;
        }
        // What the servant raises has no way to the caller of a oneway.
        let served = self.served(at, operation, expiry, serve);
        served.map(|_| ())
    }

    /// Has the servant serve the request.
    #[inline(always)]
    fn served<S: ?Sized + Sync + 'static, R>(
        &self,
        at: &Collocated,
        operation: &'static Operation,
        expiry: &Expiry,
        serve: impl FnOnce(&S, &Call<'_>) -> R,
    ) -> Option<Result<R, SystemException>> {
        let servant = match at.servant::<CollocatedServant<S>>() {
            Some(servant) => servant,
            None => {
                let adapters = &self.orb().core().adapters;
                at.add_servant(adapters.collocated_servant(at)?)?
            }
        };
        servant.serve(at, operation, expiry, serve)
    }

    /// Whether a servant can be lent what `write` writes.
    #[cold]
    #[inline(never)]
    fn may_lend<'a>(&self, at: &Collocated, write: &dyn Fn(&mut CdrWriter<'a>)) -> bool {
        is_lendable(at.format, self.target().client().decoding(), write)
    }

    /// What the caller gets for what the servant has returned.
    #[cold]
    #[inline(never)]
    fn copied<T, E: Raises>(
        &self,
        (at, operation, is_plain): (&Collocated, &'static Operation, bool),
        served: Result<Result<T, E>, SystemException>,
        (_, write, read): Values<'_, '_, T>,
    ) -> Result<T, E> {
        let target = self.target();
        match served {
            Err(exception) => Err(target.raised_in_place(operation, exception).into()),
            Ok(Ok(value)) if is_plain => Ok(value),
            Ok(served) => target.copied(at.format, operation, served, write, read),
        }
    }
}

/// A call that has deadlines, or is made through another reference.
struct Detoured {
    detour: Detour,
    /// Until when it makes sense to begin.
    expiry: Expiry,
}

impl Detoured {
    #[cold]
    #[inline(never)]
    fn of(object: &ObjectRef) -> Option<Box<Self>> {
        let detour = object.target().detour()?;
        let expiry = Expiry::of_call(&detour.timing);
        Some(Box::new(Self { detour, expiry }))
    }

    /// The object that is called.
    #[cold]
    #[inline(never)]
    fn at<'d>(&'d self, object: &'d ObjectRef) -> Option<&'d Collocated> {
        self.detour.at(object.target())
    }

    /// What is raised if the caller waits no more.
    #[cold]
    fn late(&self) -> Option<SystemException> {
        let timing = &self.detour.timing;
        timing.is_timed.then(|| timing.check_reply().err())?
    }
}
