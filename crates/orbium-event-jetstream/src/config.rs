// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a persistent channel is made with.

use std::path::PathBuf;
use std::time::Duration;

use orbium_event::FilterLimits;

/// Where the stream is, and every bound of a channel that stores its events in it.
///
/// ```
/// use orbium_event_jetstream::JetStreamConfig;
///
/// let config = JetStreamConfig::new("nats://127.0.0.1:4222", "ALARMS");
/// assert_eq!(config.in_flight, 256);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JetStreamConfig {
    /// Servers of one cluster: `nats://host:port`, or `tls://host:port`; separated by commas.
    pub servers: String,
    /// The file with the credentials of an account; `None` by default.
    pub credentials: Option<PathBuf>,
    /// The stream: up to 64 letters, digits, `-` and `_`. It is made if it does not exist; its subjects are
    /// `orb.ev.NAME.>`.
    pub stream: String,
    /// Copies of the stream in a cluster, if the channel makes it; 1 by default.
    pub replicas: usize,
    /// Bytes of the stream, if the channel makes it; without a bound by default. A full stream refuses
    /// events: it deletes none that a consumer may not have received.
    pub max_bytes: Option<u64>,
    /// How long the stream recognises an event that is stored twice, if the channel makes it; 2
    /// minutes by default.
    pub duplicate_window: Duration,
    /// How long the server may take to answer at the start; 5 s by default.
    pub connect_timeout: Duration,
    /// How long a push of a supplier waits until its events are stored; 5 s by default.
    pub publish_timeout: Duration,
    /// How long an event waits for its acknowledgement until it is published once more, within
    /// [`publish_timeout`](Self::publish_timeout); 1 s by default.
    pub attempt_timeout: Duration,
    /// Events that are being stored at a time, of all suppliers; 256 by default. Further pushes wait.
    pub in_flight: usize,
    /// How long the push to a consumer may take; 5 s by default.
    pub push_timeout: Duration,
    /// How long after the death of a channel the events that its consumers had not acknowledged are
    /// delivered by another one; 30 s by default.
    pub ack_wait: Duration,
    /// Events of each consumer that are delivered and not acknowledged; 64 by default. With 1 a
    /// consumer gets its events in order whatever fails.
    pub window: usize,
    /// Consumers, those that have not connected yet included; 1,024 by default.
    pub consumers: usize,
    /// Suppliers, likewise; 1,024 by default.
    pub suppliers: usize,
    /// The bounds of a subscription.
    pub filter: FilterLimits,
}

impl JetStreamConfig {
    /// A stream of these servers, with the defaults.
    #[must_use]
    pub fn new(servers: &str, stream: &str) -> Self {
        Self {
            servers: servers.to_owned(),
            credentials: None,
            stream: stream.to_owned(),
            replicas: 1,
            max_bytes: None,
            duplicate_window: Duration::from_secs(120),
            connect_timeout: Duration::from_secs(5),
            publish_timeout: Duration::from_secs(5),
            attempt_timeout: Duration::from_secs(1),
            in_flight: 256,
            push_timeout: Duration::from_secs(5),
            ack_wait: Duration::from_secs(30),
            window: 64,
            consumers: 1024,
            suppliers: 1024,
            filter: FilterLimits::default(),
        }
    }
}

/// Whether this names a stream or a consumer: a token of a subject without wildcards.
pub(crate) fn is_name(name: &str) -> bool {
    let is_of_token = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
    (1..=64).contains(&name.len()) && name.bytes().all(is_of_token)
}
