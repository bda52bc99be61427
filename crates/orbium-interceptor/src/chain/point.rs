// SPDX-License-Identifier: MIT OR Apache-2.0
//! Points of interceptors.

use orbium_giop::Completion;

/// A point of interceptors.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    /// Its bit among the points of a kind.
    pub(crate) bit: u8,
    /// The completion status of an exception for a panic.
    pub(crate) completed: Completion,
}
