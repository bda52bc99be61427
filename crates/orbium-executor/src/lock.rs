// SPDX-License-Identifier: MIT OR Apache-2.0
//! Locks, as the model checker of the tests has them too. No code of a user runs under one, so none
//! is poisoned.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
