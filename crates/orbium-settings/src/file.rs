// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration files: TOML, or directives of TAO's service configurator.
//!
//! A key of a file is a path of TOML: `connections` in the section `[limits]` is
//! `limits.connections`. There is one table of keys, that of the ORB ([`Settings`]): the reader
//! parses TOML's tables and values with the crate `toml` and applies each by its path and its text,
//! like an argument. A struct for `serde` would be a second table.

mod document;
mod service_configurator;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::settings::Settings;
use crate::{ConfigError, Place};

/// Maximum size in bytes of a file.
const MAX_FILE_SIZE: u64 = 1 << 20;

/// Reads a file. Settings of `base` remain unless the file sets them; its profile takes precedence
/// over the file's.
///
/// # Errors
/// The file cannot be read, or has an invalid line: which one, and the correction.
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

/// Parses the text of a file with that path.
///
/// # Errors
/// The text has an invalid line: which one, and the correction.
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
