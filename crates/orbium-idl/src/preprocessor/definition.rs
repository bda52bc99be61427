// SPDX-License-Identifier: MIT OR Apache-2.0
//! Macro definitions.

use std::collections::HashMap;
use std::rc::Rc;

use crate::syntax::token::Token;

/// The parameters of a macro: the place of each name.
pub(super) type Parameters = HashMap<Rc<str>, usize>;

#[derive(Debug)]
pub(super) struct Macro {
    /// None for an object-like macro.
    pub(super) parameters: Option<Parameters>,
    /// Whether the last parameter takes all further arguments.
    pub(super) variadic: bool,
    pub(super) body: Vec<Token>,
}

impl Macro {
    /// Whether two macros have the same spelling, at any location.
    pub(super) fn is_same(&self, other: &Macro) -> bool {
        if self.parameters != other.parameters
            || self.variadic != other.variadic
            || self.body.len() != other.body.len()
        {
            return false;
        }
        for (i, token) in self.body.iter().enumerate() {
            if token.kind != other.body[i].kind || token.text != other.body[i].text {
                return false;
            }
        }
        true
    }
}
