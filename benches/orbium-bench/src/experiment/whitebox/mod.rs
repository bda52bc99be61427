// SPDX-License-Identifier: MIT OR Apache-2.0
//! White-box experiment: the time of each step of a call, as in tables 1 and 2 and figures 7
//! and 8 of the paper on pluggable protocols.

mod args;
mod figures;
mod measured;
pub(crate) mod probed;
mod profile;
mod run;
mod tables;

pub(crate) use args::WhiteboxArgs;
pub(crate) use run::run;
