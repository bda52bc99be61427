// SPDX-License-Identifier: MIT OR Apache-2.0
//! Starting of other programs and installation of packages, for the project's tasks and the harness
//! of the benches.
#![forbid(unsafe_code)]

pub mod outcome;
pub mod outside;
pub mod packages;
pub mod shell;
