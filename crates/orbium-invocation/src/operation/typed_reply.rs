// SPDX-License-Identifier: MIT OR Apache-2.0
//! The types of an operation, behind one interface: one function makes the calls of all operations, and knows of
//! each only how its reply is read.

use std::cell::Cell;
use std::fmt;

use orbium_cdr::{CdrError, CdrReader, CdrWriter, Format};
use orbium_giop::SystemException;

use crate::Decoding;
use crate::collocation::{copied_exception, copied_result};
use crate::exception::call_exceptions::broken_invariant;
use crate::exception::raises::{ExceptionId, Raises};

/// Reads the body of a reply into the types of an operation.
pub trait ReplyReader {
    /// Reads the results.
    ///
    /// # Errors
    /// They cannot be read.
    fn read_results(&mut self, reader: &mut CdrReader<'_>) -> Result<(), CdrError>;

    /// Reads the members of the user exception of that repository id; `None` if the operation does not declare it.
    ///
    /// # Errors
    /// They cannot be read.
    fn read_exception(
        &mut self,
        id: &str,
        reader: &mut CdrReader<'_>,
    ) -> Result<Option<ExceptionId>, CdrError>;
}

/// What writes a result of a servant, and what reads it again.
pub type Results<'v, T> = (
    for<'w> fn(&'w T, &mut CdrWriter<'w>),
    &'v dyn Fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
);

/// The results of a call, or the exception that it ended with, in the types of its operation.
pub struct TypedOutcome<T, E>(Cell<Option<Result<T, E>>>);

impl<T, E> TypedOutcome<T, E> {
    /// Of a call that has not ended.
    #[must_use]
    pub const fn new() -> Self {
        Self(Cell::new(None))
    }

    /// A reader that puts what it reads here.
    pub fn read_by<F>(&self, results: F) -> TypedReply<'_, F, T, E> {
        TypedReply {
            results: Some(results),
            outcome: self,
        }
    }
}

/// A function that reads results.
pub type ReadsResults<T> = fn(&mut CdrReader<'_>) -> Result<T, CdrError>;

impl<T, E: Raises> TypedOutcome<T, E> {
    /// A reader of exceptions alone.
    #[must_use]
    pub fn read_exception_by(&self) -> TypedReply<'_, ReadsResults<T>, T, E> {
        TypedReply {
            results: None,
            outcome: self,
        }
    }

    /// Keeps what a servant has returned.
    ///
    /// # Errors
    /// What it has raised.
    pub fn keep(&self, served: Result<T, E>) -> Result<(), ExceptionId> {
        let ended = served.as_ref().map(|_| ()).map_err(ExceptionId::of);
        self.0.set(Some(served));
        ended
    }

    /// Copies what a servant has returned, as its caller is to have it; moved if it `is_plain`.
    ///
    /// # Errors
    /// Why it cannot be copied.
    #[cold]
    pub fn copy(
        &self,
        (format, decoding): (Format, &Decoding),
        is_plain: bool,
        (write, read): Results<'_, T>,
    ) -> Result<Result<(), ExceptionId>, SystemException> {
        let copied = match self.0.take() {
            Some(Ok(value)) if is_plain => Ok(Ok(value)),
            Some(Ok(value)) => copied_result(format, decoding, value, write, read).map(Ok),
            Some(Err(error)) => copied_exception(format, decoding, error).map(Err),
            None => Err(broken_invariant()),
        };
        copied.map(|served| self.keep(served))
    }

    /// Keeps what another outcome of the same operation has, which another thread may have made.
    pub fn take_from(&self, other: Self) {
        self.0.set(other.0.into_inner());
    }

    /// How the call ends, of which `performed` says that the outcome is here.
    ///
    /// # Errors
    /// Its exception.
    #[inline]
    pub fn ended(&self, performed: Result<(), SystemException>) -> Result<T, E> {
        performed?;
        self.0
            .take()
            .unwrap_or_else(|| Err(broken_invariant().into()))
    }
}

impl<T, E> Default for TypedOutcome<T, E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, E> fmt::Debug for TypedOutcome<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypedOutcome")
    }
}

/// Reads a reply into the types of an operation, its results by a function.
pub struct TypedReply<'o, F, T, E> {
    results: Option<F>,
    outcome: &'o TypedOutcome<T, E>,
}

impl<F, T, E> ReplyReader for TypedReply<'_, F, T, E>
where
    F: FnMut(&mut CdrReader<'_>) -> Result<T, CdrError>,
    E: Raises,
{
    fn read_results(&mut self, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
        if let Some(results) = &mut self.results {
            self.outcome.0.set(Some(Ok(results(reader)?)));
        }
        Ok(())
    }

    fn read_exception(
        &mut self,
        id: &str,
        reader: &mut CdrReader<'_>,
    ) -> Result<Option<ExceptionId>, CdrError> {
        let raised = E::decode_raised(id, reader).transpose()?;
        Ok(raised.and_then(|raised| self.outcome.keep(Err(raised)).err()))
    }
}

impl<F, T, E> fmt::Debug for TypedReply<'_, F, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypedReply")
    }
}

/// Reads results of which nothing but their arrival matters, of an operation that declares no exceptions.
#[derive(Debug)]
pub struct Acknowledgement;

impl ReplyReader for Acknowledgement {
    fn read_results(&mut self, _: &mut CdrReader<'_>) -> Result<(), CdrError> {
        Ok(())
    }

    fn read_exception(
        &mut self,
        _: &str,
        _: &mut CdrReader<'_>,
    ) -> Result<Option<ExceptionId>, CdrError> {
        Ok(None)
    }
}
