// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reply slot, by which a servant sends borrowed results.

use std::fmt;
use std::marker::PhantomData;

use orbium_cdr::Encode;
use orbium_giop::SystemException;

use super::untyped::UntypedReply;
use orbium_invocation::raises::{DispatchError, Raised, Raises};

/// Reply slot of a servant for a `@borrow` operation in IDL.
///
/// [`send`](Self::send) encodes and sends before it returns, so results may be borrowed from the
/// servant, the request, the stack or a lock guard. `T` is the single result, or a generated struct
/// of borrows if there are several; `E` is the error type of the operation.
///
/// ```
/// # use orbium_sync::lock::RwLock;
/// # use orbium_giop::SystemException;
/// # use orbium_request::{Reply, Sent};
/// # struct Call;
/// # struct Recorder { frames: RwLock<Vec<u8>> }
/// # impl Recorder {
/// fn read(&self, _: &Call, at: u64, reply: Reply<[u8]>) -> Result<Sent, SystemException> {
///     let frames = self.frames.read();
///     reply.send(&frames[at as usize..])
/// }
/// # }
/// ```
#[must_use = "the caller waits for the results that `send` sends"]
pub struct Reply<'r, T: ?Sized, E = SystemException> {
    reply: UntypedReply<'r>,
    answered: &'r mut bool,
    // Covariant: a struct of borrows must be allowed to borrow from the stack.
    results: PhantomData<T>,
    error: PhantomData<fn() -> E>,
}

/// Proof that the results of a request were sent. Only [`Reply::send`] returns it, so a servant
/// that returns it has answered.
#[must_use = "a servant returns it"]
pub struct Sent(());

impl<T: Encode + ?Sized, E: From<SystemException>> Reply<'_, T, E> {
    /// Sends the results. Those for a oneway are discarded.
    ///
    /// # Errors
    /// A result cannot be encoded: it exceeds a bound, or the code set of the connection lacks a
    /// character. The caller then gets this exception. A failed connection is not an error.
    #[inline]
    pub fn send(mut self, results: &T) -> Result<Sent, E> {
        let outcome = self.reply.result(|writer| results.encode(writer));
        *self.answered = self.reply.answered;
        match outcome {
            Ok(()) => Ok(Sent(())),
            Err(error) => Err(error.exception().into()),
        }
    }
}

impl<T: ?Sized, E> fmt::Debug for Reply<'_, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("request_id", &self.reply.head.request_id)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sent")
    }
}

impl UntypedReply<'_> {
    /// The slot for the results, passed to the servant by a generated skeleton.
    #[inline]
    pub fn slot<T: ?Sized, E>(&mut self) -> Reply<'_, T, E> {
        Reply {
            reply: UntypedReply::with_head(self.path, self.storage, self.head),
            answered: &mut self.answered,
            results: PhantomData,
            error: PhantomData,
        }
    }

    /// Ends a request that a servant served with a [`slot`](Self::slot): with the exception of the
    /// servant, if any.
    ///
    /// # Errors
    /// The system exception of the servant, or the reason why a user exception cannot be
    /// marshalled. An exception after the results were sent is only logged: the caller has its
    /// reply.
    #[inline]
    pub fn sent<E: Raises>(&mut self, outcome: Result<Sent, E>) -> Result<(), DispatchError> {
        match outcome {
            Ok(Sent(())) => Ok(()),
            Err(error) => self.raise_unless_answered(&error),
        }
    }

    #[cold]
    fn raise_unless_answered(&mut self, error: &impl Raises) -> Result<(), DispatchError> {
        if !self.answered {
            return self.raise(error);
        }
        let exception = match error.raised() {
            Raised::System(exception) => exception.to_string(),
            Raised::User(id, _) => id.to_owned(),
        };
        crate::log::warn!(
            target: "orbium::request",
            exception,
            "a servant raised an exception after it had sent its results",
        );
        Ok(())
    }
}
