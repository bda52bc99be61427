// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration files: TOML, or directives of TAO's service configurator.
//!
//! A key of a file is a path of TOML: `connections` in the section `[limits]` is
//! `limits.connections`. The keys stay one table, that of the ORB ([`Settings`]): the reader takes
//! TOML's tables and values from the crate `toml` and hands each on by its path and its text, as
//! an argument does. A struct for `serde` would be a second table.

mod document;
mod service_configurator;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::settings::Settings;
use crate::{ConfigError, Place};

/// Bytes of the largest file that is read.
const MAX_FILE_SIZE: u64 = 1 << 20;

/// Reads a file. Settings of `base` stay unless the file sets them; its profile goes before
/// the file's.
///
/// # Errors
/// The file cannot be read, or has a line that is not understood: which, and what to write.
pub(crate) fn read<S: Settings>(path: &Path, base: Option<S>) -> Result<S, ConfigError> {
    let shown = path.display().to_string();
    let failed = |reason: String| ConfigError::new(Place::File(shown.clone()), reason);
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_SIZE + 1).read_to_end(&mut bytes))
        .map_err(|error| failed(format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_FILE_SIZE {
        return Err(failed(
            "is larger than 1 MiB, so it is no configuration".into(),
        ));
    }
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| failed("is not text in UTF-8".into()))?;
    parse(&shown, &text, base)
}

/// Reads the text of a file with that path.
///
/// # Errors
/// The text has a line that is not understood: which, and what to write.
pub(crate) fn parse<S: Settings>(
    path: &str,
    text: &str,
    base: Option<S>,
) -> Result<S, ConfigError> {
    if service_configurator::is_one(text) {
        return service_configurator::parse(path, text, base);
    }
    document::parse(path, text, base)
}
