// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command line.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct WhiteboxArgs {
    /// Measure a few calls only
    #[arg(long)]
    pub(super) quick: bool,
    /// Where to draw the figures
    #[arg(long, value_name = "FILE", default_value = "orbium-whitebox.svg")]
    pub(super) svg: PathBuf,
    /// Write everything found to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}
