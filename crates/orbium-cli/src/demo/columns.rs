// SPDX-License-Identifier: MIT OR Apache-2.0
//! The widths of the tables' columns, in characters.

/// The name of a call.
pub(super) const CALL_WIDTH: usize = 26;
/// A figure.
pub(super) const CELL_WIDTH: usize = 10;
