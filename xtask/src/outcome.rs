// SPDX-License-Identifier: MIT OR Apache-2.0
//! Outcome of a task.

/// A task either succeeds or returns the reason of its failure as text.
pub type Outcome<T> = Result<T, String>;
