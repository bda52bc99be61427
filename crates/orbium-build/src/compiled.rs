// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results of compiling IDL files: generated code and servant templates, with warnings.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// Result of one [`Config::try_compile`](crate::Config::try_compile).
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Compiled {
    /// The written files.
    pub written: Vec<PathBuf>,
    /// All files that were read, included ones too, and the given folders.
    pub read: BTreeSet<PathBuf>,
    /// Warnings, rendered.
    pub warnings: String,
}

/// Result of one [`Config::try_stub`](crate::Config::try_stub).
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Stub {
    /// The text of a Rust file.
    pub code: String,
    /// Warnings, rendered.
    pub warnings: String,
}
