// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium bench whitebox`: how long each step of a call takes.

#[cfg(feature = "probes")]
mod figures;
#[cfg(feature = "probes")]
mod measured;
#[cfg(feature = "probes")]
pub(crate) mod profile;
#[cfg(feature = "probes")]
mod tables;

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct WhiteboxArgs {
    /// Measure a few calls only
    #[arg(long)]
    quick: bool,
    /// Where to draw the figures
    #[arg(long, value_name = "FILE", default_value = "orbium-whitebox.svg")]
    svg: PathBuf,
    /// Write everything found to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[cfg(not(feature = "probes"))]
pub(crate) fn run(_: &WhiteboxArgs) -> Result<(), crate::failure::Failure> {
    Err(crate::failure::Failure::because(
        "this program was built without time probes: build it with \
         `cargo run --release --features probes -- bench whitebox`",
    ))
}

#[cfg(feature = "probes")]
pub(crate) use measured::run;
