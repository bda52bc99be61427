// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs outside this workspace, built with Cargo's default release profile as those of users
//! are.

mod package;
pub mod stubs;

pub use package::Package;
