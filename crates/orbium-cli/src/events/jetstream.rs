// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stream in which a served channel stores its events.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use orbium_event_jetstream::{DeadLetters, JetStreamConfig, SpoolConfig};

use crate::object::ping;

#[derive(Debug, Args)]
pub(crate) struct JetStreamArgs {
    /// Store events in a stream of these NATS servers before they are delivered, so that none is lost
    #[arg(long, value_name = "NATS-URL,…", requires = "stream")]
    jetstream: Option<String>,
    /// The stream, which is made if there is none
    #[arg(long, value_name = "NAME", requires = "jetstream")]
    stream: Option<String>,
    /// The credentials of the account
    #[arg(long, value_name = "FILE", requires = "jetstream")]
    credentials: Option<PathBuf>,
    /// Seconds after the death of a channel until another one delivers what was not acknowledged
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = ping::seconds, requires = "jetstream")]
    ack_wait: Duration,
    /// Events of each consumer that are delivered and not acknowledged; 1 keeps their order whatever fails
    #[arg(long, value_name = "EVENTS", default_value = "64", value_parser = clap::value_parser!(u32).range(1..), requires = "jetstream")]
    window: u32,
    /// Events of one push to a consumer, at most; 1 pushes each by itself
    #[arg(long, value_name = "EVENTS", default_value = "64", value_parser = clap::value_parser!(u32).range(1..), requires = "jetstream")]
    set_events: u32,
    /// The stream of events that a consumer does not accept, which is made if there is none
    #[arg(long, value_name = "NAME", requires = "jetstream")]
    dead_letters: Option<String>,
    /// Failed deliveries that make an event a dead letter; one that is refused becomes one at once
    #[arg(long, value_name = "DELIVERIES", default_value = "10", value_parser = clap::value_parser!(u64).range(1..), requires = "dead_letters")]
    max_deliveries: u64,
    /// The file in which events wait while the stream cannot be reached, which is made if there is none
    #[arg(long, value_name = "FILE", requires = "jetstream")]
    spool: Option<PathBuf>,
    /// Bytes of the events in it
    #[arg(long, value_name = "BYTES", default_value = "67108864", value_parser = clap::value_parser!(u64).range(1..), requires = "spool")]
    spool_bytes: u64,
}

impl JetStreamArgs {
    /// The stream that the arguments name, if they name one.
    pub(crate) fn config(&self) -> Option<JetStreamConfig> {
        let servers = self.jetstream.as_deref()?;
        let stream = self.stream.as_deref()?;
        Some(JetStreamConfig {
            credentials: self.credentials.clone(),
            ack_wait: self.ack_wait,
            window: self.window as usize,
            set_events: self.set_events as usize,
            dead_letters: self.dead_letters(),
            spool: self.spool(),
            ..JetStreamConfig::new(servers, stream)
        })
    }

    fn spool(&self) -> Option<SpoolConfig> {
        let path = self.spool.clone()?;
        let max_bytes = self.spool_bytes;
        Some(SpoolConfig { path, max_bytes })
    }

    fn dead_letters(&self) -> Option<DeadLetters> {
        let stream = self.dead_letters.as_deref()?;
        Some(DeadLetters::new(stream, self.max_deliveries))
    }
}
