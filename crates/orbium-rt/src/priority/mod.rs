// SPDX-License-Identifier: MIT OR Apache-2.0
//! Priorities: bands, native priorities, mappings, and network priorities.

pub(crate) mod band;
pub(crate) mod current;
pub(crate) mod host;
pub(crate) mod mapping;
pub(crate) mod network;
pub(crate) mod transform;
