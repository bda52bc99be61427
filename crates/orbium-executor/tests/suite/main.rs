// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scheduler contexts.

mod common;
mod endings;
mod migration;
mod order;
mod properties;
mod threads;
