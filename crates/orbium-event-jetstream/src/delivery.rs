// SPDX-License-Identifier: MIT OR Apache-2.0
//! Delivery of events to consumers.

pub(crate) mod collected;
mod dead_letters;
pub(crate) mod delivery_outcome;
pub(crate) mod failures;
pub(crate) mod recipient;
