// SPDX-License-Identifier: MIT OR Apache-2.0
//! Starting other programs and installing packages: for the project's chores, and
//! for the harness of the benches.
#![forbid(unsafe_code)]

pub mod outcome;
pub mod outside;
pub mod packages;
pub mod shell;
