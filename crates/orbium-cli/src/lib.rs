// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `orbium` program: the IDL compiler, a reader of object references, a
//! client for any object and operation, servers of the CORBA services, and a demonstration with measurements.
//!
//! This crate contains command lines, texts and exit codes. The commands are implemented by
//! the libraries.
//!
//! The program is the interface. The library is for the program and for the benches
//! of the workspace, which run the same servers and clients; it may change with any
//! version.
#![deny(unsafe_code)]

mod bench;
mod bridge;
pub mod demo;
mod doctor;
mod events;
mod explain;
mod failure;
mod host;
mod idl;
mod ifr;
mod ior;
mod load;
mod new;
mod notify;
mod object;
pub mod output;
mod prompt;
mod sched;
mod serving;
mod shell;
pub mod stage;
mod tls;
mod top;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::CompleteEnv;

pub use failure::Failure;
pub use object::{ping, reference};

/// orbium: a real-time CORBA ORB.
///
/// Start with `orbium demo`: it runs a server and a client on this machine, checks
/// every operation, and measures calls in comparison with a raw socket.
#[derive(Debug, Parser)]
#[command(
    name = "orbium",
    version,
    propagate_version = false,
    after_help = "Exit status: 0 done, 1 not done (the reason is on standard error), \
                  2 the command line is wrong."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a server and a client here: check every operation, measure calls.
    ///
    /// Prints a table of latencies with those of a raw socket that moves as many
    /// octets, and draws a plot.
    Demo(Box<demo::DemoArgs>),
    /// Measure protocols, the steps of a call, priorities, threads and locks.
    ///
    /// Runs the harness of the benches, orbium-bench, which is built from a clone:
    /// cargo install --path benches/orbium-bench
    #[command(disable_help_flag = true)]
    Bench(bench::BenchArgs),
    /// Forward requests from one protocol to another.
    ///
    /// Messages pass unchanged, with their keys, service contexts and code sets. References are
    /// rewritten where that needs no knowledge of types: in replies that forward, and those given
    /// with --ref.
    Bridge(bridge::BridgeArgs),
    /// Call an operation of any object, with arguments and results as JSON.
    ///
    /// The operation is found in IDL by the interface of the reference. An attribute is called by
    /// its name: without an argument it is read, with one it is written.
    Call(Box<object::call::CallArgs>),
    /// Print the IDL of an object: its interface, the bases, and their types.
    ///
    /// It is found in IDL files, which may define much more, by the interface of the reference. The
    /// printed IDL compiles to the same repository ids.
    Describe(Box<object::describe::DescribeArgs>),
    /// Report unsuitable settings of this host for real time, with advice.
    ///
    /// Reads the state of the kernel, starts a thread with SCHED_FIFO, and changes no setting.
    Doctor(doctor::DoctorArgs),
    /// Serve an event channel, print its events, push one, or print its counts.
    Events(Box<events::EventsArgs>),
    /// Serve a notification channel.
    Notify(Box<notify::NotifyArgs>),
    /// Explain an exception or a minor code: what it means, its causes, what to do.
    Explain(explain::ExplainArgs),
    /// Apply the advice of the doctor so that it can be undone: plan, apply, undo.
    ///
    /// A plan is a text to be read and edited first. It is applied completely or not at all.
    Host(host::HostArgs),
    /// Check IDL files, or generate Rust from them.
    Idl(idl::IdlArgs),
    /// Serve an Interface Repository, load IDL into one, or print its contents.
    Ifr(Box<ifr::IfrArgs>),
    /// Create a crate: IDL, server, client, test and a systemd unit.
    New(new::NewArgs),
    /// Print the contents of an object reference.
    Ior(ior::IorArgs),
    /// Show and change the bindings of a naming service.
    Name(Box<object::name::NameArgs>),
    /// Check whether an object exists, and measure the round-trip time.
    Ping(object::ping::PingArgs),
    /// Check timing requirements: queues, priorities, and the deadlines that hold; or serve the
    /// Scheduling Service.
    ///
    /// Requirements are annotations of operations in IDL, or a table of text.
    Sched(sched::SchedArgs),
    /// Call operations of an object at a prompt with history and completion.
    ///
    /// A line has the arguments of `orbium call` behind REF; :help shows the rest. Lines come from
    /// standard input if it is not a terminal.
    Shell(Box<prompt::ShellArgs>),
    /// Show the activity of a running ORB: operations, lanes, connections, adapters.
    ///
    /// The process has to publish its ORB: orb.watch(), watch = true, -ORBwatch true.
    Top(top::TopArgs),
    /// Print the script that completes command lines in a shell.
    Completions(shell::CompletionsArgs),
    /// Print the manual page, or write those of all commands.
    Man(shell::ManArgs),
}

/// The program: reads the command line, runs the command and reports how it ended.
#[must_use]
pub fn main() -> ExitCode {
    // Ends the program if it was asked for completions.
    CompleteEnv::with_factory(|| object::completion::with_values(Cli::command()))
        .var(object::completion::VARIABLE)
        .complete();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Standard error may be closed.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let outcome = match &cli.command {
        Command::Bench(args) => {
            return bench::run(args).unwrap_or_else(output::report);
        }
        Command::Bridge(args) => bridge::run(args),
        Command::Call(args) => object::call::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Describe(args) => object::describe::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Events(args) => events::run(args),
        Command::Notify(args) => notify::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Host(args) => host::run(args),
        Command::Idl(args) => idl::run(args),
        Command::Ifr(args) => ifr::run(args),
        Command::Ior(args) => ior::run(args),
        Command::Name(args) => object::name::run(args),
        Command::Ping(args) => object::ping::run(args),
        Command::Sched(args) => sched::run(args),
        Command::Shell(args) => prompt::run(args),
        Command::Top(args) => top::run(args),
        Command::New(args) => new::run(args),
        Command::Completions(args) => shell::completions(args, Cli::command()),
        Command::Man(args) => shell::man(args, Cli::command()),
    };
    outcome.map_or_else(output::report, |()| ExitCode::SUCCESS)
}
