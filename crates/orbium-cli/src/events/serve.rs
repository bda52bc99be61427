// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium events serve`.

use std::time::Duration;

use clap::{Args, ValueEnum};
use orbium::Interface as _;
use orbium_event::{ChannelConfig, DiscardPolicy, QueueLimits, Retention};

use super::dispatching::DispatchingArgs;
use super::front::FrontArgs;
use crate::events::jetstream::JetStreamArgs;
use crate::failure::Failure;
use crate::serving::{Served, ServingArgs, because, serve, serve_intercepted};

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
    /// The new event, once its supplier has waited for space
    Block,
}

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// The key of the object, as in corbaloc:…/EventService
    #[arg(long, value_name = "KEY", default_value = "EventService")]
    key: String,
    #[command(flatten)]
    dispatching: DispatchingArgs,
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
    /// How long a supplier waits for space with --discard block
    #[arg(
        long,
        value_name = "MILLISECONDS",
        default_value = "100",
        conflicts_with = "jetstream"
    )]
    block: u32,
    /// Last events, one of each type and source, that the channel retains for consumers that ask for them
    #[arg(
        long,
        value_name = "EVENTS",
        default_value = "0",
        conflicts_with = "jetstream"
    )]
    retain: usize,
    /// Refuse events that their supplier has not published
    #[arg(long, conflicts_with = "jetstream")]
    strict_publications: bool,
    #[command(flatten)]
    front: FrontArgs,
    #[command(flatten)]
    jetstream: JetStreamArgs,
    #[command(flatten)]
    serving: ServingArgs,
}

pub(super) fn run(args: &ServeArgs) -> Result<(), Failure> {
    if let Some((channel, _)) = args.jetstream.stream()? {
        return serve(&args.serving, |orb| channel(orb, &args.key));
    }
    let config = ChannelConfig {
        queue: QueueLimits {
            sets: args.queue as usize,
            discard: match args.discard {
                Discard::Oldest => DiscardPolicy::Oldest,
                Discard::Newest => DiscardPolicy::Newest,
                Discard::Coalesce => DiscardPolicy::Coalesce,
                Discard::Disconnect => DiscardPolicy::Disconnect,
                Discard::Block => DiscardPolicy::Block(Duration::from_millis(args.block.into())),
            },
            ..QueueLimits::default()
        },
        strict_publications: args.strict_publications,
        retention: Retention {
            events: args.retain,
            ..Retention::default()
        },
        ..ChannelConfig::default()
    };
    let (channel, context) = args.dispatching.channel(config)?;
    serve_intercepted(&args.serving, args.front.interceptors(), |orb| {
        // Before requests are served: its connections may be there already.
        let front = args.front.serve(orb, &channel)?;
        let object = channel.serve(orb, &args.key).map_err(because)?;
        let references = front.iter().map(|it| {
            let channel = orb.object_to_string(it.channel());
            let factory = orb.object_to_string(it.factory());
            format!("{channel}\n{factory}\n")
        });
        let further = references.collect();
        Ok(Served {
            further,
            ..Served::new((front, channel, context), object.as_object().clone())
        })
    })
}
