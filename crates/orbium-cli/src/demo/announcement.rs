// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lines that a server prints before it is ready.

use crate::failure::Failure;

/// The reference of an object, from the lines of a server.
pub(super) fn reference_of<'l>(lines: &'l [String], key: &str) -> Result<&'l str, Failure> {
    let mut all = lines.iter().filter_map(|line| line.split_once(' '));
    all.find(|(what, reference)| *what == key && !reference.starts_with("at "))
        .map(|(_, reference)| reference)
        .ok_or_else(|| Failure::because(format!("the server process gave no reference of {key}")))
}
