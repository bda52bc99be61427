// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations on locks per request: figures 30 and 31 of the paper on priority
//! inversion.

mod args;
mod counting;
mod figures;
mod kernel;
mod results;

pub(crate) use args::LocksArgs;
pub(crate) use counting::run;
