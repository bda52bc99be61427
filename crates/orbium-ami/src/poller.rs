// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pollers (`Messaging::Poller`): calls under way, with results that are read by operation name.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_invocation::raises::Raises;

use super::call::Call;
use super::handle::{Asynchronous, given_away};
use super::pollable_set::Pollable;

/// The handle of a call with results of any type.
trait Handle: Pollable + Any + Send + Sync {
    fn shared(&self) -> Option<Arc<Call>>;

    /// Another handle of the same call.
    fn again(&self) -> Box<dyn Handle>;

    /// Dropping the handle no longer cancels the call.
    fn release(&mut self);

    fn as_any(&mut self) -> &mut dyn Any;
}

impl<T: 'static, E: Raises + 'static> Handle for Asynchronous<T, E> {
    fn shared(&self) -> Option<Arc<Call>> {
        self.shared_call()
    }

    fn again(&self) -> Box<dyn Handle> {
        Box::new(self.another())
    }

    fn release(&mut self) {
        self.give_away();
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

/// The destination of a poller's reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Model {
    /// The poller.
    Polling,
    /// The associated handler, which may have been called.
    Callback,
    /// This is the poller that the associated handler was given.
    Delivered,
}

/// A pending call of one of the operations of an interface (`Messaging::Poller`, CORBA 3.3 Part 1,
/// 17.9; `I` is the typed reference of the interface). Stubs named `sendp_…` return typed ones, in
/// which each operation has a method that reads its results.
///
/// Time-outs bound a wait only: `Some(Duration::ZERO)` does not wait, `None` waits without limit.
/// Dropping a poller cancels the call, unless a handler is associated.
///
/// ```
/// use std::time::Duration;
///
/// use orbium_core::asynchronous::{Asynchronous, Poller};
/// use orbium_core::{ObjectRef, SystemException};
///
/// fn level(gauge: ObjectRef, call: Asynchronous<i32>) -> Result<i32, SystemException> {
///     let mut poller = Poller::new(gauge, "level", call);
///     while !poller.is_ready(Some(Duration::from_millis(10)))? {
///         // Something else.
///     }
///     poller.response("level", Some(Duration::ZERO))
/// }
/// ```
pub struct Poller<I> {
    target: I,
    operation: &'static str,
    handle: Box<dyn Handle>,
    model: Model,
}

impl<I> Poller<I> {
    /// The poller of a call of that operation, named as in requests (`level`, `_get_name`).
    #[must_use]
    pub fn new<T: 'static, E: Raises + 'static>(
        target: I,
        operation: &'static str,
        call: Asynchronous<T, E>,
    ) -> Self {
        Self {
            target,
            operation,
            handle: Box::new(call),
            model: Model::Polling,
        }
    }

    /// The target object (`operation_target`).
    pub const fn operation_target(&self) -> &I {
        &self.target
    }

    /// The operation, as in requests (`operation_name`).
    #[must_use]
    pub const fn operation_name(&self) -> &'static str {
        self.operation
    }

    /// Whether there is a reply, for which it waits for at most `timeout` (`is_ready`).
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST 5 if the reply was already delivered; BAD_INV_ORDER 22 while a handler is
    /// associated.
    pub fn is_ready(&self, timeout: Option<Duration>) -> Result<bool, SystemException> {
        let call = self.polled()?;
        Ok(call.wait(timeout))
    }

    /// Whether the reply is delivered to the poller and not to its associated handler
    /// (`is_from_poller`).
    ///
    /// # Errors
    /// BAD_INV_ORDER 22 if there is no reply yet.
    pub fn is_from_poller(&self) -> Result<bool, SystemException> {
        match self.call() {
            Some(call) if call.is_open() => Err(no_response_yet()),
            _ => Ok(self.model == Model::Polling),
        }
    }

    /// The results of the call, which must be one of that operation; called by the methods of typed
    /// pollers.
    ///
    /// # Errors
    /// The exceptions of the call. NO_RESPONSE 1 without a reply if the time-out is zero; TIMEOUT 1
    /// without one after the time-out; OBJECT_NOT_EXIST 5 if it was already delivered;
    /// BAD_OPERATION if another operation was called; BAD_INV_ORDER 22 while a handler is
    /// associated.
    pub fn response<T: 'static, E: Raises + 'static>(
        &mut self,
        operation: &str,
        timeout: Option<Duration>,
    ) -> Result<T, E> {
        if operation != self.operation {
            return Err(bad_operation().into());
        }
        self.polled()?;
        match self.handle.as_any().downcast_mut::<Asynchronous<T, E>>() {
            Some(call) => call.response(timeout),
            None => Err(bad_operation().into()),
        }
    }

    /// Whether the reply is delivered to a handler (`associated_handler`).
    #[must_use]
    pub fn has_associated_handler(&self) -> bool {
        self.model == Model::Callback
    }

    /// Associates a handler with the reply, in place of any previous one (`associated_handler`). It
    /// is called once, like one of [`Asynchronous::on_reply`], with a poller that is ready;
    /// immediately if the reply has arrived.
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST 5 if the reply was already delivered.
    pub fn set_associated_handler(
        &mut self,
        handler: impl FnOnce(Self) + Send + 'static,
    ) -> Result<(), SystemException>
    where
        I: Clone + Send + 'static,
    {
        self.clear_associated_handler()?;
        let call = self.polled()?;
        let ready = Self {
            target: self.target.clone(),
            operation: self.operation,
            handle: self.handle.again(),
            model: Model::Delivered,
        };
        self.model = Model::Callback;
        let answered_call = Arc::clone(&call);
        call.on_reply(Box::new(move |answered| {
            answered_call.put_back(answered);
            handler(ready);
        }));
        Ok(())
    }

    /// Removes the associated handler, if there is one: the reply can be polled for again (a nil
    /// `associated_handler`).
    ///
    /// # Errors
    /// OBJECT_NOT_EXIST 5 if the reply was already delivered to the handler.
    pub fn clear_associated_handler(&mut self) -> Result<(), SystemException> {
        if self.model != Model::Callback {
            return Ok(());
        }
        let taken = self.call().and_then(|call| call.take_handler());
        // Dropped here, without the lock of the call.
        drop(taken.ok_or_else(given_away)?);
        self.model = Model::Polling;
        Ok(())
    }

    fn call(&self) -> Option<Arc<Call>> {
        self.handle.shared()
    }

    /// The call, if its reply may be polled for.
    fn polled(&self) -> Result<Arc<Call>, SystemException> {
        let call = self.call().ok_or_else(given_away)?;
        match self.model {
            Model::Callback if call.is_open() => Err(no_response_yet()),
            Model::Callback => Err(given_away()),
            _ if call.is_taken() => Err(given_away()),
            _ => Ok(call),
        }
    }
}

/// A poller with an associated handler counts as ready, as it never will be.
impl<I> Pollable for Poller<I> {
    fn wake_when_ready(&self, waker: &Waker) -> bool {
        self.model == Model::Callback || self.handle.wake_when_ready(waker)
    }
}

impl<I> Drop for Poller<I> {
    fn drop(&mut self) {
        if self.model != Model::Polling {
            self.handle.release();
        }
    }
}

impl<I> fmt::Debug for Poller<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poller")
            .field("operation", &self.operation)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

fn no_response_yet() -> SystemException {
    SystemException::omg(ExceptionKind::BadInvOrder, 22, Completion::Maybe)
}

/// Raised if the poller is one of another operation.
fn bad_operation() -> SystemException {
    SystemException::new(ExceptionKind::BadOperation, 0, Completion::Maybe)
}
