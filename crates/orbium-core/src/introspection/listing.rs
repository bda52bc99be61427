// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists of a bounded length.

/// Entries that existed when the list was made: 1,000 at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing<T> {
    /// The first entries.
    pub entries: Vec<T>,
    /// Whether there were more than 1,000.
    pub more: bool,
}
