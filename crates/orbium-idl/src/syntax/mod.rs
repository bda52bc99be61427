// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tokens of the text, and the syntax tree.

pub(crate) mod ast;
pub(crate) mod doc;
pub(crate) mod literal;
pub(crate) mod scanner;
pub(crate) mod token;
