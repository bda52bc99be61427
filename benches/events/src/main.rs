// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rates and latencies of event channels.
//!
//! `serve` is the channel, in a separate process; `rate` and `latency` are supplier and consumer in
//! one process, with one clock. `rate --cos` measures any COS Event channel, such as that of
//! omniEvents.
#![forbid(unsafe_code)]

mod fan_out;
mod latency;
mod rate;
mod serve;
mod stored;

use std::error::Error;
use std::num::NonZeroUsize;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use orbium::Orb;
use orbium_event::new_event;
use orbium_event::rtec::rtec_event_comm::Event;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Time-out of an event, after which the run is aborted.
const PATIENCE: Duration = Duration::from_secs(60);

/// Rates and latencies of event channels.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// A channel and a relay without a channel, until standard input ends: prints a reference to
    /// the real-time channel, one to it as COS Event, and those of the relay.
    Serve {
        /// Pushes on the thread of the supplier's request.
        #[arg(long)]
        reactive: bool,
        /// Pushes by a schedule of two queues, under SCHED_FIFO if the host permits it.
        #[arg(long, conflicts_with = "reactive")]
        scheduled: bool,
    },
    /// Events per second from one supplier to one consumer.
    Rate(RunArgs),
    /// Events per second into a channel that stores them, then from it to one consumer.
    Stored(StoredArgs),
    /// Latency of single events from one supplier to one consumer, in microseconds.
    Latency(RunArgs),
    /// Latency of single events to a consumer alone, and to the same consumer among many with a
    /// lower priority in the schedule of the channel, in microseconds.
    FanOut(FanOutArgs),
}

/// A run of events to many consumers.
#[derive(Debug, Args)]
struct FanOutArgs {
    /// A real-time event channel.
    #[arg(long)]
    channel: String,
    /// The number of consumers, including the high-priority one.
    #[arg(long, default_value_t = 50)]
    consumers: usize,
    /// Events of a run.
    #[arg(long, default_value = "400")]
    events: NonZeroUsize,
    /// Minimum microseconds from one event to the next.
    #[arg(long, default_value_t = 5_000)]
    period: u64,
    /// Number of runs, of which the median is shown.
    #[arg(long, default_value = "9")]
    runs: NonZeroUsize,
    /// Bytes of an event's payload.
    #[arg(long, default_value_t = 64)]
    bytes: usize,
}

/// A run of stored events.
#[derive(Debug, Args)]
struct StoredArgs {
    /// A persistent real-time event channel.
    #[arg(long)]
    channel: String,
    /// Events of a run.
    #[arg(long, default_value = "20000")]
    events: NonZeroUsize,
    /// Number of runs, of which the median is shown.
    #[arg(long, default_value = "3")]
    runs: NonZeroUsize,
    /// Bytes of an event's payload.
    #[arg(long, default_value_t = 64)]
    bytes: usize,
}

/// A run of events.
#[derive(Debug, Args)]
struct RunArgs {
    /// A real-time event channel.
    #[arg(long)]
    channel: Option<String>,
    /// A channel of COS Event.
    #[arg(long)]
    cos: Option<String>,
    /// The relay's supplier and consumer side: two calls without a channel.
    #[arg(long, num_args = 2)]
    relay: Option<Vec<String>>,
    /// Events of a run.
    #[arg(long, default_value = "20000")]
    events: NonZeroUsize,
    /// Number of runs, of which the median is shown.
    #[arg(long, default_value = "9")]
    runs: NonZeroUsize,
    /// Bytes of an event's payload.
    #[arg(long, default_value_t = 64)]
    bytes: usize,
}

fn main() -> Outcome {
    match Cli::parse().command {
        Command::Serve {
            reactive,
            scheduled,
        } => serve::run(serve::dispatching(reactive, scheduled)),
        Command::Rate(args) => rate::run(&args),
        Command::Stored(args) => stored::run(&args),
        Command::Latency(args) => latency::run(&args),
        Command::FanOut(args) => fan_out::run(&args),
    }
}

/// An ORB with an endpoint.
fn orb() -> Outcome<Orb> {
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    orb.root_poa().manager().activate()?;
    Ok(orb)
}

fn event(bytes: usize) -> Event {
    let mut event = new_event(16, 1);
    event.data.payload = vec![7; bytes];
    event
}

/// The median in microseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    let median = times.get(times.len() / 2).copied();
    median.unwrap_or(Duration::ZERO).as_secs_f64() * 1e6
}

/// Prints the median of figures, and the least and greatest.
fn show(what: &str, unit: &str, mut figures: Vec<f64>) {
    figures.sort_by(f64::total_cmp);
    let at = |part: usize| figures[(figures.len() - 1) * part / 2];
    println!("{what}: {:.2} {unit} ({:.2} to {:.2})", at(1), at(0), at(2));
}
