// SPDX-License-Identifier: MIT OR Apache-2.0
//! A request as a dynamic servant sees it (`CORBA::ServerRequest`).

use std::fmt;
use std::sync::Arc;

use orbium_cdr::{Any, CdrError, CdrErrorKind, CdrReader};
use orbium_core::{
    Call, Completion, DispatchError, ExceptionKind, ForwardRequest, Properties, SystemException,
    read_properties,
};
use orbium_interceptor::Interrupt;

use super::answer::{Answer, wrong_order};
use super::deferred::DeferredServerRequest;
use super::interception::{Interception, Upcall};
use crate::body_struct::BodyValues;
use crate::request::Argument;
use crate::signature::{Parameter, Signature};

/// A request to a [`DynamicImplementation`](crate::DynamicImplementation).
pub struct ServerRequest<'c, 'r> {
    call: &'c Call<'c>,
    reader: &'c mut CdrReader<'r>,
    upcall: &'c mut dyn Upcall,
    interception: Interception,
    contexts: Contexts,
    answer: Answer,
    is_deferred: bool,
}

/// The properties after the arguments.
enum Contexts {
    Unread,
    /// Read with the arguments, by the signature of the operation.
    Read(Properties),
    /// The servant has received them.
    Taken,
}

impl<'c, 'r> ServerRequest<'c, 'r> {
    pub(super) fn new(
        call: &'c Call<'c>,
        reader: &'c mut CdrReader<'r>,
        upcall: &'c mut dyn Upcall,
    ) -> Self {
        Self {
            call,
            reader,
            upcall,
            interception: Interception::default(),
            contexts: Contexts::Unread,
            answer: Answer::default(),
            is_deferred: false,
        }
    }

    /// The name of the operation on the wire. One that is not UTF-8 is converted lossily.
    #[must_use]
    pub fn operation(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.call.operation())
    }

    /// The request as any servant sees it: object id, peer, deadline, service contexts.
    #[must_use]
    pub fn call(&self) -> &Call<'_> {
        self.call
    }

    /// Reads the arguments by the types of all parameters, including `out` ones. To be called once,
    /// also for an operation without parameters.
    ///
    /// # Errors
    /// BAD_INV_ORDER 7: they were read before, or an exception was set. MARSHAL 3: the request has
    /// fewer. The error in the data.
    pub fn arguments(&mut self, parameters: &[Parameter]) -> Result<&[Argument], SystemException> {
        self.read(parameters)?;
        self.show()?;
        Ok(self.read_arguments())
    }

    /// Runs the interception point of the request, with the context that was read.
    fn show(&mut self) -> Result<(), SystemException> {
        let context = match &self.contexts {
            Contexts::Read(properties) => Some(&**properties),
            Contexts::Unread | Contexts::Taken => None,
        };
        let request = (self.call, &self.answer, context);
        self.interception.run(request, self.upcall)
    }

    fn read(&mut self, parameters: &[Parameter]) -> Result<(), SystemException> {
        if self.is_deferred || self.answer.arguments.is_some() || self.answer.has_exception() {
            return Err(wrong_order(7));
        }
        let sent = parameters.iter().filter(|it| it.direction.is_sent());
        let members = sent.map(|it| (&*it.name, it.code.clone())).collect();
        let read = BodyValues::read(members, self.reader).map_err(|error| match error.kind {
            CdrErrorKind::Truncated => marshal(3),
            _ => unread(error),
        })?;
        self.answer.received_struct = read.shared;
        let mut values = read.each.into_iter();
        let arguments = parameters.iter().map(|parameter| {
            let value = if parameter.direction.is_sent() {
                values.next().unwrap_or_default()
            } else {
                Any::default()
            };
            Argument::new(parameter, value)
        });
        self.answer.arguments = Some(arguments.collect());
        Ok(())
    }

    /// As [`arguments`](Self::arguments), for an operation with that signature: the reply is
    /// checked against it, and the properties of a `context` clause are read, too.
    ///
    /// # Errors
    /// As [`arguments`](Self::arguments). MARSHAL 3: the request has more arguments.
    pub fn arguments_of(
        &mut self,
        signature: &Arc<Signature>,
    ) -> Result<&[Argument], SystemException> {
        self.read(&signature.parameters)?;
        if !signature.contexts.is_empty() {
            self.contexts = Contexts::Read(read_properties(self.reader)?);
        }
        if self.reader.remaining() > 0 {
            return Err(marshal(3));
        }
        self.answer.signature = Some(Arc::clone(signature));
        self.show()?;
        Ok(self.read_arguments())
    }

    /// The arguments that were read; none before.
    #[must_use]
    pub fn read_arguments(&self) -> &[Argument] {
        self.answer.arguments()
    }

    /// The arguments of the request as one struct, by the names of their parameters. Its members
    /// share values of valuetypes as in the request, while each [`Argument::value`] is a copy. To
    /// be called before any of them is set.
    ///
    /// # Errors
    /// BAD_INV_ORDER 7: the arguments were not read. The error in a value.
    pub fn received(&self) -> Result<Any, SystemException> {
        self.answer.received()
    }

    /// Reads the properties after the arguments of an operation with a `context` clause. To be
    /// called once, after [`arguments`](Self::arguments) and before a result is set.
    ///
    /// # Errors
    /// BAD_INV_ORDER 8: called at another time. MARSHAL: they are not pairs.
    pub fn contexts(&mut self) -> Result<Properties, SystemException> {
        if self.answer.arguments.is_none() || self.answer.has_result() {
            return Err(wrong_order(8));
        }
        match std::mem::replace(&mut self.contexts, Contexts::Taken) {
            Contexts::Unread => {
                let read = read_properties(self.reader);
                read.inspect(|properties| self.interception.show_context(properties))
            }
            Contexts::Read(properties) => Ok(properties),
            Contexts::Taken => Err(wrong_order(8)),
        }
    }

    /// Whether the request has a context that the servant has not read.
    fn check_contexts(&self, unread: SystemException) -> Result<(), SystemException> {
        let is_read = self.answer.arguments.is_some();
        match self.contexts {
            Contexts::Unread if is_read && self.reader.remaining() > 0 => Err(unread),
            _ => Ok(()),
        }
    }

    /// Sets the new value of an `inout` or `out` argument, by its index among the parameters.
    ///
    /// # Errors
    /// BAD_INV_ORDER 7: the arguments were not read. BAD_PARAM: there is no such argument to
    /// return, or the value is of another type.
    pub fn set_argument(&mut self, index: usize, value: Any) -> Result<(), SystemException> {
        self.answer.set_argument(index, value)
    }

    /// Sets the result. To be called once, after [`arguments`](Self::arguments).
    ///
    /// # Errors
    /// BAD_INV_ORDER 9: called at another time, or after an exception was set. MARSHAL 2: there is
    /// a context, and it was not read. BAD_PARAM: the type differs from that of the signature.
    pub fn set_result(&mut self, value: Any) -> Result<(), SystemException> {
        self.check_contexts(marshal(2))?;
        self.answer.set_result(value)
    }

    /// Sets the result and all returned arguments as one struct: the result first, if there is one,
    /// then the arguments in the order of their parameters. Values of valuetypes that its members
    /// share are shared by the reply. To be called in place of [`set_result`](Self::set_result) and
    /// [`set_argument`](Self::set_argument), with [`Request::results`](crate::Request::results) for
    /// example.
    ///
    /// # Errors
    /// As [`set_result`](Self::set_result). BAD_PARAM: the any is not a struct, or its members do
    /// not match the arguments.
    pub fn set_results(&mut self, results: Any) -> Result<(), SystemException> {
        self.check_contexts(marshal(2))?;
        self.answer.set_results(results)
    }

    /// Raises a user exception when the servant returns. It may be called at any time; the last
    /// exception is raised, and results are discarded.
    ///
    /// # Errors
    /// BAD_PARAM 21: the any does not contain an exception; 22: the signature does not list it.
    pub fn set_exception(&mut self, exception: Any) -> Result<(), SystemException> {
        if self.answer.arguments.is_none() && !self.is_deferred {
            self.show()?;
        }
        self.answer.set_exception(exception)
    }

    /// Forwards the client to another object when the servant returns. It may be called at any
    /// time; exceptions and results are then discarded.
    pub fn set_forward(&mut self, to: ForwardRequest) {
        self.answer.set_forward(to);
    }

    /// Defers the request, to be answered after the servant has returned, from any thread, with the
    /// values set so far. It can then no longer be read here, and values set here have no effect.
    ///
    /// # Errors
    /// BAD_INV_ORDER 7: the arguments were not read, or it was deferred before. MARSHAL 3: there
    /// are more arguments. TRANSIENT 1: the maximum number of requests of the adapter is open.
    pub fn defer(&mut self) -> Result<DeferredServerRequest, SystemException> {
        if self.is_deferred || !self.answer.is_read() {
            return Err(wrong_order(7));
        }
        self.check_contexts(marshal(3))?;
        let reply = self.upcall.defer().map_err(DispatchError::exception)?;
        self.is_deferred = true;
        let answer = std::mem::take(&mut self.answer);
        Ok(DeferredServerRequest::new(reply, answer))
    }

    /// The answer that the servant has set, once it has returned; `None` if it answers later.
    ///
    /// # Errors
    /// The exception of the servant, or that of an interceptor that has ended the request before.
    pub(super) fn ended(
        self,
        invoked: Result<(), SystemException>,
    ) -> Result<Option<Answer>, Interrupt> {
        if !self.interception.is_interrupted() {
            invoked?;
            if self.is_deferred {
                return Ok(None);
            }
            if self.answer.has_results() {
                self.check_contexts(marshal(3))?;
            }
        }
        self.interception.ended(self.answer).map(Some)
    }
}

impl fmt::Debug for ServerRequest<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerRequest")
            .field("operation", &self.operation())
            .field("arguments", &self.answer.arguments)
            .finish_non_exhaustive()
    }
}

/// The exception for a request that cannot be read, as in generated skeletons.
fn unread(error: CdrError) -> SystemException {
    DispatchError::from(error).exception()
}

/// MARSHAL with a code of the standard.
fn marshal(minor: u32) -> SystemException {
    SystemException::omg(ExceptionKind::Marshal, minor, Completion::No)
}
