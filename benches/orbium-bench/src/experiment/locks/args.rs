// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command line of the experiment.

use std::path::PathBuf;

use clap::Args;

use crate::peer::programs::PeerArgs;
use crate::report::results::ResultArgs;

#[derive(Debug, Args)]
pub(crate) struct LocksArgs {
    /// Calls of each thread [default: 2000; in a quick run 400]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) calls: Option<u64>,
    /// File for the figures
    #[arg(long, value_name = "FILE", default_value = "orbium-locks.svg")]
    pub(super) svg: PathBuf,
    #[command(flatten)]
    pub(super) results: ResultArgs,
    #[command(flatten)]
    pub(super) peers: PeerArgs,
}
