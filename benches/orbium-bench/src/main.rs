// SPDX-License-Identifier: MIT OR Apache-2.0
//! The harness of the benches: experiments on orbium, compared with raw sockets and other
//! ORBs.
//!
//! The measurements of Kuhns, Schmidt, O'Ryan and Levine, "The Design and Performance of a
//! Pluggable Protocols Framework for Real-time Distributed Object Computing Middleware", and of
//! Schmidt, Mungee, Flores-Gaitan and Gokhale, "Software Architectures for Reducing Priority
//! Inversion and Non-determinism in Real-time Object Request Brokers", repeated with orbium.
//! Servers and clients are processes of this program.
#![forbid(unsafe_code)]

mod experiment;
mod figures;
mod peer;
mod report;
mod stage;
mod statistics;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use orbium::{lock, probe};
use orbium_cli::Failure;
use orbium_cli::demo::{self, DemoArgs};

use experiment::{flooded, inversion, locks, os, protocols, schedule, threads, whitebox};

/// Experiments on orbium.
#[derive(Debug, Parser)]
#[command(name = "orbium-bench", version)]
struct Bench {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// orbium, a raw socket and omniORB: latency, floods, instructions,
    /// allocations, system calls, scale, protocols, and the experiments below.
    ///
    /// Builds the measured programs: `cargo xtask bench` runs this command.
    Figures(figures::FiguresArgs),
    /// Calls per second over every protocol, by type of data (figure 5).
    ///
    /// A server process for each protocol and one client process, which calls them alternately:
    /// first all on one CPU, then placed by the system.
    Protocols(protocols::ProtocolsArgs),
    /// The time of each step of a call, on both sides (tables 1 and 2, figures 7 and 8).
    ///
    /// Needs time probes, which the ordinary build leaves out:
    /// cargo run --release -p orbium-bench --features probes -- whitebox
    Whitebox(whitebox::WhiteboxArgs),
    /// The effect of low-priority clients on a high-priority one (figures 24 and 25 of the paper on
    /// priority inversion).
    ///
    /// A server process and a client process for each architecture of orbium and of the available
    /// other ORBs: one client at 20 Hz at a real-time priority, and 0 to 50 others at 10 Hz; then
    /// the same with servants that are busy for a millisecond and low-priority clients that call
    /// without a pause.
    Inversion(inversion::InversionArgs),
    /// A high-priority client and up to five others, within a host and between two, over sockets and
    /// shared memory, by scheduling class (figures 32 to 36 of that paper).
    ///
    /// The hosts are network name spaces with a link of 155 Mbit/s between them, which requires
    /// privileges, `ip` and `tc`; without them that part is left out.
    Os(os::OsArgs),
    /// The latency of the high-priority lane while UDP packets flood the port of the low-priority
    /// one, before and after `orbium host apply`.
    ///
    /// Requires privileges, `ip`, `ethtool` and `taskset`: the flood comes from a network name
    /// space, and the plan is applied to this host's end of the cable, and undone.
    Flooded(flooded::FloodedArgs),
    /// Operations on locks per request (figures 30 and 31 of that paper).
    ///
    /// Needs locks that count, which the ordinary build leaves out:
    /// cargo run --release -p orbium-bench --features counted -- locks
    Locks(locks::LocksArgs),
    /// Calls within one ORB, in nanoseconds: through the POA, direct and marshalled.
    Collocated(figures::collocated::CollocatedArgs),
    /// Many threads, many priorities, many connections.
    ///
    /// Calls per second of 1 to 16 client threads as a fraction of raw sockets;
    /// sixteen priorities at once; a lane while all others are saturated, and
    /// cyclictest; connections that call once a second, and their memory.
    Threads(threads::ThreadsArgs),
    /// Deadlines missed against utilization, by scheduling strategy.
    ///
    /// Random task sets in a simulator, and as real-time threads of this host; the time of the
    /// analysis of 10,000 RT_Infos, and the instructions of a look-up among them.
    Schedule(schedule::ScheduleArgs),
    /// Looks priorities up in a table: `schedule` counts its instructions.
    #[command(hide = true)]
    Lookup(schedule::lookup::LookupArgs),
    /// The client of the experiment on protocols.
    #[command(hide = true)]
    Caller(protocols::caller::CallerArgs),
    /// The client process of the other experiments.
    #[command(hide = true)]
    Client(stage::client::ClientArgs),
    /// The server process of these experiments.
    #[command(hide = true)]
    Server(stage::server::ServerArgs),
    /// A process that keeps its processor busy.
    #[command(hide = true)]
    Awake(stage::awake::AwakeArgs),
    /// A sender of UDP packets at the maximum rate.
    #[command(hide = true)]
    Packets(stage::network::packets::PacketsArgs),
    /// The servers and clients of `orbium demo`.
    #[command(hide = true)]
    Demo(Box<DemoArgs>),
    /// The same, with a profile of its probes at the end.
    #[command(hide = true)]
    Probed(whitebox::probed::ProbedArgs),
}

/// Names the build that contains an experiment.
fn elsewhere(feature: &str, experiment: &str) -> Result<(), Failure> {
    Err(Failure::because(format!(
        "this build lacks the feature {feature}, which changes what a call costs: \
         `cargo run --release -p orbium-bench --features {feature} -- {experiment}`"
    )))
}

fn main() -> ExitCode {
    let outcome = match &Bench::parse().command {
        Command::Figures(args) => figures::run(args),
        Command::Protocols(args) => protocols::run(args),
        Command::Whitebox(_) if !probe::ENABLED => elsewhere("probes", "whitebox"),
        Command::Whitebox(args) => whitebox::run(args),
        Command::Inversion(args) => inversion::run(args),
        Command::Os(args) => os::run(args),
        Command::Flooded(args) => flooded::run(args),
        Command::Locks(_) if !lock::ENABLED => elsewhere("counted", "locks"),
        Command::Locks(args) => locks::run(args),
        Command::Collocated(args) => figures::collocated::run(args),
        Command::Threads(args) => threads::run(args),
        Command::Schedule(args) => schedule::run(args),
        Command::Lookup(args) => schedule::lookup::run(args),
        Command::Caller(args) => protocols::caller::run(args),
        Command::Client(args) => stage::client::run(args),
        Command::Server(args) => stage::server::run(args),
        Command::Awake(args) => stage::awake::run(args),
        Command::Packets(args) => stage::network::packets::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Probed(args) => whitebox::probed::run(args),
    };
    outcome.map_or_else(orbium_cli::output::report, |()| ExitCode::SUCCESS)
}
