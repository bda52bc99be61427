// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text to tokens, and the tree of what the parser read.

pub(crate) mod ast;
pub(crate) mod doc;
pub(crate) mod literal;
pub(crate) mod scanner;
pub(crate) mod token;
