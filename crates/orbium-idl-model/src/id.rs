// SPDX-License-Identifier: MIT OR Apache-2.0
//! Identifier of a definition.

/// Index of a definition in its [`crate::Model`]. Meaningless in any other model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefId(pub u32);
