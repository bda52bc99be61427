// SPDX-License-Identifier: MIT OR Apache-2.0
//! CORBA Messaging's reply handlers: objects that take the replies of asynchronous calls.

mod exception_holder;

pub use exception_holder::{EXCEPTION_HOLDER_TYPE, ExceptionHolder, ExceptionHolderState};

use orbium_core::asynchronous::Asynchronous;
use orbium_core::{AsyncServant, Interface, Raises, Spawn};

orbium_core::idl_interface! {
    /// The base interface of all reply handlers (CORBA 3.3 Part 1, 17.9:
    /// `Messaging::ReplyHandler`).
    ///
    /// The handler of an interface `I` is `AMI_IHandler`, in Rust `AmiIHandler`: its servant takes
    /// the results of an operation in the method of that name, and exceptions as an
    /// [`ExceptionHolder`] in the one that ends in `_excep`.
    pub struct ReplyHandler = "IDL:omg.org/Messaging/ReplyHandler:1.0";
    pub trait ReplyHandlerServant;
}

/// The base of asynchronous servants of all reply handlers; it has no operations.
///
/// `async_servants("Bank::AMI_AccountHandler")` in the build script generates the trait
/// `AmiAccountHandlerAsyncServant`. With an [`AsyncServant`] of it the replies of
/// `sendc_` calls are taken by futures, on an executor such as a scheduler context.
pub trait ReplyHandlerAsyncServant: Send + Sync + 'static {}

impl<S: ReplyHandlerAsyncServant, X: Spawn> ReplyHandlerServant for AsyncServant<S, X> {}

/// Sends the outcome of a call to its handler, or discards it if there is none. The call of the
/// handler is asynchronous, too; a handler that does not take the reply is logged and counted.
#[doc(hidden)]
pub fn send<H, T, E>(
    call: Asynchronous<T, E>,
    operation: &'static str,
    handler: Option<&H>,
    reply: fn(&H, T) -> Asynchronous<()>,
    exception: fn(&H, &ExceptionHolder) -> Asynchronous<()>,
) where
    H: Interface + Clone + Send + 'static,
    T: 'static,
    E: Raises + 'static,
{
    let Some(handler) = handler.cloned() else {
        return call.detach();
    };
    call.on_reply(move |outcome| {
        let sent = match outcome {
            Ok(results) => reply(&handler, results),
            Err(raised) => exception(&handler, &ExceptionHolder::of(&raised)),
        };
        sent.on_reply(move |taken| {
            if let Err(failure) = taken {
                handler
                    .as_object()
                    .note_undelivered_reply(operation, failure);
            }
        });
    });
}
