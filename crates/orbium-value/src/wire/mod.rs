// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values in messages and anys.

pub(crate) mod header;
pub(crate) mod in_any;
pub(crate) mod linked;
mod marshal;
pub(crate) mod met;
pub(crate) mod read;
pub(crate) mod write;
