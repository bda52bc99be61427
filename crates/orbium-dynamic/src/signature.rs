// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signature of an operation, for its callers.

use orbium_cdr::{Type, TypeCode};

use crate::value_content::may_hold_values;

/// Direction of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From caller to object.
    In,
    /// From object to caller.
    Out,
    /// Both ways.
    InOut,
}

impl Direction {
    /// Whether the request carries a value.
    #[must_use]
    pub fn is_sent(self) -> bool {
        self != Self::Out
    }

    /// Whether the reply carries a value.
    #[must_use]
    pub fn is_returned(self) -> bool {
        self != Self::In
    }
}

/// A parameter of an operation.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name in IDL.
    pub name: String,
    /// The direction of the parameter.
    pub direction: Direction,
    /// Its type.
    pub code: TypeCode,
}

/// Signature of an operation, or of one half of an attribute.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Its name in IDL.
    pub name: String,
    /// Its name on the wire: `_get_a` for reading an attribute.
    pub wire_name: String,
    /// No reply is sent.
    pub oneway: bool,
    /// Its parameters in order.
    pub parameters: Vec<Parameter>,
    /// The type of the result, perhaps `void`.
    pub returns: TypeCode,
    /// The user exceptions that it may raise.
    pub exceptions: Vec<TypeCode>,
    /// The names in its context clause.
    pub contexts: Vec<String>,
}

/// Construction of a signature for an interface without IDL.
///
/// ```
/// use orbium_cdr::Type;
/// use orbium_dynamic::Signature;
///
/// let find = Signature::new("find")
///     .with_in("name", Type::STRING)
///     .with_out("count", Type::ULONG)
///     .returning(Type::BOOLEAN);
/// assert_eq!(find.parameters.len(), 2);
/// ```
impl Signature {
    /// The signature of an operation without parameters, result and exceptions. The name is that on
    /// the wire: `_get_a` and `_set_a` for the attribute `a`.
    #[must_use]
    pub fn new(wire_name: &str) -> Self {
        let attribute = wire_name
            .strip_prefix("_get_")
            .or_else(|| wire_name.strip_prefix("_set_"));
        Self {
            name: attribute.unwrap_or(wire_name).to_owned(),
            wire_name: wire_name.to_owned(),
            oneway: false,
            parameters: Vec::new(),
            returns: Type::VOID.into(),
            exceptions: Vec::new(),
            contexts: Vec::new(),
        }
    }

    fn with(mut self, name: &str, direction: Direction, code: TypeCode) -> Self {
        self.parameters.push(Parameter {
            name: name.to_owned(),
            direction,
            code,
        });
        self
    }

    /// Adds an `in` parameter.
    #[must_use]
    pub fn with_in(self, name: &str, code: impl Into<TypeCode>) -> Self {
        self.with(name, Direction::In, code.into())
    }

    /// Adds an `inout` parameter.
    #[must_use]
    pub fn with_inout(self, name: &str, code: impl Into<TypeCode>) -> Self {
        self.with(name, Direction::InOut, code.into())
    }

    /// Adds an `out` parameter.
    #[must_use]
    pub fn with_out(self, name: &str, code: impl Into<TypeCode>) -> Self {
        self.with(name, Direction::Out, code.into())
    }

    /// Sets the type of the result.
    #[must_use]
    pub fn returning(mut self, code: impl Into<TypeCode>) -> Self {
        self.returns = code.into();
        self
    }

    /// Adds a user exception that it may raise.
    #[must_use]
    pub fn raising(mut self, code: impl Into<TypeCode>) -> Self {
        self.exceptions.push(code.into());
        self
    }
}

/// The bodies of a request and its reply as structs.
///
/// An any is a separate graph of values. The members of one struct may share values, as the
/// arguments of one request may: [`Request::with_arguments`](crate::Request::with_arguments),
/// [`Request::results`](crate::Request::results),
/// [`ServerRequest::set_results`](crate::ServerRequest::set_results).
impl Signature {
    /// Whether the types of parameters, result and exceptions contain a valuetype, an abstract
    /// interface or `any`: values of other types than these may occur there.
    #[must_use]
    pub fn may_hold_values(&self) -> bool {
        let parameters = self.parameters.iter().map(|it| &it.code);
        let mut types = parameters.chain([&self.returns]).chain(&self.exceptions);
        types.any(|code| may_hold_values(code.as_ref()))
    }

    /// A struct of the parameters that a request carries, by their names.
    #[must_use]
    pub fn arguments_type(&self) -> TypeCode {
        let sent = self.parameters.iter().filter(|it| it.direction.is_sent());
        let members = sent.map(|it| (&*it.name, it.code.clone()));
        TypeCode::structure("", "", members)
    }
}
