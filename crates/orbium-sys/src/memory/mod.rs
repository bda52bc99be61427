// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory: prefaulting, and the usable amount.

pub(crate) mod prefault;
pub(crate) mod usable_memory;
