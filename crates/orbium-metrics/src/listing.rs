// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists of a bounded length.

/// The entries of a snapshot: at most 1,000.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing<T> {
    /// The first entries.
    pub entries: Vec<T>,
    /// Whether there were more than 1,000.
    pub more: bool,
}
