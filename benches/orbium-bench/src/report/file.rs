// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of results.

use std::path::Path;

use orbium_cli::Failure;

/// Writes a drawing or JSON to a file.
///
/// # Errors
/// The file cannot be written.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|error| Failure::because(format!("cannot write `{}`: {error}", path.display())))
}
