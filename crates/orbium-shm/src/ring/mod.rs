// SPDX-License-Identifier: MIT OR Apache-2.0
//! A ring of octets between one writer and one reader that do not trust each other, and the
//! protocol by which each waits for the other.
//!
//! This module makes no system calls and is independent of the location of the memory. It is
//! compiled a second time by the model checker's test, over its own atomics.

mod control;
mod cursors;

pub use control::{Control, Cursor, Park, Parked, Rouse, Side, Slept, Waiting, sleep};
pub use cursors::{Broken, Octets, Reader, Writer};
