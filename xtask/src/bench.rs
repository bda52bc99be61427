// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench`.
use crate::Outcome;
pub(crate) fn run(_arguments: impl Iterator<Item = String>) -> Outcome<()> { Err("not yet".to_owned()) }
