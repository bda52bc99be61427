// SPDX-License-Identifier: MIT OR Apache-2.0
//! A request as a dynamic servant sees it (`CORBA::ServerRequest`).

use std::fmt;

use orbium_cdr::{Any, CdrReader, Decode as _, TCKind};
use orbium_core::{Call, Completion, ExceptionKind, SystemException};

use crate::body_struct::{self, BodyValues, member_types};
use crate::request::Argument;
use crate::signature::Parameter;

/// A request to a [`DynamicImplementation`](crate::DynamicImplementation).
pub struct ServerRequest<'c, 'r> {
    call: &'c Call<'c>,
    reader: &'c mut CdrReader<'r>,
    /// Once the servant has asked for them.
    arguments: Option<Vec<Argument>>,
    /// What was received of them as one struct, where they may share values.
    received_struct: Option<Any>,
    has_contexts: bool,
    result: Option<Any>,
    /// All that is returned as one struct, if it was set so.
    results: Option<Any>,
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
            received_struct: None,
            has_contexts: false,
            result: None,
            results: None,
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
        let sent = parameters.iter().filter(|it| it.direction.is_sent());
        let members = sent.map(|it| (&*it.name, it.code.clone())).collect();
        let read = BodyValues::read(members, self.reader).map_err(unread)?;
        self.received_struct = read.shared;
        let mut values = read.each.into_iter();
        let arguments = parameters.iter().map(|parameter| {
            let value = match parameter.direction.is_sent() {
                true => values.next().unwrap_or_default(),
                false => Any::default(),
            };
            Argument::new(parameter, value)
        });
        Ok(self.arguments.insert(arguments.collect()))
    }

    /// The arguments that the request carries as one struct, by the names of their parameters. Its
    /// members share values of valuetypes as the request does, where each [`Argument::value`] is
    /// a copy. To be called before any of them is set.
    ///
    /// # Errors
    /// BAD_INV_ORDER 7: the arguments were not read. What is wrong with a value.
    pub fn received(&self) -> Result<Any, SystemException> {
        let arguments = self.arguments.as_ref().ok_or_else(|| wrong_order(7))?;
        if let Some(received) = &self.received_struct {
            return Ok(received.clone());
        }
        let sent = arguments.iter().filter(|it| it.direction().is_sent());
        body_struct::join(sent.map(|it| (it.name(), it.value()))).map_err(unread)
    }

    /// Reads the properties behind the arguments of an operation with a `context` clause. To be
    /// called once, after [`arguments`](Self::arguments) and before a result is set.
    ///
    /// # Errors
    /// BAD_INV_ORDER 8: at another time. MARSHAL: they are not pairs.
    pub fn contexts(&mut self) -> Result<Vec<(String, String)>, SystemException> {
        if self.arguments.is_none() || self.has_contexts || self.has_result() {
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
        self.check_unanswered()?;
        self.result = Some(value);
        Ok(())
    }

    /// Sets the result and all arguments that are returned, as one struct: the result first,
    /// if there is one, then the arguments in the order of their parameters. Values of valuetypes
    /// that its members share are shared by the reply. To be called in place of
    /// [`set_result`](Self::set_result) and [`set_argument`](Self::set_argument), with
    /// [`Request::results`](crate::Request::results) for example.
    ///
    /// # Errors
    /// BAD_INV_ORDER 9 as [`set_result`](Self::set_result). BAD_PARAM: the any is no struct, or
    /// its members are not those of the arguments.
    pub fn set_results(&mut self, results: Any) -> Result<(), SystemException> {
        self.check_unanswered()?;
        let arguments = self.arguments.iter().flatten();
        let returned = arguments.filter(|it| it.direction().is_returned());
        let returned: Vec<_> = returned.map(Argument::type_code).collect();
        let code = results.type_code().unaliased();
        let members: Vec<_> = member_types(code.as_ref()).collect();
        let is_result = |count: usize| count <= 1;
        let rest = members.len().checked_sub(returned.len());
        let fits = code.kind() == TCKind::Struct
            && rest.is_some_and(is_result)
            && members[rest.unwrap_or(0)..]
                .iter()
                .zip(&returned)
                .all(|(member, code)| member.to_type_code().equivalent(code));
        if !fits {
            let kind = ExceptionKind::BadParam;
            return Err(SystemException::new(kind, 0, Completion::Maybe));
        }
        self.results = Some(results);
        Ok(())
    }

    fn has_result(&self) -> bool {
        self.result.is_some() || self.results.is_some()
    }

    fn check_unanswered(&self) -> Result<(), SystemException> {
        let is_answered = self.has_result() || self.exception.is_some();
        match self.arguments.is_none() || is_answered {
            true => Err(wrong_order(9)),
            false => Ok(()),
        }
    }

    /// Raises a user exception when the servant returns. It may be called at any time; the
    /// last one counts, and the results do not.
    ///
    /// # Errors
    /// BAD_PARAM 21: the any holds no exception.
    pub fn set_exception(&mut self, exception: Any) -> Result<(), SystemException> {
        if exception.type_code().unaliased().kind() != TCKind::Except {
            let refused = SystemException::omg(ExceptionKind::BadParam, 21, Completion::Maybe);
            return Err(refused);
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
        if let Some(results) = self.results {
            return Ok(Answer {
                exception: None,
                results: vec![results],
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
