// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium bench`: the measurements of Kuhns, Schmidt, O'Ryan and Levine, "The
//! Design and Performance of a Pluggable Protocols Framework for Real-time
//! Distributed Object Computing Middleware", and of Schmidt, Mungee,
//! Flores-Gaitan and Gokhale, "Software Architectures for Reducing Priority
//! Inversion and Non-determinism in Real-time Object Request Brokers", taken of
//! orbium.

mod caller;
mod chart;
mod experiment;
mod inversion;
mod locks;
mod protocols;
mod results;
mod row;
mod statistics;
mod table;
mod threads;
pub(crate) mod whitebox;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::demo::realm::Realm;
use crate::failure::Failure;

/// How many of something there are to be, which may not be none.
fn some(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("none cannot be measured: write 1 or more".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("not a number".to_owned()),
    }
}

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
    /// What low-priority clients do to a high-priority one (figures 24 and 25 of
    /// the paper on priority inversion).
    ///
    /// A server process and a client process for each architecture of orbium and
    /// of the other ORBs that are there: one client at 20 Hz at a real-time
    /// priority, and 0 to 50 others at 10 Hz; then the same with servants that
    /// are busy for a millisecond and low-priority clients that never pause.
    Inversion(inversion::InversionArgs),
    /// Operations on locks per request (figures 30 and 31 of that paper).
    ///
    /// Needs them to be counted, which is left out of the program as it is
    /// usually built: cargo run --release --features counted -- bench locks
    Locks(locks::LocksArgs),
    /// Many threads, many priorities, many connections.
    ///
    /// Calls per second of 1 to 16 client threads as a fraction of raw sockets;
    /// sixteen priorities at once; a lane while all others are saturated, beside
    /// cyclictest; connections that call once a second, and their memory.
    Threads(threads::ThreadsArgs),
    /// Make an authority, a certificate for this host and its key in a folder.
    #[command(hide = true)]
    Keys {
        /// The folder
        folder: PathBuf,
    },
    /// The client that the measurements start.
    #[command(hide = true)]
    Caller(caller::CallerArgs),
    /// The client process of the experiments.
    #[command(hide = true)]
    Client(experiment::client::ClientArgs),
    /// The server process of the experiments.
    #[command(hide = true)]
    Server(experiment::server::ServerArgs),
}

pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    match &args.command {
        BenchCommand::Protocols(args) => protocols::run(args),
        BenchCommand::Whitebox(args) => whitebox::run(args),
        BenchCommand::Keys { folder } => Realm::new(folder).map(drop),
        BenchCommand::Caller(args) => caller::run(args),
        BenchCommand::Client(args) => experiment::client::run(args),
        BenchCommand::Inversion(args) => inversion::run(args),
        BenchCommand::Locks(args) => locks::run(args),
        BenchCommand::Threads(args) => threads::run(args),
        BenchCommand::Server(args) => experiment::server::run(args),
    }
}
