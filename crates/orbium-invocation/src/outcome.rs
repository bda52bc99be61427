// SPDX-License-Identifier: MIT OR Apache-2.0
//! The outcome of a call.

use crate::SystemException;

/// The outcome of a call and of a servant's method: a system exception unless the
/// operation declares others.
pub type Result<T, E = SystemException> = std::result::Result<T, E>;
