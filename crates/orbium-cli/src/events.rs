// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium events`: event channels, and the events that they deliver.

mod args;
mod channel_config;
pub(crate) mod connections;
mod described;
mod dispatching;
mod front;
mod gateway;
pub(crate) mod jetstream;
mod notification;
mod persistent;
mod printer;
mod real_time;
mod serve;

use clap::{Args, Subcommand};
use orbium::{Config, Interface as _, ObjectRef, Orb, transport::Endpoint};
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_notification::idl::cos_notify_channel_admin as notify;

use self::args::{ChannelArgs, PushArgs, StatArgs, TailArgs};
use crate::failure::Failure;
use crate::object::reference;
use crate::serving::because;

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
    Serve(Box<serve::ServeArgs>),
    /// Print the events of an event or notification channel, a line of JSON each.
    Tail(Box<TailArgs>),
    /// Push an event into an event or notification channel.
    Push(Box<PushArgs>),
    /// Print the counts of a channel of orbium's.
    Stat(Box<StatArgs>),
    /// Forward events from one channel to another, to and from a group, or datagrams, until a signal
    /// ends it.
    ///
    /// Events to which consumers of the other channel subscribe are forwarded, TAO's channels
    /// included. The gateway reconnects when a channel is gone; events of that time are lost.
    Gateway(Box<gateway::GatewayArgs>),
}

pub(crate) fn run(args: &EventsArgs) -> Result<(), Failure> {
    match &args.what {
        What::Serve(args) => serve::run(args),
        What::Tail(args) => tail(args),
        What::Push(args) => push(args),
        What::Stat(args) => stat(args),
        What::Gateway(args) => gateway::run(args),
    }
}

/// A channel of either kind.
enum Channel {
    RealTime(EventChannel),
    Notification(notify::EventChannel),
}

/// The channel that the arguments name, called by an ORB with these endpoints.
fn channel(args: &ChannelArgs, endpoints: Vec<Endpoint>) -> Result<(Orb, Channel), Failure> {
    let mut config = Config {
        endpoints,
        ..Config::default()
    };
    reference::complete(&mut config, &args.protocols, Some(args.timeout))?;
    let orb = Orb::new(config).map_err(because)?;
    let object = reference::resolve(&orb, &args.channel)?;
    let channel = kind_of(&object)?;
    Ok((orb, channel))
}

fn kind_of(object: &ObjectRef) -> Result<Channel, Failure> {
    let failed = |error| {
        Failure::because(format!(
            "neither an event channel nor a notification channel: {error}"
        ))
    };
    let is_notification = object.is_a(notify::EventChannel::REPOSITORY_ID);
    if is_notification.map_err(|error| failed(error.to_string()))? {
        let channel = notify::EventChannel::from_object(object.clone());
        return Ok(Channel::Notification(channel));
    }
    let channel = object.narrow().map_err(|error| failed(error.to_string()))?;
    Ok(Channel::RealTime(channel))
}

fn tail(args: &TailArgs) -> Result<(), Failure> {
    let (orb, channel) = channel(&args.channel, vec![args.endpoint.clone()])?;
    match channel {
        Channel::RealTime(channel) => real_time::tail(args, (&orb, &channel)),
        Channel::Notification(channel) => notification::tail(args, (&orb, &channel)),
    }
}

fn push(args: &PushArgs) -> Result<(), Failure> {
    let (_orb, channel) = channel(&args.channel, Vec::new())?;
    match channel {
        Channel::RealTime(channel) => real_time::push(args, &channel),
        Channel::Notification(channel) => notification::push(args, &channel),
    }
}

fn stat(args: &StatArgs) -> Result<(), Failure> {
    let (_orb, channel) = channel(&args.channel, Vec::new())?;
    match channel {
        Channel::RealTime(channel) => real_time::stat(&channel, args.json),
        Channel::Notification(channel) => notification::stat(&channel, args.json),
    }
}
