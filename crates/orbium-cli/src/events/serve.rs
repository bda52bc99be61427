// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium events serve`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use orbium::{Interface as _, Orb};
use orbium_event::{Channel, ChannelConfig, DiscardPolicy, Dispatching, QueueLimits};
use orbium_event_jetstream::{JetStreamConfig, PersistentChannel};

use crate::failure::Failure;
use crate::jetstream::JetStreamArgs;
use crate::sched::check::AnalysisArgs;
use crate::sched::table;
use crate::serving::{Served, ServingArgs, because, serve};

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Threads {
    /// A thread and a queue for each consumer
    PerConsumer,
    /// The thread of the supplier's request
    Reactive,
    /// A thread for each queue of the schedule of a table
    Scheduled,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Discard {
    /// The oldest events
    Oldest,
    /// The new event
    Newest,
    /// The waiting event of the same type and source, else the oldest
    Coalesce,
    /// The consumer is disconnected
    Disconnect,
}

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// The key of the object, as in corbaloc:…/EventService
    #[arg(long, value_name = "KEY", default_value = "EventService")]
    key: String,
    /// The threads that push to consumers
    #[arg(
        long,
        value_enum,
        default_value = "per-consumer",
        conflicts_with = "jetstream"
    )]
    dispatching: Threads,
    /// Dispatch by the schedule of this table of operations, as `orbium sched check` takes it: the
    /// RT_Info of a consumer is the number of its operation, from 1
    #[arg(
        long,
        value_name = "FILE",
        required_if_eq("dispatching", "scheduled"),
        conflicts_with = "jetstream"
    )]
    schedule: Option<PathBuf>,
    /// Go on without native priorities where the host refuses them
    #[arg(long, requires = "schedule")]
    soft: bool,
    #[command(flatten)]
    analysis: AnalysisArgs,
    /// Sets of events that may wait for a consumer
    #[arg(long, value_name = "SETS", default_value = "1024", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "jetstream")]
    queue: u32,
    /// What is discarded when a queue is full
    #[arg(
        long,
        value_enum,
        default_value = "oldest",
        conflicts_with = "jetstream"
    )]
    discard: Discard,
    /// Refuse events that their supplier has not published
    #[arg(long, conflicts_with = "jetstream")]
    strict_publications: bool,
    #[command(flatten)]
    jetstream: JetStreamArgs,
    #[command(flatten)]
    serving: ServingArgs,
}

pub(super) fn run(args: &ServeArgs) -> Result<(), Failure> {
    if let Some(config) = args.jetstream.config() {
        return serve_persistent(args, config);
    }
    let config = ChannelConfig {
        dispatching: dispatching(args)?,
        soft: args.soft,
        queue: QueueLimits {
            sets: args.queue as usize,
            discard: match args.discard {
                Discard::Oldest => DiscardPolicy::Oldest,
                Discard::Newest => DiscardPolicy::Newest,
                Discard::Coalesce => DiscardPolicy::Coalesce,
                Discard::Disconnect => DiscardPolicy::Disconnect,
            },
            ..QueueLimits::default()
        },
        strict_publications: args.strict_publications,
        ..ChannelConfig::default()
    };
    serve(&args.serving, |orb| {
        let channel = Channel::new(config);
        let object = channel.serve(orb, &args.key).map_err(because)?;
        Ok(Served::new(channel, object.as_object().clone()))
    })
}

fn dispatching(args: &ServeArgs) -> Result<Dispatching, Failure> {
    Ok(match (args.dispatching, &args.schedule) {
        (Threads::PerConsumer, None) => Dispatching::PerConsumer,
        (Threads::Reactive, None) => Dispatching::Reactive,
        (Threads::Scheduled, Some(path)) => {
            Dispatching::Scheduled(table::scheduled(path, &args.analysis.options())?)
        }
        // The parser of arguments refuses the one without the other, but for this.
        _ => {
            return Err(Failure::wrong_usage(
                "--schedule is for --dispatching scheduled",
            ));
        }
    })
}

/// Serves a channel that stores its events.
fn serve_persistent(args: &ServeArgs, config: JetStreamConfig) -> Result<(), Failure> {
    serve(&args.serving, |orb: &Orb| {
        let channel = PersistentChannel::open(config).map_err(because)?;
        let object = channel.serve(orb, &args.key).map_err(because)?;
        Ok(Served::new(channel, object.as_object().clone()))
    })
}
