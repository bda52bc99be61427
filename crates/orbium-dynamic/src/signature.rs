// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signature of an operation, for its callers.

use orbium_cdr::TypeCode;

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
    /// Which way it travels.
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

/// The bodies of a request and its reply as structs.
///
/// An any is a graph of values of its own. The members of one struct may share values, as the
/// arguments of one request may: [`Request::with_arguments`](crate::Request::with_arguments),
/// [`Request::results`](crate::Request::results),
/// [`ServerRequest::set_results`](crate::ServerRequest::set_results).
impl Signature {
    /// A struct of the parameters that a request carries, by their names.
    #[must_use]
    pub fn arguments_type(&self) -> TypeCode {
        let sent = self.parameters.iter().filter(|it| it.direction.is_sent());
        let members = sent.map(|it| (&*it.name, it.code.clone()));
        TypeCode::structure("", "", members)
    }
}
