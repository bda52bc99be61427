// SPDX-License-Identifier: MIT OR Apache-2.0
//! Syntax of identifiers and repository ids.

/// Whether a name is an IDL identifier: a letter, and letters, digits and underscores.
///
/// ```
/// use orbium_dynamic::is_identifier;
///
/// assert!(is_identifier("Point_2"));
/// assert!(!is_identifier("2nd") && !is_identifier("two words") && !is_identifier(""));
/// ```
#[must_use]
pub fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(char::is_alphabetic)
        && letters.all(|it| it.is_alphanumeric() || it == '_')
}

/// Whether a text is a repository id: `format:string` (CORBA 3.3 Part 1, clause 14.7).
///
/// ```
/// use orbium_dynamic::is_repository_id;
///
/// assert!(is_repository_id("IDL:Point:1.0"));
/// assert!(!is_repository_id("Point") && !is_repository_id("IDL:"));
/// ```
#[must_use]
pub fn is_repository_id(id: &str) -> bool {
    let parts = id.split_once(':');
    parts.is_some_and(|(format, rest)| !format.is_empty() && !rest.is_empty())
        && !id.contains(char::is_control)
}
