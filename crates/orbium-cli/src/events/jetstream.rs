// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stream in which a served channel stores its events.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use orbium::Orb;
use orbium_notification::Journal;

use crate::failure::Failure;
use crate::object::ping;
use crate::serving::Served;

/// Opens the stream, and serves it as an event channel with a key.
type ServeChannel = Box<dyn FnOnce(&Orb, &str) -> Result<Served<Box<dyn Any>>, Failure>>;

/// Opens the stream as the journal of a notification channel.
type OpenJournal = Box<dyn FnOnce() -> Result<Arc<dyn Journal>, Failure>>;

/// Both ways of serving the stream of these arguments, with its servers and its name.
type Stream = fn(&JetStreamArgs, &str, &str) -> (ServeChannel, OpenJournal);

#[derive(Debug, Args)]
#[allow(
    dead_code,
    reason = "a program without the feature `jetstream` does not read all of them"
)]
pub(crate) struct JetStreamArgs {
    /// Store events in a stream of these NATS servers before they are delivered, so that none is
    /// lost
    #[arg(long, value_name = "NATS-URL,…", requires = "stream")]
    jetstream: Option<String>,
    /// The stream, which is created if it does not exist
    #[arg(long, value_name = "NAME", requires = "jetstream")]
    stream: Option<String>,
    /// Servers of the cluster with a copy of the stream; one that exists may have more, and no fewer
    #[arg(long, value_name = "SERVERS", default_value = "1", value_parser = clap::value_parser!(u8).range(1..=5), requires = "jetstream")]
    replicas: u8,
    /// The credentials of the account
    #[arg(long, value_name = "FILE", requires = "jetstream")]
    credentials: Option<PathBuf>,
    /// Seconds after the failure of a channel until another one delivers its unacknowledged events
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = ping::seconds, requires = "jetstream")]
    ack_wait: Duration,
    /// Unacknowledged events per consumer; 1 keeps their order after failures too
    #[arg(long, value_name = "EVENTS", default_value = "64", value_parser = clap::value_parser!(u32).range(1..), requires = "jetstream")]
    window: u32,
    /// Maximum number of events of one push to a consumer; 1 pushes each alone
    #[arg(long, value_name = "EVENTS", default_value = "64", value_parser = clap::value_parser!(u32).range(1..), requires = "jetstream")]
    set_events: u32,
    /// The stream of events that a consumer does not accept, which is created if it does not exist
    #[arg(long, value_name = "NAME", requires = "jetstream")]
    dead_letters: Option<String>,
    /// Failed deliveries that make an event a dead letter; an event that is refused becomes one
    /// immediately
    #[arg(long, value_name = "DELIVERIES", default_value = "10", value_parser = clap::value_parser!(u64).range(1..), requires = "dead_letters")]
    max_deliveries: u64,
    /// The file in which events wait while the stream is unreachable, which is created if it does
    /// not exist
    #[arg(long, value_name = "FILE", requires = "jetstream")]
    spool: Option<PathBuf>,
    /// Bytes of the events in it
    #[arg(long, value_name = "BYTES", default_value = "67108864", value_parser = clap::value_parser!(u64).range(1..), requires = "spool")]
    spool_bytes: u64,
}

impl JetStreamArgs {
    /// Both ways of serving the stream that the arguments name, if they name one.
    ///
    /// # Errors
    /// The program was built without the feature `jetstream`.
    pub(crate) fn stream(&self) -> Result<Option<(ServeChannel, OpenJournal)>, Failure> {
        self.stream_by(streams())
    }

    fn stream_by(
        &self,
        streams: Option<Stream>,
    ) -> Result<Option<(ServeChannel, OpenJournal)>, Failure> {
        let (Some(servers), Some(stream)) = (&self.jetstream, &self.stream) else {
            return Ok(None);
        };
        match streams {
            Some(streams) => Ok(Some(streams(self, servers, stream))),
            None => Err(Failure::because(
                "--jetstream: this program was built without the feature `jetstream` of orbium-cli",
            )),
        }
    }
}

/// Streams of JetStream; `None` in a program that was built without the feature `jetstream`.
fn streams() -> Option<Stream> {
    let streams: &[Stream] = &[
        #[cfg(feature = "jetstream")]
        |args, servers, stream| {
            use crate::serving::because;
            use orbium::Interface as _;
            use orbium_event_jetstream::{
                DeadLetters, JetStreamConfig, PersistentChannel, SpoolConfig, StreamJournal,
            };

            let dead_letters = args.dead_letters.as_deref();
            let max_bytes = args.spool_bytes;
            let spool = args.spool.clone();
            let config = JetStreamConfig {
                replicas: usize::from(args.replicas),
                credentials: args.credentials.clone(),
                ack_wait: args.ack_wait,
                window: args.window as usize,
                set_events: args.set_events as usize,
                dead_letters: dead_letters.map(|it| DeadLetters::new(it, args.max_deliveries)),
                spool: spool.map(|path| SpoolConfig { path, max_bytes }),
                ..JetStreamConfig::new(servers, stream)
            };
            let of_journal = config.clone();
            let channel: ServeChannel = Box::new(move |orb, key| {
                let channel = PersistentChannel::open(config).map_err(because)?;
                let object = channel.serve(orb, key).map_err(because)?;
                Ok(Served::new(Box::new(channel), object.as_object().clone()))
            });
            let journal: OpenJournal =
                Box::new(move || Ok(Arc::new(StreamJournal::open(of_journal).map_err(because)?)));
            (channel, journal)
        },
    ];
    streams.first().copied()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        stream: JetStreamArgs,
    }

    #[test]
    fn a_stream_has_one_to_five_copies() {
        let line = |replicas| {
            let stream = ["serve", "--jetstream", "nats://host", "--stream", "NAV"];
            Line::try_parse_from(stream.into_iter().chain(["--replicas", replicas]))
        };
        assert_eq!(line("3").unwrap().stream.replicas, 3);
        for replicas in ["0", "6"] {
            assert!(line(replicas).is_err(), "{replicas}");
        }
        assert!(Line::try_parse_from(["serve", "--replicas", "3"]).is_err());
    }

    /// A channel in memory in place of the requested one would lose events.
    #[test]
    fn a_program_without_streams_names_the_feature() {
        let line = |words: &[&str]| Line::try_parse_from(words).unwrap().stream;
        assert!(matches!(line(&["serve"]).stream_by(None), Ok(None)));
        let stream = line(&["serve", "--jetstream", "nats://host", "--stream", "NAV"]);
        match stream.stream_by(None) {
            Err(failure) => assert!(failure.sentence().contains("feature `jetstream`")),
            Ok(_) => panic!("it is served"),
        }
    }
}
