// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium events`: an event channel, and what passes through one.

mod gateway;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use orbium::{Config, Endpoint, Interface, Orb};
use orbium_dynamic::{JsonOptions, to_json};
use orbium_event::rtec::orbium_event::MonitoredChannel;
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event::rtec::rtec_event_comm::Event;
use orbium_event::{
    Channel, ChannelConfig, DiscardPolicy, Dispatching, Pattern, QueueLimits,
    connect_scheduled_consumer, connect_supplier, new_event,
};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::sched::check::AnalysisArgs;
use crate::sched::table;
use crate::serving::{Ending, Served, ServingArgs, because, serve};
use crate::{output, ping, reference};

#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Serve a channel until a signal ends it.
    ///
    /// Prints its reference. Every client of the endpoint can push events and destroy the channel.
    Serve(Box<ServeArgs>),
    /// Print the events of a channel, TAO's too, a line of JSON each.
    Tail(Box<TailArgs>),
    /// Push an event into a channel, TAO's too.
    Push(Box<PushArgs>),
    /// Print what a channel of orbium's has counted.
    Stat(Box<StatArgs>),
    /// Forward events from one channel to another, or to and from datagrams, until a signal ends it.
    ///
    /// What a consumer of the other channel subscribes to is forwarded, TAO's channels included. It
    /// connects again whenever a channel is gone; what comes until then is lost.
    Gateway(Box<gateway::GatewayArgs>),
}

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
struct ServeArgs {
    /// The key of the object, as in corbaloc:…/EventService
    #[arg(long, value_name = "KEY", default_value = "EventService")]
    key: String,
    /// The threads that push to consumers
    #[arg(long, value_enum, default_value = "per-consumer")]
    dispatching: Threads,
    /// Dispatch by the schedule of this table of operations, as `orbium sched check` takes it: the
    /// RT_Info of a consumer is the number of its operation, from 1
    #[arg(long, value_name = "FILE", required_if_eq("dispatching", "scheduled"))]
    schedule: Option<PathBuf>,
    /// Go on without native priorities where the host refuses them
    #[arg(long, requires = "schedule")]
    soft: bool,
    #[command(flatten)]
    analysis: AnalysisArgs,
    /// Sets of events that may wait for a consumer
    #[arg(long, value_name = "SETS", default_value = "1024", value_parser = clap::value_parser!(u32).range(1..))]
    queue: u32,
    /// What is discarded when a queue is full
    #[arg(long, value_enum, default_value = "oldest")]
    discard: Discard,
    /// Refuse events that their supplier has not published
    #[arg(long)]
    strict_publications: bool,
    #[command(flatten)]
    serving: ServingArgs,
}

#[derive(Debug, Args)]
struct ChannelArgs {
    #[arg(value_name = "REF", help = reference::HELP)]
    channel: String,
    /// Seconds that each answer may take
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = ping::seconds)]
    timeout: Duration,
    #[command(flatten)]
    protocols: reference::ProtocolArgs,
}

#[derive(Debug, Args)]
struct HeaderArgs {
    /// The type of events; 0 is any
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        allow_negative_numbers = true
    )]
    r#type: i32,
    /// The source of events; 0 is any
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        allow_negative_numbers = true
    )]
    source: i32,
}

#[derive(Debug, Args)]
struct TailArgs {
    #[command(flatten)]
    channel: ChannelArgs,
    #[command(flatten)]
    header: HeaderArgs,
    /// The RT_Info of this consumer in the schedule of the channel; 0 is none
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        allow_negative_numbers = true
    )]
    rt_info: i32,
    /// End after so many events
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Where the channel reaches this program
    #[arg(long, value_name = "URL", default_value = "iiop://localhost:0")]
    endpoint: Endpoint,
}

#[derive(Debug, Args)]
struct PushArgs {
    #[command(flatten)]
    channel: ChannelArgs,
    #[command(flatten)]
    header: HeaderArgs,
    /// The any of the event: a string
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// The payload, as text
    #[arg(long, value_name = "TEXT")]
    payload: Option<String>,
    /// How many gateways may forward the event
    #[arg(long, value_name = "N", default_value = "1")]
    ttl: i32,
}

#[derive(Debug, Args)]
struct StatArgs {
    #[command(flatten)]
    channel: ChannelArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &EventsArgs) -> Result<(), Failure> {
    match &args.what {
        What::Serve(args) => serve_channel(args),
        What::Tail(args) => tail(args),
        What::Push(args) => push(args),
        What::Stat(args) => stat(args),
        What::Gateway(args) => gateway::run(args),
    }
}

fn serve_channel(args: &ServeArgs) -> Result<(), Failure> {
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

/// The channel that the arguments name, called by an ORB with these endpoints.
fn channel(args: &ChannelArgs, endpoints: Vec<Endpoint>) -> Result<(Orb, EventChannel), Failure> {
    let mut config = Config {
        endpoints,
        ..Config::default()
    };
    reference::complete(&mut config, &args.protocols, Some(args.timeout))?;
    let orb = Orb::new(config).map_err(because)?;
    let object = reference::resolve(&orb, &args.channel)?;
    let channel = object.narrow();
    let channel = channel
        .map_err(|error| Failure::because(format!("not a real-time event channel: {error}")))?;
    Ok((orb, channel))
}

fn tail(args: &TailArgs) -> Result<(), Failure> {
    let ending = Ending::new()?;
    let (orb, channel) = channel(&args.channel, vec![args.endpoint.clone()])?;
    // Bounded: the channel's queue is to fill, not the memory of this program.
    let (send, events) = mpsc::sync_channel(1024);
    let pattern = Pattern::of(args.header.r#type, args.header.source);
    let received = send.clone();
    let scheduled = (&pattern, args.rt_info);
    let consumer = connect_scheduled_consumer(&orb, &channel, scheduled, move |set: &[Event]| {
        for event in set {
            // It fails when printing has ended.
            let _ = received.send(Some(event.clone()));
        }
    });
    let consumer = consumer.map_err(because)?;
    ending.then(move || {
        let _ = send.send(None);
    })?;
    let printed = print_events(&events, args.count);
    drop(events);
    let disconnected = consumer.disconnect().map_err(because);
    printed.and(disconnected)
}

/// Prints so many events, or those until the end.
fn print_events(events: &Receiver<Option<Event>>, count: Option<u64>) -> Result<(), Failure> {
    let mut printed = 0;
    while count.is_none_or(|count| printed < count) {
        let Ok(Some(event)) = events.recv() else {
            return Ok(());
        };
        output::print(&format!("{}\n", described(&event)))?;
        printed += 1;
    }
    Ok(())
}

fn described(event: &Event) -> Value {
    let header = &event.header;
    let any = to_json(&event.data.any_value, &JsonOptions::default());
    let any = any.map_err(|error| error.to_string());
    let any = any.and_then(|it| serde_json::from_str(&it).map_err(|error| error.to_string()));
    let any: Value = any.unwrap_or_else(|error| json!({ "error": error }));
    let payload = match std::str::from_utf8(&event.data.payload) {
        Ok(text) => json!(text),
        Err(_) => json!(event.data.payload),
    };
    json!({
        "type": header.r#type,
        "source": header.source,
        "ttl": header.ttl,
        "creation_time": header.creation_time,
        "payload": payload,
        "any": any,
    })
}

fn push(args: &PushArgs) -> Result<(), Failure> {
    let (_orb, channel) = channel(&args.channel, Vec::new())?;
    let header = (args.header.r#type, args.header.source);
    let supplier = connect_supplier(&channel, &[header]).map_err(because)?;
    let mut event = new_event(header.0, header.1);
    event.header.ttl = args.ttl;
    if let Some(text) = &args.text {
        event.data.any_value = text.as_str().into();
    }
    if let Some(payload) = &args.payload {
        event.data.payload = payload.clone().into_bytes();
    }
    supplier.push(&[event]).map_err(because)?;
    // The push has no answer. On its connection the channel serves it before this.
    supplier.flush().map_err(because)?;
    supplier.disconnect().map_err(because)
}

fn stat(args: &StatArgs) -> Result<(), Failure> {
    let (_orb, channel) = channel(&args.channel, Vec::new())?;
    let monitored: MonitoredChannel = channel.as_object().narrow().map_err(|error| {
        Failure::because(format!("not a channel of orbium's, which counts: {error}"))
    })?;
    let state = monitored.state().map_err(because)?;
    if args.json {
        let consumers = state.consumers.iter().map(|it| {
            json!({
                "id": it.id, "delivered": it.delivered, "discarded": it.discarded,
                "suspended": it.suspended, "lost": it.lost, "queued": it.queued,
                "is_suspended": it.is_suspended, "is_suspect": it.is_suspect,
            })
        });
        let consumers: Vec<_> = consumers.collect();
        return output::print_json(&json!({
            "received": state.received, "refused": state.refused,
            "dropped_consumers": state.dropped_consumers, "suppliers": state.suppliers,
            "consumers": consumers,
        }));
    }
    let mut text = format!(
        "{} events received, {} refused; {} suppliers, {} consumers, {} consumers dropped\n",
        state.received,
        state.refused,
        state.suppliers,
        state.consumers.len(),
        state.dropped_consumers
    );
    for it in &state.consumers {
        let is = match (it.is_suspect, it.is_suspended) {
            (true, _) => ", suspect",
            (_, true) => ", suspended",
            _ => "",
        };
        let _ = writeln!(
            text,
            "consumer {}: {} delivered, {} waiting, {} discarded, {} suspended, {} lost{is}",
            it.id, it.delivered, it.queued, it.discarded, it.suspended, it.lost
        );
    }
    output::print(&text)
}
