// SPDX-License-Identifier: MIT OR Apache-2.0
//! The OMG IDL front end: preprocessor, parser, resolver, diagnostics.
//!
//! This crate does not know the ORB, the mapping to Rust or marshalling: it turns IDL text into a
//! valid [`model::Model`], or into diagnostics.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod builtin;
mod check;
mod compilation;
mod diagnostic;
mod expansion;
mod loader;
mod options;
mod parser;
mod preprocessor;
mod source;
mod syntax;

pub use compilation::{
    Compilation, compile, compile_bytes, compile_project, compile_project_with, compile_source,
    compile_with,
};
pub use diagnostic::{Diagnostic, Label, Severity};
pub use loader::{FileSystem, Loader, Memory};
pub use options::{Limits, Options};
pub use orbium_idl_model as model;
pub use orbium_idl_model::Excerpt;
pub use parser::keyword_clash;
