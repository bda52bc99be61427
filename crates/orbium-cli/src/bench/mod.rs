// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium bench`: the measurements of Kuhns, Schmidt, O'Ryan and Levine, "The
//! Design and Performance of a Pluggable Protocols Framework for Real-time
//! Distributed Object Computing Middleware", taken of orbium.

mod caller;
mod chart;
mod protocols;
mod table;
pub(crate) mod whitebox;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::demo::realm::Realm;
use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Calls per second over every protocol, by type of data (figure 5).
    ///
    /// A server process for each protocol and one client process, which calls
    /// them in turns: first all on one CPU, then where the system puts them.
    Protocols(protocols::ProtocolsArgs),
    /// How long each step of a call takes, on both sides (tables 1 and 2,
    /// figures 7 and 8).
    ///
    /// Needs time probes, which are left out of the program as it is usually
    /// built: cargo run --release --features probes -- bench whitebox
    Whitebox(whitebox::WhiteboxArgs),
    /// Make an authority, a certificate for this host and its key in a folder.
    #[command(hide = true)]
    Keys {
        /// The folder
        folder: PathBuf,
    },
    /// The client that the measurements start.
    #[command(hide = true)]
    Caller(caller::CallerArgs),
}

pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    match &args.command {
        BenchCommand::Protocols(args) => protocols::run(args),
        BenchCommand::Whitebox(args) => whitebox::run(args),
        BenchCommand::Keys { folder } => Realm::new(folder).map(drop),
        BenchCommand::Caller(args) => caller::run(args),
    }
}
