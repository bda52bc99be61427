// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles IDL from a build script.
//!
//! This crate contains neither the IDL parser nor the code generator: it runs both,
//! prints which files Cargo is to watch, and shows diagnostics.
//!
//! A `build.rs` calls [`compile`], or sets options with [`Config`].
//! The program includes the generated code by `orbium::include_idl!("hello");`.
#![forbid(unsafe_code)]

mod compiled;
mod config;
mod error;
mod extension;
mod files;
mod rust_file;

pub use compiled::{Compiled, Stub};
pub use config::Config;
pub use error::Error;
pub use extension::Extension;
pub use files::IdlFiles;

/// Compiles an IDL file, or several that make one project, or a folder of them,
/// with the default configuration: `idl/hello.idl` becomes `$OUT_DIR/hello.rs`,
/// and so do `["idl/hello.idl", "idl/more.idl"]` together. See
/// [`Config::compile`].
///
/// On failure it shows the error and ends the build script with status 1.
///
/// A complete `build.rs`:
///
/// ```no_run
/// fn main() {
///     orbium_build::compile("idl/hello.idl");
/// }
/// ```
///
/// Several files, or a folder, are one project: one tree of modules in one Rust
/// file, named after the first. With options:
///
/// ```no_run
/// fn main() {
///     orbium_build::Config::new()
///         .include("idl/common")
///         .define("WITH_ADMIN", "1")
///         .deny_unmapped(true)
///         .compile(["idl/bank.idl", "idl/teller.idl"]);
/// }
/// ```
#[expect(
    clippy::needless_doctest_main,
    reason = "a build script is a `main`: the examples show the whole file"
)]
pub fn compile(files: impl IdlFiles) {
    Config::new().compile(files);
}
