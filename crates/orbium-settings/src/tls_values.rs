// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text forms of the values of `tls.` keys.

use std::path::PathBuf;

use crate::value_syntax::{Read, optional, parsed, show_optional};
use orbium_config::tls::{NameCheck, TlsConfig, TlsVersion};

/// A file, or none.
///
/// # Errors
/// No errors.
pub(crate) fn file(text: &str) -> Read<Option<PathBuf>> {
    optional(text, |text| Ok(PathBuf::from(text)))
}

/// The text of a file, as parsed by [`file()`].
#[must_use]
pub(crate) fn show_file(file: Option<&PathBuf>) -> String {
    show_optional(file, |file| file.display().to_string())
}

/// Files, separated by commas, or none.
///
/// # Errors
/// No errors.
pub(crate) fn files(text: &str) -> Read<Vec<PathBuf>> {
    let files = optional(text, |text| {
        Ok(text.split(',').map(|file| file.trim().into()).collect())
    })?;
    Ok(files.unwrap_or_default())
}

/// The text of files, as parsed by [`files`].
#[must_use]
pub(crate) fn show_files(files: &[PathBuf]) -> String {
    let shown: Vec<_> = files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    match shown.as_slice() {
        [] => "none".to_owned(),
        shown => shown.join(", "),
    }
}

/// The range of the listed versions, from the oldest to the newest.
///
/// # Errors
/// One of them is not a version.
pub(crate) fn versions(config: &mut TlsConfig, text: &str) -> Read<()> {
    let versions = text.split(',').map(|version| parsed(version.trim()));
    let versions: Vec<TlsVersion> = versions.collect::<Read<_>>()?;
    let ends = versions.iter().min().zip(versions.iter().max());
    // There is at least one: splitting never returns an empty list.
    let (oldest, newest) = ends.ok_or("expected 1.2 or 1.3")?;
    (config.min_version, config.max_version) = (*oldest, *newest);
    Ok(())
}

/// The text of versions, as parsed by [`versions`].
#[must_use]
pub(crate) fn show_versions(config: &TlsConfig) -> String {
    match (config.min_version, config.max_version) {
        (one, other) if one == other => one.to_string(),
        (oldest, newest) => format!("{oldest},{newest}"),
    }
}

/// `host`, `any`, or names.
///
/// # Errors
/// One of them is not a host name.
pub(crate) fn names(text: &str) -> Read<NameCheck> {
    let is_name = |name: &&str| {
        let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '_');
        !name.is_empty() && name.chars().all(in_name)
    };
    let names: Vec<_> = text.split(',').map(str::trim).collect();
    match names.as_slice() {
        ["host"] => Ok(NameCheck::Host),
        ["any"] => Ok(NameCheck::ChainOnly),
        names if names.iter().all(is_name) => {
            let names = names.iter().map(ToString::to_string);
            Ok(NameCheck::OneOf(names.collect()))
        }
        _ => Err(format!(
            "`{text}` is neither host nor any nor a list of host names and addresses"
        )),
    }
}

/// The text of names, as parsed by [`names`].
#[must_use]
pub(crate) fn show_names(names: &NameCheck) -> String {
    match names {
        NameCheck::Host => "host".to_owned(),
        NameCheck::ChainOnly => "any".to_owned(),
        NameCheck::OneOf(names) => names.join(", "),
    }
}
