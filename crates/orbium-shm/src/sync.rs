// SPDX-License-Identifier: MIT OR Apache-2.0
//! The atomics of the ring. The model checker's test has a module of the same name with the model
//! checker's atomics.

pub(crate) use std::sync::atomic::{AtomicU32, Ordering, fence};
