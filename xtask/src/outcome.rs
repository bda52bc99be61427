// SPDX-License-Identifier: MIT OR Apache-2.0
//! Outcome of a task.

/// A chore either succeeds or says in words why not.
pub type Outcome<T> = Result<T, String>;
