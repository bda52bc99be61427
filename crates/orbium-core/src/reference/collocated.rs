// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of stubs: of the servant itself where it is one of the same ORB, or else by a
//! message.

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_giop::SystemException;
use orbium_invocation::collocation::is_lendable;

use super::ObjectRef;
use crate::client;
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
    pub fn call_or_serve<'a, S: ?Sized + 'static, T, E: Raises>(
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
    pub fn send_or_serve<'a, S: ?Sized + 'static>(
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
    fn serve<S: ?Sized + 'static, T, E: Raises>(
        &self,
        operation: &'static Operation,
        is_plain: (bool, bool),
        values: Values<'_, '_, T>,
        serve: impl FnOnce(&S, &Call<'_>) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        let at = self.target().collocated()?;
        if !is_plain.0 && !is_lendable(at.format, values.0) {
            return None;
        }
        let adapters = &self.orb().core().adapters;
        match adapters.serve_collocated(at, operation, serve)? {
            Ok(Ok(value)) if is_plain.1 => Some(Ok(value)),
            Ok(served) => {
                let (_, write, read) = values;
                let target = self.target();
                Some(target.copied(at.format, operation, served, write, read))
            }
            Err(exception) => {
                let exception = self.target().raised_in_place(operation, exception);
                Some(Err(exception.into()))
            }
        }
    }

    /// As `serve`, for a oneway.
    #[inline(never)]
    fn post<'a, S: ?Sized + 'static>(
        &self,
        operation: &'static Operation,
        is_plain: bool,
        arguments: &dyn Fn(&mut CdrWriter<'a>),
        serve: impl FnOnce(&S, &Call<'_>),
    ) -> Option<()> {
        let at = self.target().collocated()?;
        if !is_plain && !is_lendable(at.format, arguments) {
            return None;
        }
        let adapters = &self.orb().core().adapters;
        let served = adapters.serve_collocated(at, operation, serve);
        // What the servant raises has no way to the caller of a oneway.
        served.map(|_| ())
    }
}
