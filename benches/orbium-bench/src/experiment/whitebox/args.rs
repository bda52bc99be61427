// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command line of the experiment.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct WhiteboxArgs {
    /// Measure only a few calls
    #[arg(long)]
    pub(super) quick: bool,
    /// File for the figures
    #[arg(long, value_name = "FILE", default_value = "orbium-whitebox.svg")]
    pub(super) svg: PathBuf,
    /// Write all results to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}
