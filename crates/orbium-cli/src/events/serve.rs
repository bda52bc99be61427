// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium events serve`.

use clap::Args;
use orbium::Interface as _;

use super::channel_config::ConfigArgs;
use super::dispatching::DispatchingArgs;
use super::front::FrontArgs;
use crate::events::jetstream::JetStreamArgs;
use crate::failure::Failure;
use crate::serving::{Served, ServingArgs, because, serve, serve_intercepted};

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// The key of the object, as in corbaloc:…/EventService
    #[arg(long, value_name = "KEY", default_value = "EventService")]
    key: String,
    #[command(flatten)]
    dispatching: DispatchingArgs,
    #[command(flatten)]
    config: ConfigArgs,
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
    let (channel, context) = args.dispatching.channel(args.config.config())?;
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;
    use orbium_event::{ChannelConfig, Clearing, DiscardPolicy, FailurePolicy, Suspension};

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: ServeArgs,
    }

    fn parsed(line: &str) -> Result<ChannelConfig, clap::Error> {
        let words = line.split_whitespace();
        let line = Line::try_parse_from(std::iter::once("serve").chain(words))?;
        Ok(line.args.config.config())
    }

    #[test]
    fn each_option_reaches_the_configuration_of_the_channel() {
        type Change = fn(&mut ChannelConfig);
        let block = DiscardPolicy::Block(Duration::from_millis(7));
        assert_eq!(
            parsed("--discard block --block 7").unwrap().queue.discard,
            block
        );
        let cases: [(&str, Change); 31] = [
            ("", |_| {}),
            ("--queue 7", |it| it.queue.sets = 7),
            ("--queue-bytes 9", |it| it.queue.bytes = 9),
            ("--discard newest", |it| {
                it.queue.discard = DiscardPolicy::Newest;
            }),
            ("--discard latest", |it| {
                it.queue.discard = DiscardPolicy::Latest;
            }),
            ("--discard coalesce", |it| {
                it.queue.discard = DiscardPolicy::Coalesce;
            }),
            ("--discard disconnect", |it| {
                it.queue.discard = DiscardPolicy::Disconnect;
            }),
            ("--retain 3", |it| it.retention.events = 3),
            ("--retain-bytes 9", |it| it.retention.bytes = 9),
            ("--consumer-reconnect", |it| it.consumer_reconnect = true),
            ("--supplier-reconnect", |it| it.supplier_reconnect = true),
            ("--disconnect-callbacks", |it| {
                it.disconnect_callbacks = true;
            }),
            ("--strict-publications", |it| it.strict_publications = true),
            ("--suspension wait", |it| it.suspension = Suspension::Wait),
            ("--clearing branch", |it| it.clearing = Clearing::Branch),
            ("--failures 7", |it| it.failure.failures = 7),
            ("--failures never", |it| it.failure = FailurePolicy::NEVER),
            ("--failure-time 0.5", |it| {
                it.failure.time = Duration::from_millis(500);
            }),
            ("--push-timeout 2", |it| {
                it.push_timeout = Duration::from_secs(2);
            }),
            ("--ping-period 2", |it| {
                it.ping_period = Some(Duration::from_secs(2));
            }),
            ("--ping-period none", |it| it.ping_period = None),
            ("--ping-timeout 2", |it| {
                it.ping_timeout = Duration::from_secs(2);
            }),
            ("--consumers 7", |it| it.consumers = 7),
            ("--suppliers 7", |it| it.suppliers = 7),
            ("--publications 7", |it| it.publications = 7),
            ("--observers 0", |it| it.observers = 0),
            ("--filter-elements 7", |it| it.filter.elements = 7),
            ("--filter-depth 7", |it| it.filter.depth = 7),
            ("--shortest-period 2", |it| {
                it.filter.shortest_period = Duration::from_secs(2);
            }),
            ("--filter-timers 0", |it| it.filter.timers = 0),
            ("--queue 7 --failures 7", |it| {
                (it.queue.sets, it.failure.failures) = (7, 7);
            }),
        ];
        for (line, change) in cases {
            let mut expected = ChannelConfig::default();
            change(&mut expected);
            assert_eq!(parsed(line).unwrap(), expected, "{line}");
        }
    }

    #[test]
    fn wrong_values_are_refused() {
        for line in [
            "--queue 0",
            "--queue-bytes 0",
            "--discard all",
            "--retain-bytes 0",
            "--suspension queue",
            "--clearing none",
            "--failures 0",
            "--failures often",
            "--failure-time 0",
            "--push-timeout -1",
            "--ping-period never",
            "--ping-period 0",
            "--ping-timeout soon",
            "--consumers 0",
            "--suppliers 0",
            "--publications -1",
            "--observers many",
            "--filter-elements 0",
            "--filter-depth 0",
            "--shortest-period 0",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }

    /// A channel that stores its events has other bounds.
    #[test]
    fn options_of_channels_in_memory_are_refused_with_a_stream() {
        let stream = "--jetstream nats://127.0.0.1:4222 --stream NAV";
        parsed(stream).unwrap();
        for option in [
            "--queue 7",
            "--consumer-reconnect",
            "--failures 7",
            "--observers 0",
        ] {
            assert!(parsed(&format!("{stream} {option}")).is_err(), "{option}");
        }
    }
}
