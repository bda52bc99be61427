// SPDX-License-Identifier: MIT OR Apache-2.0
//! The types of an operation behind one interface: one function makes the calls of all operations,
//! independently of their types.

use std::cell::Cell;
use std::fmt;

use orbium_cdr::{CdrError, CdrReader, CdrWriter, Format};
use orbium_giop::SystemException;

use crate::Decoding;
use crate::collocation::{Returned, copy_returned};
use crate::exception::call_exceptions::broken_invariant;
use crate::exception::raises::{ExceptionId, Raised, Raises};

/// Unmarshals the body of a reply into the types of an operation.
pub trait ReplyReader {
    /// Unmarshals the results.
    ///
    /// # Errors
    /// They cannot be decoded.
    fn read_results(&mut self, reader: &mut CdrReader<'_>) -> Result<(), CdrError>;

    /// Unmarshals the members of the user exception with that repository id; `None` if the
    /// operation does not declare it.
    ///
    /// # Errors
    /// They cannot be decoded.
    fn read_exception(
        &mut self,
        id: &str,
        reader: &mut CdrReader<'_>,
    ) -> Result<Option<ExceptionId>, CdrError>;
}

/// The functions that marshal and unmarshal a result of a servant.
pub type Results<'v, T> = (
    for<'w> fn(&'w T, &mut CdrWriter<'w>),
    &'v dyn Fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
);

/// The results of a call, or its exception, in the types of its operation.
pub struct TypedOutcome<T, E>(Cell<Option<Result<T, E>>>);

impl<T, E> TypedOutcome<T, E> {
    /// The outcome of a call that has not ended.
    #[must_use]
    pub const fn new() -> Self {
        Self(Cell::new(None))
    }

    /// A reader that stores decoded values here.
    pub fn read_by<'o>(&'o self, results: &'o mut ReadsResults<'o, T>) -> TypedReply<'o, T, E> {
        TypedReply {
            results,
            outcome: self,
        }
    }
}

/// A function that unmarshals results.
pub type ReadsResults<'r, T> = dyn FnMut(&mut CdrReader<'_>) -> Result<T, CdrError> + 'r;

impl<T, E: Raises> TypedOutcome<T, E> {
    /// Stores the result of a servant.
    ///
    /// # Errors
    /// The exception of the servant.
    pub fn keep(&self, served: Result<T, E>) -> Result<(), ExceptionId> {
        let ended = served.as_ref().map(|_| ()).map_err(ExceptionId::of);
        self.0.set(Some(served));
        ended
    }

    /// Copies the result of a servant for its caller; moves it if it `is_plain`.
    ///
    /// # Errors
    /// The reason why it cannot be copied.
    #[cold]
    pub fn copy(
        &self,
        format: (Format, &Decoding),
        is_plain: bool,
        (write, read): Results<'_, T>,
    ) -> Result<Result<(), ExceptionId>, SystemException> {
        let served = self.0.take().ok_or_else(broken_invariant)?;
        if is_plain && served.is_ok() {
            return Ok(self.keep(served));
        }
        if let Err(error) = &served
            && let Raised::System(exception) = error.raised()
        {
            return Err(exception);
        }
        let mut returned = ReturnedOutcome {
            served,
            write,
            read,
        };
        copy_returned(format, &mut returned)?;
        Ok(self.keep(returned.served))
    }

    /// Takes over another outcome of the same operation, possibly from another thread.
    pub fn take_from(&self, other: Self) {
        self.0.set(other.0.into_inner());
    }

    /// The end of the call, with the results or user exception stored here.
    ///
    /// # Errors
    /// The exception of the call.
    #[inline]
    pub fn ended(&self, ended: Result<(), ExceptionId>) -> Result<T, E> {
        if let Err(ExceptionId::System(exception)) = ended {
            return Err(exception.into());
        }
        self.0
            .take()
            .unwrap_or_else(|| Err(broken_invariant().into()))
    }
}

/// The result of a servant, in the types of its operation.
struct ReturnedOutcome<'v, T, E> {
    served: Result<T, E>,
    write: for<'w> fn(&'w T, &mut CdrWriter<'w>),
    read: &'v dyn Fn(&mut CdrReader<'_>) -> Result<T, CdrError>,
}

impl<T, E: Raises> Returned for ReturnedOutcome<'_, T, E> {
    fn write<'v>(&'v self, writer: &mut CdrWriter<'v>) {
        match &self.served {
            Ok(value) => (self.write)(value, writer),
            Err(error) => {
                if let Raised::User(_, members) = error.raised() {
                    members.encode(writer);
                }
            }
        }
    }

    fn read_again(&mut self, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
        match &self.served {
            Ok(_) => self.served = Ok((self.read)(reader)?),
            Err(error) => {
                if let Raised::User(id, _) = error.raised()
                    && let Some(error) = E::decode_raised(id, reader).transpose()?
                {
                    self.served = Err(error);
                }
            }
        }
        Ok(())
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

/// Unmarshals a reply into the types of an operation, its results by a function.
pub struct TypedReply<'o, T, E> {
    results: &'o mut ReadsResults<'o, T>,
    outcome: &'o TypedOutcome<T, E>,
}

impl<T, E: Raises> ReplyReader for TypedReply<'_, T, E> {
    fn read_results(&mut self, reader: &mut CdrReader<'_>) -> Result<(), CdrError> {
        self.outcome.0.set(Some(Ok((self.results)(reader)?)));
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

impl<T, E> fmt::Debug for TypedReply<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypedReply")
    }
}

/// Reader of acknowledgements: results are ignored, and no exceptions are declared.
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
