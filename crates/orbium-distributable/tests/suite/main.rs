// SPDX-License-Identifier: MIT OR Apache-2.0
//! Distributable threads.

mod cancellation;
mod common;
mod crossing;
mod processes;
mod resources;
mod scheduling;
mod segments;
