// SPDX-License-Identifier: MIT OR Apache-2.0
//! Identifiers and repository ids.

use orbium_idl::model::Definition;
use orbium_idl::{Options, keyword_clash};

/// An identifier as IDL writes it: with an underscore before it if it is a keyword.
#[must_use]
pub fn escaped(name: &str) -> String {
    match keyword_clash(name, &Options::new()) {
        Some(_) => format!("_{name}"),
        None => name.to_owned(),
    }
}

/// The part of a repository id before the path of the definition.
pub(super) fn prefix(definition: &Definition) -> String {
    let path = definition.path.join("/");
    let id = definition.repository_id.strip_prefix("IDL:");
    let id = id.and_then(|id| id.strip_suffix(":1.0"));
    let before = id.and_then(|id| id.strip_suffix(&path));
    before.unwrap_or("").trim_end_matches('/').to_owned()
}

/// The repository id of a definition under a prefix.
pub(super) fn default_id(definition: &Definition, prefix: &str) -> String {
    let path = definition.path.join("/");
    match prefix {
        "" => format!("IDL:{path}:1.0"),
        prefix => format!("IDL:{prefix}/{path}:1.0"),
    }
}
