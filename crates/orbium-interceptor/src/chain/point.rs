// SPDX-License-Identifier: MIT OR Apache-2.0
//! Points of interceptors.

use orbium_giop::Completion;

/// A point of interceptors.
#[derive(Clone, Copy)]
pub(crate) struct Point {
    /// A bit of its own among the points of a kind.
    pub(crate) bit: u8,
    /// What an exception for a panic says of the request.
    pub(crate) completed: Completion,
}
