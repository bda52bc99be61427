// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options of shared memory.

use crate::Spin;

/// Options of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShmOptions {
    /// Octets of the ring in each direction, of accepted connections: a power of two from 4 KiB to
    /// 64 MiB. Default: 256 KiB. Messages may have any size; those that fit are sent without
    /// waiting for the reader. Pages are allocated when they are first used.
    pub ring: u32,
    /// The spinning of a thread before it sleeps.
    pub spin: Spin,
}

impl Default for ShmOptions {
    fn default() -> Self {
        Self {
            ring: 256 * 1024,
            spin: Spin::default(),
        }
    }
}
