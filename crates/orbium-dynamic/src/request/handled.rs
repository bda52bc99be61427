// SPDX-License-Identifier: MIT OR Apache-2.0
//! Delivery of replies to reply handler objects: the call-back model of CORBA Messaging.

use std::sync::Arc;

use orbium_cdr::{Any, CdrWriter, Format, Type, TypeCode};
use orbium_core::{Completion, ExceptionKind, ObjectRef, SystemException};
use orbium_giop::SystemExceptionBody;
use orbium_value::Kind;

use super::{Request, RequestError, is_void, returned};
use crate::dyn_any::{DynAny, DynAnyError};

impl Request {
    /// Sends the request, unless it was sent before, and has its reply sent to a reply handler
    /// (`CORBA::Request::sendc`), an object of this process or another one: `AMI_IHandler` of the
    /// interface `I`, or any object with such operations. Without a handler as
    /// [`detach`](Self::detach).
    ///
    /// The result and the returned values of the arguments are the arguments of the handler's
    /// operation of the same name, `get_x` and `set_x` for an attribute; an exception is passed as
    /// the `Messaging::ExceptionHolder` of the operation that ends in `_excep`. An exception that
    /// the request does not [list](Self::add_exception) becomes UNKNOWN 1. A handler that does not
    /// accept the reply is logged and counted
    /// ([`Orb::undelivered_replies`](orbium_core::Orb::undelivered_replies)).
    ///
    /// ```
    /// use orbium_cdr::{Any, Type};
    /// use orbium_core::{ObjectRef, SystemException};
    /// use orbium_dynamic::Request;
    ///
    /// /// The display gets `cube_long(27)`.
    /// fn shown(cube: &ObjectRef, display: &ObjectRef) -> Result<(), SystemException> {
    ///     let mut request = Request::new(cube, "cube_long")?;
    ///     request.add_in("value", Any::from(3))?;
    ///     request.set_return_type(Type::LONG)?;
    ///     request.sendc(Some(display))
    /// }
    /// ```
    ///
    /// # Errors
    /// BAD_INV_ORDER 10: the request was invoked, or its reply collected. The handler receives all
    /// other errors, including those of sending.
    pub fn sendc(self, handler: Option<&ObjectRef>) -> Result<(), SystemException> {
        let Some(handler) = handler.cloned() else {
            return self.detach();
        };
        self.on_reply(move |request, outcome| {
            let operation: Arc<str> = request.operation.as_str().into();
            let (name, receiver) = (Arc::clone(&operation), handler.clone());
            let sent = request.reply_to(&handler, outcome).and_then(|reply| {
                reply.on_reply(move |_, taken| {
                    if let Err(failure) = taken {
                        receiver.note_undelivered_reply(&name, failure.into());
                    }
                })
            });
            if let Err(failure) = sent {
                handler.note_undelivered_reply(&operation, failure);
            }
        })
    }

    /// The request that hands an outcome to a handler.
    fn reply_to(
        self,
        handler: &ObjectRef,
        outcome: Result<(), RequestError>,
    ) -> Result<Self, SystemException> {
        // `_get_x` of an attribute.
        let operation = self.operation.strip_prefix('_');
        let operation = operation.unwrap_or(&self.operation);
        if let Err(raised) = outcome {
            let mut reply = Self::new(handler, &format!("{operation}_excep"))?;
            reply.add_in("excep_holder", exception_holder(&raised)?)?;
            return Ok(reply);
        }
        let mut reply = Self::new(handler, operation)?;
        if !is_void(&self.returns) {
            reply.add_in("ami_return_val", self.returned)?;
        }
        for argument in returned(&self.arguments) {
            reply.add_in(argument.name(), argument.value().clone())?;
        }
        // If they share values, so do those of the handler.
        reply.sent_struct = self.returned_struct;
        Ok(reply)
    }
}

/// `Messaging::ExceptionHolder`, a valuetype (CORBA 3.3 Part 1, 17.8).
fn exception_holder_type() -> TypeCode {
    let octets = TypeCode::sequence(Type::OCTET.into(), 0);
    TypeCode::value(
        "IDL:omg.org/Messaging/ExceptionHolder:1.0",
        "ExceptionHolder",
        Kind::Plain.modifier(),
        None,
        [
            ("is_system_exception", Type::BOOLEAN.into(), false),
            ("byte_order", Type::BOOLEAN.into(), false),
            ("marshaled_exception", octets, false),
        ],
    )
}

/// An exception as in the body of a reply, as a value.
fn exception_holder(raised: &RequestError) -> Result<Any, SystemException> {
    let unwritable = |error| SystemException::from_cdr(error, Completion::Yes);
    let mut writer = CdrWriter::new(Format::native());
    let is_system = match raised {
        RequestError::User(exception) => {
            exception.write_value(&mut writer);
            false
        }
        other => {
            let exception = SystemException::from(other.clone());
            SystemExceptionBody::from(exception).write(&mut writer);
            true
        }
    };
    let octets = writer.finish().map_err(unwritable)?;
    let members = [
        ("is_system_exception", Any::from(is_system)),
        ("byte_order", Any::from(cfg!(target_endian = "little"))),
        (
            "marshaled_exception",
            Any::new(&octets).map_err(unwritable)?,
        ),
    ];
    let made = || {
        let mut holder = DynAny::of_type(&exception_holder_type())?;
        let members = members.iter().map(|(name, value)| (*name, value));
        holder.as_value()?.set_members(members)?;
        holder.to_any()
    };
    made().map_err(|error| match error {
        DynAnyError::Marshal(error) => unwritable(error),
        _ => SystemException::new(ExceptionKind::Internal, 0, Completion::Yes),
    })
}
