// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections of clients: receiving, idle time, eviction, closing.

mod cancelled;
pub(crate) mod connection;
pub(crate) mod connection_table;
pub(crate) mod ending;
pub(crate) mod flusher;
pub(crate) mod idle;
mod origin;
pub(crate) mod receiving;
