// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why nothing came of an IDL file.

use std::path::PathBuf;
use std::{fmt, io};

use orbium_codegen::Warning;

/// Why IDL could not be compiled. Displays as all there is to say, over
/// several lines.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The IDL is wrong, or cannot be read: the diagnostics, rendered with
    /// source lines.
    Idl {
        /// The file given.
        file: PathBuf,
        /// Everything found in it, warnings too.
        diagnostics: String,
    },
    /// Something has no mapping to Rust, and that was to be an error.
    Unmapped {
        /// The file given.
        file: PathBuf,
        /// What would have been left out.
        warnings: Vec<Warning>,
    },
    /// No folder to write to: not run by Cargo, and no
    /// [`Config::out_dir`](crate::Config::out_dir).
    NoOutDir,
    /// Two files would be written under the same name.
    SameStem {
        /// The second one.
        file: PathBuf,
    },
    /// What was generated could not be written.
    Write {
        /// Where to.
        path: PathBuf,
        /// Why not.
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
            Self::SameStem { file } => {
                let file = file.display();
                write!(
                    f,
                    "{file} would overwrite what came of a file of the same name"
                )
            }
            Self::Write { path, cause } => write!(f, "cannot write {}: {cause}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Write { cause, .. } => Some(cause),
            _ => None,
        }
    }
}
