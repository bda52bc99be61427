// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dedicated threads of connections.

mod dedicated;
mod dedicated_thread;
pub(crate) mod dedication_state;
