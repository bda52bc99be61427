// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium notify`: notification channels.

use clap::{Args, Subcommand};
use orbium::Interface;
use orbium::interceptor::Interceptors;
use orbium_notification::{NotificationConfig, NotificationService};

use crate::events::connections::ConnectionsArgs;
use crate::events::jetstream::JetStreamArgs;
use crate::failure::Failure;
use crate::serving::{Served, ServingArgs, because, serve_intercepted};

#[derive(Debug, Args)]
pub(crate) struct NotifyArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Serve a channel and a factory of channels until a signal ends them.
    ///
    /// Prints the references of both. Every client of the endpoint can push events, and make and
    /// destroy channels.
    Serve(ServeArgs),
}

#[derive(Debug, Args)]
struct ServeArgs {
    /// The key of the channel, as in corbaloc:…/NotificationChannel; the factory's ends in Factory
    #[arg(long, value_name = "KEY", default_value = "NotificationChannel")]
    key: String,
    /// Events that may wait for a consumer
    #[arg(long, value_name = "EVENTS", default_value = "65536", value_parser = clap::value_parser!(u32).range(1..))]
    queue: u32,
    #[command(flatten)]
    connections: ConnectionsArgs,
    #[command(flatten)]
    jetstream: JetStreamArgs,
    #[command(flatten)]
    serving: ServingArgs,
}

pub(crate) fn run(args: &NotifyArgs) -> Result<(), Failure> {
    let What::Serve(args) = &args.what;
    let config = NotificationConfig {
        queue_events: args.queue as usize,
        connections: args.connections.file(),
        ..NotificationConfig::default()
    };
    let stream = args.jetstream.stream()?;
    // The reply to a pull has the number of events that were dropped.
    let interceptors = Interceptors::new().with_reply_contexts();
    serve_intercepted(&args.serving, interceptors, |orb| {
        let service = match stream {
            Some((_, journal)) => {
                NotificationService::serve_stored(orb, &args.key, config, journal()?)
            }
            None => NotificationService::serve(orb, &args.key, config),
        };
        let service = service.map_err(because)?;
        let object = service.channel().as_object().clone();
        let factory = orb.object_to_string(service.factory());
        Ok(Served {
            further: format!("{factory}\n"),
            ..Served::new(service, object)
        })
    })
}
