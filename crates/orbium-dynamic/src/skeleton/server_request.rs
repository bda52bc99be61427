// SPDX-License-Identifier: MIT OR Apache-2.0
//! A request as a dynamic servant sees it (`CORBA::ServerRequest`).

use std::fmt;

use orbium_cdr::{Any, CdrReader, Decode as _, TCKind};
use orbium_core::{Call, Completion, ExceptionKind, SystemException};

use crate::request::Argument;
use crate::signature::Parameter;

/// A request to a [`DynamicImplementation`](crate::DynamicImplementation).
pub struct ServerRequest<'c, 'r> {
    call: &'c Call<'c>,
    reader: &'c mut CdrReader<'r>,
    /// Once the servant has asked for them.
    arguments: Option<Vec<Argument>>,
    has_contexts: bool,
    result: Option<Any>,
    exception: Option<Any>,
}

/// What a servant answers with.
pub(super) struct Answer {
    pub(super) exception: Option<Any>,
    /// The result, then what is returned of the arguments.
    pub(super) results: Vec<Any>,
}

impl<'c, 'r> ServerRequest<'c, 'r> {
    pub(super) fn new(call: &'c Call<'c>, reader: &'c mut CdrReader<'r>) -> Self {
        Self {
            call,
            reader,
            arguments: None,
            has_contexts: false,
            result: None,
            exception: None,
        }
    }

    /// The name of the operation on the wire. One that is not UTF-8 is shown as well as it
    /// can be.
    #[must_use]
    pub fn operation(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.call.operation())
    }

    /// The request as any servant sees it: object id, peer, deadline, service contexts.
    #[must_use]
    pub fn call(&self) -> &Call<'_> {
        self.call
    }

    /// Reads the arguments by the types of all parameters, `out` ones among them. To be called
    /// once, also for an operation without parameters.
    ///
    /// # Errors
    /// BAD_INV_ORDER 7: they were read before, or an exception was set. What is wrong with
    /// the bytes.
    pub fn arguments(&mut self, parameters: &[Parameter]) -> Result<&[Argument], SystemException> {
        if self.arguments.is_some() || self.exception.is_some() {
            return Err(wrong_order(7));
        }
        let mut arguments = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            let value = match parameter.direction.is_sent() {
                true => Any::read_value(parameter.code.clone(), self.reader).map_err(unread)?,
                false => Any::default(),
            };
            arguments.push(Argument::new(parameter, value));
        }
        Ok(self.arguments.insert(arguments))
    }

    /// Reads the properties behind the arguments of an operation with a `context` clause. To be
    /// called once, after [`arguments`](Self::arguments) and before a result is set.
    ///
    /// # Errors
    /// BAD_INV_ORDER 8: at another time. MARSHAL: they are not pairs.
    pub fn contexts(&mut self) -> Result<Vec<(String, String)>, SystemException> {
        if self.arguments.is_none() || self.has_contexts || self.result.is_some() {
            return Err(wrong_order(8));
        }
        self.has_contexts = true;
        let mut strings = Vec::<String>::decode(self.reader)
            .map_err(unread)?
            .into_iter();
        let mut properties = Vec::new();
        while let Some(name) = strings.next() {
            let marshal = || SystemException::new(ExceptionKind::Marshal, 0, Completion::No);
            properties.push((name, strings.next().ok_or_else(marshal)?));
        }
        Ok(properties)
    }

    /// Sets the new value of an `inout` or `out` argument, by its place among the parameters.
    ///
    /// # Errors
    /// BAD_INV_ORDER 7: the arguments were not read. BAD_PARAM: there is no such argument to
    /// return, or the value is of another type.
    pub fn set_argument(&mut self, index: usize, value: Any) -> Result<(), SystemException> {
        let arguments = self.arguments.as_mut().ok_or_else(|| wrong_order(7))?;
        let argument = arguments.get_mut(index);
        let set = argument.is_some_and(|argument| argument.set(value));
        match set {
            true => Ok(()),
            false => Err(SystemException::new(
                ExceptionKind::BadParam,
                0,
                Completion::Maybe,
            )),
        }
    }

    /// Sets the result. To be called once, after [`arguments`](Self::arguments).
    ///
    /// # Errors
    /// BAD_INV_ORDER 9: at another time, or after an exception was set.
    pub fn set_result(&mut self, value: Any) -> Result<(), SystemException> {
        if self.arguments.is_none() || self.result.is_some() || self.exception.is_some() {
            return Err(wrong_order(9));
        }
        self.result = Some(value);
        Ok(())
    }

    /// Raises a user exception when the servant returns. It may be called at any time; the
    /// last one counts, and the results do not.
    ///
    /// # Errors
    /// BAD_PARAM 21: the any holds no exception.
    pub fn set_exception(&mut self, exception: Any) -> Result<(), SystemException> {
        if exception.type_code().unaliased().kind() != TCKind::Except {
            let kind = ExceptionKind::BadParam;
            return Err(SystemException::omg(kind, 21, Completion::Maybe));
        }
        self.exception = Some(exception);
        Ok(())
    }

    /// What the servant has set.
    pub(super) fn answer(self) -> Result<Answer, SystemException> {
        if self.exception.is_some() {
            return Ok(Answer {
                exception: self.exception,
                results: Vec::new(),
            });
        }
        let arguments = self.arguments.ok_or_else(|| wrong_order(7))?;
        let returned = arguments
            .into_iter()
            .filter(|it| it.direction().is_returned());
        let mut results: Vec<Any> = self.result.into_iter().collect();
        for argument in returned {
            // An `out` argument that was not set has no value to send.
            if argument.value().type_code().kind() == TCKind::Null {
                let kind = ExceptionKind::BadParam;
                return Err(SystemException::new(kind, 0, Completion::Yes));
            }
            results.push(argument.into_value());
        }
        Ok(Answer {
            exception: None,
            results,
        })
    }
}

impl fmt::Debug for ServerRequest<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerRequest")
            .field("operation", &self.operation())
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

fn unread(error: orbium_cdr::CdrError) -> SystemException {
    SystemException::from_cdr(error, Completion::No)
}

fn wrong_order(minor: u32) -> SystemException {
    SystemException::omg(ExceptionKind::BadInvOrder, minor, Completion::Maybe)
}
