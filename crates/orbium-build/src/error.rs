// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of compiling IDL files.

use std::path::PathBuf;
use std::{fmt, io};

use orbium_codegen::Warning;

/// Error of compiling IDL. It is displayed completely, over several lines.
#[non_exhaustive]
pub enum Error {
    /// The IDL has errors, or cannot be read: the diagnostics, rendered with source lines.
    Idl {
        /// The given file, or the first of them.
        file: PathBuf,
        /// All findings, warnings too.
        diagnostics: String,
    },
    /// A definition has no mapping to Rust, which is configured as an error.
    Unmapped {
        /// The given file, or the first of them.
        file: PathBuf,
        /// The definitions that would have been left out.
        warnings: Vec<Warning>,
    },
    /// There is no output folder: not run by Cargo, and no
    /// [`Config::out_dir`](crate::Config::out_dir).
    NoOutDir,
    /// There is no IDL file in the given folders.
    NoFiles {
        /// The given folders; may be empty.
        given: Vec<PathBuf>,
    },
    /// An [`Extension`](crate::Extension) has no code for the files: its sentence.
    Extension(String),
    /// A folder could not be read.
    Read {
        /// The folder.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
    /// The path of a file has a line break: Cargo could not watch it.
    LineBreak {
        /// The path.
        path: PathBuf,
    },
    /// Other IDL files were compiled to the same Rust file before, by this process: see
    /// [`Config::name`](crate::Config::name).
    SameName {
        /// The Rust file.
        path: PathBuf,
        /// The first of the files compiled before.
        other: PathBuf,
    },
    /// The generated code could not be written.
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idl { file, diagnostics } => {
                f.write_str(diagnostics)?;
                write!(f, "{} could not be compiled", file.display())
            }
            Self::Unmapped { file, warnings } => {
                for warning in warnings {
                    writeln!(f, "{warning}")?;
                }
                write!(f, "{} uses what has no mapping to Rust", file.display())
            }
            Self::NoOutDir => f.write_str("OUT_DIR is not set and no out_dir was configured"),
            Self::NoFiles { given } => match given.first() {
                Some(folder) => write!(f, "there is no IDL file in {}", folder.display()),
                None => f.write_str("no IDL file was given"),
            },
            Self::Extension(reason) => f.write_str(reason),
            Self::Read { path, cause } => write!(f, "cannot read {}: {cause}", path.display()),
            Self::LineBreak { path } => write!(f, "the path {path:?} has a line break"),
            Self::SameName { path, other } => write!(
                f,
                "{} would be overwritten, which has the code of {}: choose another name with `Config::name`",
                path.display(),
                other.display()
            ),
            Self::Write { path, cause } => write!(f, "cannot write {}: {cause}", path.display()),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Write { cause, .. } | Self::Read { cause, .. } => Some(cause),
            _ => None,
        }
    }
}
