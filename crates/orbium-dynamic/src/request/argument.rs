// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of requests, of both sides.

use orbium_cdr::{Any, TypeCode};

use crate::signature::{Direction, Parameter};

/// An argument of a [`Request`](crate::Request).
#[derive(Clone, Debug)]
pub struct Argument {
    pub(super) name: String,
    pub(super) direction: Direction,
    pub(super) code: TypeCode,
    /// Empty for an `out` that was not returned yet.
    pub(super) value: Any,
}

impl Argument {
    pub(crate) fn new(parameter: &Parameter, value: Any) -> Self {
        Self {
            name: parameter.name.clone(),
            direction: parameter.direction,
            code: parameter.code.clone(),
            value,
        }
    }

    /// Sets a new value to return; `false` if it is not returned, or the value is of another type.
    pub(crate) fn set(&mut self, value: Any) -> bool {
        let fits = self.direction.is_returned() && value.type_code().equivalent(&self.code);
        if fits {
            self.value = value;
        }
        fits
    }

    pub(crate) fn type_code(&self) -> &TypeCode {
        &self.code
    }

    pub(crate) fn into_value(self) -> Any {
        self.value
    }

    /// Its name, which is not sent.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The direction of the argument.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// Its value: as set, or after the reply as returned.
    #[must_use]
    pub fn value(&self) -> &Any {
        &self.value
    }
}
