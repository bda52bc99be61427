// SPDX-License-Identifier: MIT OR Apache-2.0
//! A ring of octets between one writer and one reader that do not trust each
//! other, and how each waits for the other.
//!
//! Nothing here makes a system call or knows where the memory lies. The module
//! is compiled a second time by the model checker's test, over its own atomics.

mod control;
mod cursors;

pub use control::{Control, Cursor, Park, Parked, Rouse, Side, Slept, Waiting, sleep};
pub use cursors::{Broken, Octets, Reader, Writer};
