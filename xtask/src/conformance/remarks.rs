// SPDX-License-Identifier: MIT OR Apache-2.0
//! `not-yet.toml`: the behaviours without tests, with the reasons, and remarks on behaviours in
//! addition to their tests.

use serde::Deserialize;

use xtask::outcome::Outcome;

/// A remark on one behaviour.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Remark {
    pub(super) chapter: String,
    /// Empty if there is none.
    #[serde(default)]
    pub(super) clause: String,
    pub(super) behaviour: String,
    /// The reason why no test proves it.
    pub(super) reason: Option<String>,
    /// The text before its tests.
    pub(super) answer: Option<String>,
    /// The text behind its tests.
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
