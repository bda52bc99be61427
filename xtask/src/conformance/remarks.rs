// SPDX-License-Identifier: MIT OR Apache-2.0
//! `not-yet.toml`: the behaviours that no test proves, with their reasons, and what is said
//! of a behaviour besides its tests.

use serde::Deserialize;

use xtask::outcome::Outcome;

/// What is said of one behaviour.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Remark {
    pub(super) chapter: String,
    /// Empty: none.
    #[serde(default)]
    pub(super) clause: String,
    pub(super) behaviour: String,
    /// Why no test proves it.
    pub(super) reason: Option<String>,
    /// What stands before its tests.
    pub(super) answer: Option<String>,
    /// What stands behind its tests.
    pub(super) remark: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    of: Vec<Remark>,
}

/// # Errors
/// The file is malformed.
pub(super) fn read(text: &str) -> Outcome<Vec<Remark>> {
    let file: File = toml::from_str(text).map_err(|error| format!("not-yet.toml: {error}"))?;
    Ok(file.of)
}
