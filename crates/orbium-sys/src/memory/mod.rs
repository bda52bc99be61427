// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory: made present before it is needed, and how much there is.

pub(crate) mod prefault;
pub(crate) mod usable_memory;
