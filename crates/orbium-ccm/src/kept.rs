// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is kept until it is used.

use crate::expansion::Token;

/// A template module.
#[derive(Clone)]
pub(crate) struct Template<'a> {
    pub(crate) parameters: Vec<String>,
    pub(crate) body: Vec<Token<'a>>,
}
