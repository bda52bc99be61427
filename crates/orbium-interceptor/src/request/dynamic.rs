// SPDX-License-Identifier: MIT OR Apache-2.0
//! Facts of invocations with dynamic types, for interceptors of a dynamic call (DII) and of a
//! dynamic skeleton (DSI), where compiled code retains nothing.

use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use orbium_cdr::{Any, CdrError, CdrReader, TypeCode};
use orbium_giop::SystemException;
use orbium_invocation::Operation;
use orbium_sync::lock::Mutex;

use crate::errors::not_kept;

/// Direction of a [`Parameter`] (`CORBA::ParameterMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterMode {
    /// `PARAM_IN`: sent in the request.
    In = 0,
    /// `PARAM_OUT`: sent in the reply.
    Out = 1,
    /// `PARAM_INOUT`: sent in both.
    InOut = 2,
}

/// An argument of an operation (`Dynamic::Parameter`).
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its value; an any of type null for an `out` argument before the reply.
    pub argument: Any,
    /// Its direction.
    pub mode: ParameterMode,
}

/// The contents of the reply of a dynamic invocation.
#[derive(Clone, Debug)]
pub struct Returned {
    /// The result; an any of type void, or null, if there is none.
    pub result: Any,
    /// All arguments, with the returned values.
    pub arguments: Vec<Parameter>,
}

/// The types of the reply to a dynamic invocation, by which it is decoded for interceptors.
pub trait ReplyTypes: fmt::Debug + Send + Sync {
    /// Decodes the results of a call with these arguments.
    ///
    /// # Errors
    /// They cannot be decoded.
    fn read_results(
        &self,
        sent: &[Parameter],
        reader: &mut CdrReader<'_>,
    ) -> Result<Returned, CdrError>;

    /// Decodes the members of the user exception with that repository id; `None` if its type is
    /// unknown.
    ///
    /// # Errors
    /// They cannot be decoded.
    fn read_exception(&self, id: &str, reader: &mut CdrReader<'_>)
    -> Result<Option<Any>, CdrError>;
}

/// A part of the last reply to a dynamic invocation: there may be several, as interceptors may
/// forward a call after a reply.
#[derive(Debug)]
pub struct LastReply<T>(Mutex<Option<Arc<T>>>);

impl<T> LastReply<T> {
    /// Stores the part from a reply.
    pub fn set(&self, part: T) {
        *self.0.lock() = Some(Arc::new(part));
    }

    fn get(&self) -> Result<Arc<T>, SystemException> {
        self.0.lock().clone().ok_or(not_kept())
    }
}

impl<T> Default for LastReply<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// Facts of a dynamic invocation, as far as they are known to its caller or its servant.
#[derive(Debug, Default)]
pub struct DynamicInvocation {
    /// All arguments, with the values in the request.
    pub arguments: Vec<Parameter>,
    /// Types of the exceptions that the operation raises, if known.
    pub exceptions: Option<Vec<TypeCode>>,
    /// Names in the `context` clause of the operation, if known.
    pub contexts: Option<Vec<String>>,
    /// Names and values of the context of the call, alternating, once known.
    pub operation_context: OnceLock<Vec<String>>,
    /// The types by which its reply is decoded, if interceptors see it first.
    pub reply: Option<Box<dyn ReplyTypes>>,
    /// The results, once received.
    pub returned: LastReply<Returned>,
    /// The user exception, once received.
    pub raised: LastReply<Any>,
}

/// A call of this thread.
type Called = (&'static Operation, Arc<DynamicInvocation>);

/// Whether this process has made a dynamic call with interceptors.
static HAS_CALLED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The innermost dynamic call of this thread.
    static CALLED: RefCell<Option<Called>> = const { RefCell::new(None) };
}

/// Restores the call of this thread when it is dropped.
struct Reset(Option<Called>);

impl Drop for Reset {
    fn drop(&mut self) {
        CALLED.set(self.0.take());
    }
}

impl DynamicInvocation {
    /// Makes a call of an operation. Its interceptors have access to these facts; those of nested
    /// calls do not.
    pub fn during<R>(
        self: &Arc<Self>,
        operation: &'static Operation,
        call: impl FnOnce() -> R,
    ) -> R {
        HAS_CALLED.store(true, Ordering::Relaxed);
        let _reset = Reset(CALLED.replace(Some((operation, Arc::clone(self)))));
        call()
    }

    /// Whether this process has made a dynamic call with interceptors.
    #[inline]
    pub(super) fn is_used() -> bool {
        HAS_CALLED.load(Ordering::Relaxed)
    }

    /// The facts of the innermost dynamic call of this thread.
    #[must_use]
    pub fn of_this_thread() -> Option<Arc<Self>> {
        Self::called().map(|OfOperation((_, facts))| facts)
    }

    /// Decodes a received reply. Undecodable parts are omitted, as their caller is not present to
    /// get the error.
    pub fn read_reply(&self, is_exception: bool, reader: &mut CdrReader<'_>) {
        let Some(types) = &self.reply else { return };
        if !is_exception {
            if let Ok(returned) = types.read_results(&self.arguments, reader) {
                self.returned.set(returned);
            }
            return;
        }
        if let Ok(id) = reader.read_owned_name() {
            self.read_exception(&id, reader);
        }
    }

    /// As [`read_reply`](Self::read_reply), for a user exception after its repository id.
    pub fn read_exception(&self, id: &str, reader: &mut CdrReader<'_>) {
        let types = self.reply.as_ref();
        let read = types.map(|types| types.read_exception(id, reader));
        if let Some(Ok(Some(raised))) = read {
            self.raised.set(raised);
        }
    }

    /// The dynamic call of this thread.
    #[inline]
    pub(super) fn called() -> Option<OfOperation> {
        if Self::is_used() {
            CALLED.with_borrow(|called| called.clone().map(OfOperation))
        } else {
            None
        }
    }

    pub(crate) fn exceptions(&self) -> Result<Vec<TypeCode>, SystemException> {
        self.exceptions.clone().ok_or(not_kept())
    }

    pub(crate) fn contexts(&self) -> Result<Vec<String>, SystemException> {
        self.contexts.clone().ok_or(not_kept())
    }

    pub(crate) fn operation_context(&self) -> Result<Vec<String>, SystemException> {
        self.operation_context.get().cloned().ok_or(not_kept())
    }

    pub(crate) fn returned(&self) -> Result<Arc<Returned>, SystemException> {
        self.returned.get()
    }

    pub(crate) fn raised(&self) -> Result<Any, SystemException> {
        self.raised.get().map(|raised| (*raised).clone())
    }
}

/// Facts of a call, and its operation: a thread may make other calls during that call.
#[derive(Clone, Debug)]
pub(crate) struct OfOperation(Called);

impl OfOperation {
    /// The facts, if they belong to a call of that operation.
    pub(crate) fn of(&self, operation: &'static Operation) -> Option<&DynamicInvocation> {
        let (own, facts) = &self.0;
        std::ptr::eq(*own, operation).then_some(&**facts)
    }
}
