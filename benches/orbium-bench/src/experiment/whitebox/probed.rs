// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server or a client process that writes the records of its probes at its end.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use orbium::probe::Role;
use orbium_cli::Failure;
use orbium_cli::demo::{self, DemoArgs};

use super::profile;

#[derive(Debug, Args)]
pub(crate) struct ProbedArgs {
    /// The recorded side
    side: Side,
    /// File for the profile, as JSON
    file: PathBuf,
    #[command(subcommand)]
    command: Program,
}

/// A side of a call.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Side {
    Client,
    Server,
}

#[derive(Debug, Subcommand)]
enum Program {
    /// The commands of `orbium demo`
    Demo(Box<DemoArgs>),
}

pub(crate) fn run(args: &ProbedArgs) -> Result<(), Failure> {
    let Program::Demo(command) = &args.command;
    demo::run(command)?;
    let role = match args.side {
        Side::Client => Role::Client,
        Side::Server => Role::Server,
    };
    profile::write(role, &args.file)
}
