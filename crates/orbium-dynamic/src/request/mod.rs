// SPDX-License-Identifier: MIT OR Apache-2.0
//! The dynamic invocation interface: requests built at run time.

mod argument;
mod asynchronous;
mod deferred;
mod error;
mod facts;
mod group;
mod handled;
mod idl_contexts;
mod received_exception;
mod reply_body;

use orbium_cdr::{Any, CdrError, CdrReader, CdrWriter, TCKind, Type, TypeCode};
use orbium_core::{
    Completion, ExceptionKind, ObjectRef, Properties, SystemException, write_properties,
};

pub use argument::Argument;
pub use error::RequestError;
pub use group::Requests;
use received_exception::{Deferred, Received};

use crate::body_struct::{self, BodyValues};
use crate::operations::operation;
use crate::signature::{Direction, Parameter, Signature};

/// A request for an operation specified by name (`CORBA::Request`).
///
/// Arguments are given in the order of IDL, each with its TypeCode, by which the reply is read.
/// They are not checked against the object's interface before the call: the server checks them, or
/// misinterprets them.
///
/// ```no_run
/// use orbium_cdr::{Any, Type};
/// use orbium_core::Orb;
/// use orbium_dynamic::Request;
///
/// let orb = Orb::builder().build()?;
/// let cube = orb.string_to_object("corbaloc::localhost:5000/Cube")?.ok_or("nil")?;
/// let mut request = Request::new(&cube, "cube_long")?;
/// request.add_in("value", Any::from(3))?;
/// request.set_return_type(Type::LONG)?;
/// request.invoke()?;
/// assert_eq!(request.return_value().extract::<i32>()?, 27);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Request {
    target: ObjectRef,
    operation: String,
    arguments: Vec<Argument>,
    /// The sent arguments as one struct, if they were given so.
    sent_struct: Option<Any>,
    returns: TypeCode,
    returned: Any,
    /// The results as one struct, if they may share values.
    returned_struct: Option<Any>,
    exceptions: Vec<TypeCode>,
    /// The names in the `context` clause of the operation.
    context_names: Vec<String>,
    contexts: Option<Properties>,
    state: State,
}

/// The state of a request.
#[derive(Debug)]
enum State {
    /// It can be changed and invoked.
    Fresh,
    /// Invoked, or sent as a oneway: it cannot be reused.
    Invoked,
    /// Sent; the reply has not been collected.
    Sent(Deferred),
    /// Sent with others: their set has the reply.
    InSet,
    /// The reply was collected.
    Collected,
}

impl Request {
    /// A request for an operation of an object, with the name on the wire: `_get_a` and `_set_a`
    /// for an attribute. Initially it has no arguments and no result.
    ///
    /// # Errors
    /// BAD_PARAM 32 for an operation that every object has, such as `_is_a`:
    /// [`ObjectRef`] has methods for them.
    pub fn new(target: &ObjectRef, operation: &str) -> Result<Self, SystemException> {
        if is_implicit(operation) {
            return Err(SystemException::omg(
                ExceptionKind::BadParam,
                32,
                Completion::No,
            ));
        }
        Ok(Self {
            target: target.clone(),
            operation: operation.to_owned(),
            arguments: Vec::new(),
            sent_struct: None,
            returns: Type::VOID.into(),
            returned: Any::default(),
            returned_struct: None,
            exceptions: Vec::new(),
            context_names: Vec::new(),
            contexts: None,
            state: State::Fresh,
        })
    }

    /// A request for an operation with that signature, with a value for each parameter that is
    /// sent. A missing value is an empty any.
    ///
    /// # Errors
    /// As [`Request::new`].
    pub fn of(
        target: &ObjectRef,
        signature: &Signature,
        values: impl IntoIterator<Item = Any>,
    ) -> Result<Self, SystemException> {
        let mut values = values.into_iter();
        let argument = |parameter: &Parameter| {
            let value = match parameter.direction {
                Direction::In | Direction::InOut => values.next().unwrap_or_default(),
                Direction::Out => Any::default(),
            };
            Argument::new(parameter, value)
        };
        Ok(Self {
            arguments: signature.parameters.iter().map(argument).collect(),
            returns: signature.returns.clone(),
            exceptions: signature.exceptions.clone(),
            context_names: signature.contexts.clone(),
            // With a clause a list is sent, even if it is empty.
            contexts: (!signature.contexts.is_empty()).then(Properties::new),
            ..Self::new(target, &signature.wire_name)?
        })
    }

    /// A request for an operation with that signature, with all sent arguments as one struct of
    /// [`Signature::arguments_type`]: values of valuetypes that its members share are shared by the
    /// arguments.
    ///
    /// # Errors
    /// As [`Request::new`]. BAD_PARAM: the any is of another type. MARSHAL: a value in it is of an
    /// unknown type.
    pub fn with_arguments(
        target: &ObjectRef,
        signature: &Signature,
        arguments: Any,
    ) -> Result<Self, SystemException> {
        let sent = signature.parameters.iter();
        let sent = sent.filter(|it| it.direction.is_sent());
        if !body_struct::is_of(&arguments, sent.map(|it| it.code.as_ref())) {
            let kind = ExceptionKind::BadParam;
            return Err(SystemException::new(kind, 0, Completion::No));
        }
        let each = body_struct::split(&arguments);
        let each = each.map_err(|error| SystemException::from_cdr(error, Completion::No))?;
        Ok(Self {
            sent_struct: Some(arguments),
            ..Self::of(target, signature, each)?
        })
    }

    /// The object that is called.
    #[must_use]
    pub fn target(&self) -> &ObjectRef {
        &self.target
    }

    /// The name of the operation on the wire.
    #[must_use]
    pub fn operation(&self) -> &str {
        &self.operation
    }

    /// Adds an `in` argument. The type of the any is the type that is marshalled: for a
    /// parameter of the IDL type `any`, wrap the any in another one (`Any::new(&any)`).
    ///
    /// # Errors
    /// BAD_INV_ORDER 10: the request was invoked before.
    pub fn add_in(&mut self, name: &str, value: Any) -> Result<(), SystemException> {
        let code = value.type_code().clone();
        self.add(name, Direction::In, code, value)
    }

    /// Adds an `inout` argument.
    ///
    /// # Errors
    /// As [`Request::add_in`].
    pub fn add_inout(&mut self, name: &str, value: Any) -> Result<(), SystemException> {
        let code = value.type_code().clone();
        self.add(name, Direction::InOut, code, value)
    }

    /// Adds an `out` argument, given by its type only.
    ///
    /// # Errors
    /// As [`Request::add_in`].
    pub fn add_out(
        &mut self,
        name: &str,
        code: impl Into<TypeCode>,
    ) -> Result<(), SystemException> {
        self.add(name, Direction::Out, code.into(), Any::default())
    }

    fn add(
        &mut self,
        name: &str,
        direction: Direction,
        code: TypeCode,
        value: Any,
    ) -> Result<(), SystemException> {
        self.check_fresh()?;
        self.arguments.push(Argument {
            name: name.to_owned(),
            direction,
            code,
            value,
        });
        Ok(())
    }

    /// Sets the type of the result; `void` until then.
    ///
    /// # Errors
    /// BAD_INV_ORDER 10: the request was invoked before.
    pub fn set_return_type(&mut self, code: impl Into<TypeCode>) -> Result<(), SystemException> {
        self.check_fresh()?;
        self.returns = code.into();
        Ok(())
    }

    /// Adds a user exception that the operation may raise. One that was not added is returned as
    /// [`RequestError::Unlisted`].
    ///
    /// # Errors
    /// BAD_INV_ORDER 10: the request was invoked before.
    pub fn add_exception(&mut self, code: impl Into<TypeCode>) -> Result<(), SystemException> {
        self.check_fresh()?;
        self.exceptions.push(code.into());
        Ok(())
    }

    /// The arguments: after the reply with the values that were returned.
    #[must_use]
    pub fn arguments(&self) -> &[Argument] {
        &self.arguments
    }

    /// The result; an empty any before the reply, and of a `void` operation.
    #[must_use]
    pub fn return_value(&self) -> &Any {
        &self.returned
    }

    /// The results as one struct: `$return`, unless the operation is `void`, and the returned
    /// arguments by their names. Its members share values of valuetypes like the reply, while
    /// [`return_value`](Self::return_value) and [`Argument::value`] are separate copies.
    ///
    /// # Errors
    /// The error of a value that cannot be copied.
    pub fn results(&self) -> Result<Any, CdrError> {
        if let Some(results) = &self.returned_struct {
            return Ok(results.clone());
        }
        let result = (!is_void(&self.returns)).then_some((RETURN, &self.returned));
        let returned = returned(&self.arguments).map(|it| (it.name(), it.value()));
        body_struct::join(result.into_iter().chain(returned))
    }

    /// Calls the operation and waits for its results, which the request then has.
    ///
    /// # Errors
    /// BAD_INV_ORDER 10: the request was invoked before. The exceptions of the operation, and those
    /// of any call.
    pub fn invoke(&mut self) -> Result<(), RequestError> {
        self.check_fresh()?;
        let operation = operation(&self.operation, false)?;
        self.state = State::Invoked;
        let called = self.intercepted(operation, |facts| {
            self.target.call(
                operation,
                |writer| self.write(writer),
                |reader| self.read_results(reader).inspect(|it| self.show(it, facts)),
            )
        });
        let results = called.map_err(|received: Received| received.resolve(&self.exceptions))?;
        self.take_results(results);
        Ok(())
    }

    /// Sends the request without waiting for a reply. Success means that the transport has accepted
    /// it.
    ///
    /// # Errors
    /// BAD_INV_ORDER 10: the request was invoked before. The exceptions of sending.
    pub fn send_oneway(&mut self) -> Result<(), SystemException> {
        self.check_fresh()?;
        let operation = operation(&self.operation, true)?;
        self.state = State::Invoked;
        self.intercepted(operation, |_| {
            self.target.send(operation, |writer| self.write(writer))
        })
    }

    fn write<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        write_arguments(&self.arguments, self.sent_struct.as_ref(), writer);
        write_contexts(self.contexts.as_deref(), writer);
    }

    fn check_fresh(&self) -> Result<(), SystemException> {
        match self.state {
            State::Fresh => Ok(()),
            _ => Err(wrong_order(10)),
        }
    }

    /// The values of the reply by their types: the result first, then the returned arguments.
    fn reply_members(&self) -> impl Iterator<Item = (&str, TypeCode)> {
        let result = (!is_void(&self.returns)).then(|| (RETURN, self.returns.clone()));
        let returned = returned(&self.arguments).map(|it| (it.name(), it.code.clone()));
        result.into_iter().chain(returned)
    }

    fn read_results(&self, reader: &mut CdrReader<'_>) -> Result<BodyValues, CdrError> {
        BodyValues::read(self.reply_members().collect(), reader)
    }

    /// Stores the results of [`read_results`](Self::read_results).
    fn take_results(&mut self, results: BodyValues) {
        self.returned_struct = results.shared;
        let mut results = results.each.into_iter();
        if !is_void(&self.returns) {
            self.returned = results.next().unwrap_or_default();
        }
        for argument in &mut self.arguments {
            if argument.direction.is_returned() {
                argument.value = results.next().unwrap_or_default();
            }
        }
    }
}

/// The result among the members of [`Request::results`]: no parameter has that name.
const RETURN: &str = "$return";

pub(crate) fn is_void(code: &TypeCode) -> bool {
    matches!(code.kind(), TCKind::Void | TCKind::Null)
}

/// The arguments that a reply carries.
fn returned(arguments: &[Argument]) -> impl Iterator<Item = &Argument> + Clone {
    arguments.iter().filter(|it| it.direction.is_returned())
}

/// Writes the arguments of a request, separately unless they are a struct.
fn write_arguments<'a>(
    arguments: &'a [Argument],
    as_struct: Option<&'a Any>,
    writer: &mut CdrWriter<'a>,
) {
    if let Some(all) = as_struct {
        return all.write_value(writer);
    }
    let sent = arguments.iter().filter(|it| it.direction.is_sent());
    sent.for_each(|argument| argument.value.write_value(writer));
}

/// Writes the properties after the arguments, if the operation has any.
fn write_contexts<'a>(contexts: Option<&'a [(String, String)]>, writer: &mut CdrWriter<'a>) {
    if let Some(properties) = contexts {
        write_properties(properties, writer);
    }
}

/// Whether every object has an operation of that name.
fn is_implicit(operation: &str) -> bool {
    matches!(
        operation,
        "_is_a"
            | "_non_existent"
            | "_not_existent"
            | "_interface"
            | "_get_interface"
            | "_implementation"
            | "_domain_managers"
            | "_get_domain_managers"
            | "_component"
            | "_get_component"
            | "_repository_id"
    )
}

/// BAD_INV_ORDER with a code of the standard.
fn wrong_order(minor: u32) -> SystemException {
    SystemException::omg(ExceptionKind::BadInvOrder, minor, Completion::No)
}
