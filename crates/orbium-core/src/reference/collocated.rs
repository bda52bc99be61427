// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of stubs: of the servant itself where it is one of the same ORB, or else by a
//! message.

use std::any::TypeId;

use orbium_cdr::{CdrError, CdrReader, CdrWriter};
use orbium_giop::SystemException;
use orbium_invocation::collocation::{copied_exception, copied_result, is_lendable};

use super::ObjectRef;
use crate::adapter::TypedUpcall;
use crate::client::{self, Collocated};
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
        let serve = |servant: &S, call: &Call<'_>| {
            serve(servant, call);
            Ok::<(), SystemException>(())
        };
        // What the servant raises has no way to the caller of a oneway.
        if self.target().may_be_collocated()
            && self.post(operation, is_plain, &arguments, serve).is_some()
        {
            return Ok(());
        }
        client::send(self.target(), operation, arguments)
    }

    /// Calls the servant; `None` if it takes a message. Out of line: the way of all other
    /// calls is inlined in the stub.
    #[cold]
    #[inline(never)]
    fn serve<S: ?Sized + 'static, T, E: Raises>(
        &self,
        operation: &'static Operation,
        is_plain: (bool, bool),
        (arguments, write, results): Values<'_, '_, T>,
        serve: impl FnOnce(&S, &Call<'_>) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        let (at, served) = self.serve_typed(operation, is_plain.0, arguments, serve)?;
        let decoding = self.orb().client().decoding();
        let raised = match served {
            Ok(value) if is_plain.1 => return Some(Ok(value)),
            Ok(value) => match copied_result(at.format, decoding, value, write, results) {
                Ok(value) => return Some(Ok(value)),
                Err(exception) => exception,
            },
            Err(error) => match copied_exception(at.format, decoding, error) {
                Ok(error) => return Some(Err(error)),
                Err(exception) => exception,
            },
        };
        let raised = self.target().raised_in_place(operation, raised);
        Some(Err(raised.into()))
    }

    /// The same for a oneway.
    #[cold]
    #[inline(never)]
    fn post<'a, S: ?Sized + 'static>(
        &self,
        operation: &'static Operation,
        is_plain: bool,
        arguments: &dyn Fn(&mut CdrWriter<'a>),
        serve: impl FnOnce(&S, &Call<'_>) -> Result<(), SystemException>,
    ) -> Option<()> {
        let served = self.serve_typed(operation, is_plain, arguments, serve);
        served.map(|_| ())
    }

    /// The same, with the outcome as the servant has it.
    #[inline]
    fn serve_typed<'a, S: ?Sized + 'static, T, E: Raises>(
        &self,
        operation: &'static Operation,
        is_plain: bool,
        arguments: &dyn Fn(&mut CdrWriter<'a>),
        serve: impl FnOnce(&S, &Call<'_>) -> Result<T, E>,
    ) -> Option<(Collocated<'_>, Result<T, E>)> {
        let (mut outcome, mut serve) = (None, Some(serve));
        let (at, ended) = self.serve_in_place(
            operation,
            (!is_plain).then_some(arguments),
            TypeId::of::<S>(),
            &mut |servant, call| match (servant.of(), serve.take()) {
                (Some(servant), Some(serve)) => {
                    outcome = Some(serve(servant, call));
                    true
                }
                _ => false,
            },
        )?;
        // A panic behind the servant's answer does not change it.
        let outcome = outcome.or_else(|| Some(Err(ended.err()?.into())));
        Some((at, outcome?))
    }

    fn serve_in_place<'a>(
        &self,
        operation: &'static Operation,
        checked: Option<&dyn Fn(&mut CdrWriter<'a>)>,
        interface: TypeId,
        upcall: &mut TypedUpcall<'_>,
    ) -> Option<(Collocated<'_>, Result<(), SystemException>)> {
        let at = self.target().collocated()?;
        if checked.is_some_and(|write| !is_lendable(at.format, write)) {
            return None;
        }
        let adapters = &self.orb().core().adapters;
        let served = adapters.serve_collocated(at, operation, interface, upcall)?;
        Some((at, served))
    }
}
