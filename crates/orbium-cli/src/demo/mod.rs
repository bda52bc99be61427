// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium demo`: a server and a client on this machine, checked and measured.
//!
//! Three processes of this program take part: a server (`demo serve`), a raw peer that moves as
//! many octets without an ORB (`demo raw`), and a client (`demo client`) that checks and measures,
//! and reports its findings to the parent process, a line of JSON each.

mod announcement;
mod answers;
mod call;
mod client;
mod columns;
mod event;
mod oneways;
mod own_server;
mod place;
mod plot;
mod raw;
mod report;
mod run;
mod serve;
mod wake_up;

use clap::{Args, Subcommand};

use crate::failure::Failure;

#[doc = "The command line of `orbium demo`."]
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct DemoArgs {
    #[command(subcommand)]
    command: Option<DemoCommand>,
    #[command(flatten)]
    run: run::RunArgs,
}

#[derive(Debug, Subcommand)]
enum DemoCommand {
    /// Serve the objects Cube, Receiver and Peer until stopped.
    ///
    /// Any ORB reaches them under plain keys, as in corbaloc::HOST:PORT/Cube.
    /// Ends on SIGTERM, on SIGINT, and when a client calls Cube::shutdown().
    Serve(serve::ServeArgs),
    /// Repeat one operation in a closed loop and measure it: for profilers,
    /// and for the servers of other ORBs.
    Call(call::CallArgs),
    /// The raw peer.
    #[command(hide = true)]
    Raw(raw::RawArgs),
    /// The client that the demonstration starts.
    #[command(hide = true)]
    Client(Box<client::ClientArgs>),
    /// The sender of oneways that the demonstration starts.
    #[command(hide = true)]
    Oneways(oneways::OnewaysArgs),
}

/// Runs `orbium demo`, or one of its parts.
///
/// # Errors
/// A check failed, or a process failed.
pub fn run(args: &DemoArgs) -> Result<(), Failure> {
    match &args.command {
        None => run::run(&args.run),
        Some(DemoCommand::Serve(args)) => serve::run(args),
        Some(DemoCommand::Call(args)) => call::run(args),
        Some(DemoCommand::Raw(args)) => raw::run(args),
        Some(DemoCommand::Client(args)) => client::run(args),
        Some(DemoCommand::Oneways(args)) => oneways::run(args),
    }
}
