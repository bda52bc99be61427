// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium sched`: timing requirements and schedules.

mod calibrate;
pub(crate) mod check;
pub(crate) mod info_tables;
mod serve;

use clap::{Args, Subcommand};

use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct SchedArgs {
    #[command(subcommand)]
    command: SchedCommand,
}

#[derive(Debug, Subcommand)]
enum SchedCommand {
    /// Measure the overheads of ORB and host that `orbium sched check` adds, until they are stable.
    ///
    /// The cost of an empty twoway call, over TCP within this host and collocated, and of a context
    /// switch, each on one processor and in time of that processor. The time to use is the worst one
    /// with a margin. Measure in the scheduling class of the program: `chrt -f 50 orbium sched
    /// calibrate`. The time for which locks are held (--blocking) is not measured.
    Calibrate(calibrate::CalibrateArgs),
    /// Check whether the operations of IDL files, or of a table, meet their deadlines.
    ///
    /// Prints queues, threads, the calls of each thread and a Gantt chart. Errors are shown with
    /// line and caret. Exits with 0 if every deadline that the strategy guarantees holds and there
    /// is no error, else with 1.
    Check(Box<check::CheckArgs>),
    /// Serve the Scheduling Service until a signal ends it.
    ///
    /// Prints the reference for applications, under which operations are registered, and the
    /// privileged one, which computes the schedule.
    Serve(Box<serve::ServeArgs>),
}

pub(crate) fn run(args: &SchedArgs) -> Result<(), Failure> {
    match &args.command {
        SchedCommand::Calibrate(args) => calibrate::run(args),
        SchedCommand::Check(args) => check::run(args),
        SchedCommand::Serve(args) => serve::run(args),
    }
}
