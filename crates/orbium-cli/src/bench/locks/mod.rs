// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium bench locks`: figures 30 and 31 of the paper, operations on locks per
//! request.

#[cfg(feature = "counted")]
mod counting;
#[cfg(feature = "counted")]
mod figures;
#[cfg(feature = "counted")]
mod found;
#[cfg(feature = "counted")]
mod kernel;

use std::path::PathBuf;

use clap::Args;

use super::experiment::PeerArgs;
use super::results::ResultArgs;

#[derive(Debug, Args)]
pub(crate) struct LocksArgs {
    /// Calls of each thread [default: 2000; in a quick run 400]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    calls: Option<u64>,
    /// Where to draw the figures
    #[arg(long, value_name = "FILE", default_value = "orbium-locks.svg")]
    svg: PathBuf,
    #[command(flatten)]
    results: ResultArgs,
    #[command(flatten)]
    peers: PeerArgs,
}

#[cfg(not(feature = "counted"))]
pub(crate) fn run(_: &LocksArgs) -> Result<(), crate::failure::Failure> {
    Err(crate::failure::Failure::because(
        "this program was built without counting what is done with locks: build it with \
         `cargo run --release --features counted -- bench locks`",
    ))
}

#[cfg(feature = "counted")]
pub(crate) use counting::run;
