// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts of a consumer.

/// Counts of a consumer's events by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) delivered: u64,
    pub(crate) discarded: u64,
    pub(crate) expired: u64,
    pub(crate) lost: u64,
}
