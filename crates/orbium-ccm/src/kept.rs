// SPDX-License-Identifier: MIT OR Apache-2.0
//! Definitions retained until they are instantiated: template modules.

use crate::expansion::Token;

/// A template module.
pub(crate) struct Template<'a> {
    pub(crate) parameters: Vec<String>,
    pub(crate) body: Vec<Token<'a>>,
}
