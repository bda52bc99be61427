// SPDX-License-Identifier: MIT OR Apache-2.0
//! Constructs of IDL that may have no mapping.

/// Their names, in the singular.
pub(crate) const CONSTRUCTS: [&str; 10] = [
    "valuetype",
    "value box",
    "abstract interface",
    "native type",
    "component",
    "home",
    "eventtype",
    "local type",
    "long interface",
    "ambiguous interface",
];

/// Whether a construct has that name, in the singular or plural.
pub(crate) fn is_called(construct: &str, given: &str) -> bool {
    let given = given.trim().to_ascii_lowercase();
    let end = if construct.ends_with('x') { "es" } else { "s" };
    given
        .strip_prefix(construct)
        .is_some_and(|rest| rest.is_empty() || rest == end)
}
