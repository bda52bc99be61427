// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command line of the example, and the roles of its processes.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use orbium::lane::Scheduling;

/// Sensors at four rates whose events meet in a channel, scheduled by a configuration run.
#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) role: Option<Role>,
    #[command(flatten)]
    pub(crate) settings: Settings,
    /// Ends the GPS half way: its deadline timeout fires, and the mode changes
    #[arg(long)]
    pub(crate) fault: bool,
    /// Shows rates, latencies and misses while it runs
    #[arg(long)]
    pub(crate) view: bool,
    /// Draws what was measured
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Draws the schedule as a Gantt chart
    #[arg(long, value_name = "FILE")]
    pub(crate) gantt: Option<PathBuf>,
    /// The ports of the rate groups are this plus the rate; 0: free ports
    #[arg(long, value_name = "PORT", default_value_t = 10_000,
          value_parser = clap::value_parser!(u16).range(..=65_515))]
    pub(crate) ports: u16,
}

/// What processes with and without an ORB have in common.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// How long it runs
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// The share of a processor that the schedule takes: operations, sensors, dispatching of events
    #[arg(long, value_name = "SHARE", default_value_t = 0.7, value_parser = share)]
    pub(crate) utilization: f64,
    /// Adds work below all rate groups, to saturation
    #[arg(long, value_name = "CLASS", num_args = 0..=1, require_equals = true, default_missing_value = "real-time")]
    pub(crate) load: Option<Load>,
    /// The processor to run on
    #[arg(long, default_value_t = 0)]
    pub(crate) processor: usize,
}

/// How work below all rate groups is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Load {
    /// SCHED_FIFO at the lowest priority, where the host grants it: nothing of the rate groups starves
    RealTime,
    /// As ordinary tasks, to which the kernel's fair server gives up to 50 ms of a second
    Ordinary,
}

impl Load {
    /// As the command line has it.
    pub(crate) fn word(self) -> String {
        let value = self.to_possible_value();
        value.map(|it| it.get_name().to_owned()).unwrap_or_default()
    }

    /// `None`: as the thread that it comes from.
    pub(crate) fn scheduling(self) -> Option<Scheduling> {
        (self == Self::RealTime).then(|| Scheduling::fifo(1))
    }

    /// Gives it to this thread. Where the host refuses, the thread stays as it is.
    pub(crate) fn apply(self) {
        if let Some(Err(error)) = self.scheduling().map(Scheduling::apply_to_this_thread) {
            println!("load: {error}");
        }
    }
}

/// Processes that the program starts.
#[derive(Debug, Subcommand)]
pub(crate) enum Role {
    /// Threads without an ORB that do the same work
    Bare(Settings),
    /// Pushes an event of a sensor in each period
    #[command(hide = true)]
    Push { sensor: Sensor, channel: String },
    /// Calls an operation in each period
    #[command(hide = true)]
    Call { caller: Caller, object: String },
    /// Calls without pause
    #[command(hide = true)]
    Load { class: Load, object: String },
}

/// A process that pushes events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sensor {
    Ins,
    Adc,
    Gps,
}

/// A process that calls the air frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Caller {
    Hud,
    Bit,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=2.0).contains(&share) => Ok(share),
        _ => Err("not a number from 0 to 2".to_owned()),
    }
}
