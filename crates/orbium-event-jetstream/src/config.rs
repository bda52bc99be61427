// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration of a persistent channel.

use std::path::PathBuf;
use std::time::Duration;

use orbium_event::FilterLimits;

use crate::error::JetStreamError;

/// A day, so that the end of a time-out is a representable time.
const MAX_PUBLISH_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// Location of the stream, and every bound of a persistent channel.
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
    /// The stream: up to 64 letters, digits, `-` and `_`. It is created if it does not exist; its
    /// subjects are `orb.ev.NAME.>`.
    pub stream: String,
    /// Servers of a cluster with a copy of the stream, if the channel makes it; 1 by default. A stream that exists may have more
    /// copies; one with fewer is refused.
    pub replicas: usize,
    /// Maximum bytes of the stream, if the channel creates it; without a bound by default. A full
    /// stream refuses events: it deletes none that a consumer may not have received.
    pub max_bytes: Option<u64>,
    /// The time within which the stream detects an event that is stored twice, if the channel
    /// creates it; 2 minutes by default.
    pub duplicate_window: Duration,
    /// Time limit of the server for its replies at the start, including the election of a leader of a cluster; 5 s by default.
    /// Several servers share it.
    pub connect_timeout: Duration,
    /// Time-out of a supplier's push for storing its events; 5 s by default, a day at most.
    pub publish_timeout: Duration,
    /// Time-out of the acknowledgement of an event, after which it is published again within
    /// [`publish_timeout`](Self::publish_timeout); 1 s by default.
    pub attempt_timeout: Duration,
    /// Maximum number of events that are being stored at a time, of all suppliers; 256 by default.
    /// Further pushes wait.
    pub in_flight: usize,
    /// Time-out of the push to a consumer; 5 s by default.
    pub push_timeout: Duration,
    /// The time after the failure of a channel until another one delivers the events that its
    /// consumers had not acknowledged; 30 s by default.
    pub ack_wait: Duration,
    /// Maximum number of unacknowledged events of each consumer; 64 by default. With 1 a consumer
    /// gets its events in order after failures too. A subscription with conjunctions has one more
    /// for each of its elements, since it retains events.
    pub window: usize,
    /// Maximum number of events of one push to a consumer; 64 by default, and no more than
    /// [`window`](Self::window). With 1 each is pushed alone, as is every event of a failed
    /// delivery.
    pub set_events: usize,
    /// Maximum bytes of the events of one push; 256 KiB by default. A larger event is pushed alone.
    pub set_bytes: usize,
    /// Maximum bytes of the events with which the conjunctions of a subscription wait; 16 MiB by
    /// default. Beyond it these events are discarded as refused ones are.
    pub conjunction_bytes: usize,
    /// Maximum number of consumers, those that have not connected yet included; 1,024 by default.
    pub consumers: usize,
    /// Maximum number of suppliers, likewise; 1,024 by default.
    pub suppliers: usize,
    /// Maximum number of observers; 64 by default. With 0 they are refused.
    pub observers: usize,
    /// The stream of events that their consumers do not accept; `None` by default: a failed event
    /// is delivered again until it succeeds, and a refused one (BAD_PARAM, MARSHAL) is dropped.
    pub dead_letters: Option<DeadLetters>,
    /// The file in which events wait while the stream is unreachable; `None` by default: pushes
    /// raise TIMEOUT.
    pub spool: Option<SpoolConfig>,
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
            set_events: 64,
            set_bytes: 256 << 10,
            conjunction_bytes: 16 << 20,
            consumers: 1024,
            suppliers: 1024,
            observers: 64,
            dead_letters: None,
            spool: None,
            filter: FilterLimits::default(),
        }
    }
}

impl JetStreamConfig {
    /// The stream, and that of its dead letters.
    pub(crate) fn streams(&self) -> impl Iterator<Item = &str> {
        let dead_letters = self.dead_letters.iter().map(|it| it.stream.as_str());
        std::iter::once(self.stream.as_str()).chain(dead_letters)
    }

    /// The same, with times bounded.
    pub(crate) fn bounded(mut self) -> Self {
        self.publish_timeout = self.publish_timeout.min(MAX_PUBLISH_TIMEOUT);
        self
    }

    /// # Errors
    /// [`JetStreamError::Name`], [`JetStreamError::DeadLetters`].
    pub(crate) fn check_names(&self) -> Result<(), JetStreamError> {
        if let Some(name) = self.streams().find(|it| !is_name(it)) {
            return Err(JetStreamError::Name(name.to_owned()));
        }
        let is_valid = |it: &DeadLetters| it.stream != self.stream && it.max_deliveries > 0;
        if self.dead_letters.as_ref().is_none_or(is_valid) {
            Ok(())
        } else {
            Err(JetStreamError::DeadLetters)
        }
    }
}

/// The stream of the events that their consumers do not accept, and the condition for dead letters.
///
/// It is an ordinary stream: a channel on it delivers the dead letters to its consumers.
///
/// ```no_run
/// use orbium_event_jetstream::{DeadLetters, JetStreamConfig, PersistentChannel};
///
/// let alarms = JetStreamConfig {
///     dead_letters: Some(DeadLetters::new("ALARMS-DEAD", 5)),
///     ..JetStreamConfig::new("nats://127.0.0.1:4222", "ALARMS")
/// };
/// let channel = PersistentChannel::open(alarms)?;
/// let dead_letters = JetStreamConfig::new("nats://127.0.0.1:4222", "ALARMS-DEAD");
/// let dead_letters = PersistentChannel::open(dead_letters)?;
/// # drop((channel, dead_letters));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetters {
    /// A stream other than that of the channel, created with the same limits if it does not exist;
    /// a name as [`JetStreamConfig::stream`].
    pub stream: String,
    /// Failed deliveries that make an event a dead letter. Deliveries to a consumer that is
    /// unreachable (TRANSIENT) or suspended do not count. A channel counts in memory: a restarted
    /// one, or another one that the consumer connects to, begins at 0. An event that its consumer
    /// refuses (BAD_PARAM, MARSHAL) becomes a dead letter immediately, as does a message that is
    /// not a valid event.
    pub max_deliveries: u64,
}

impl DeadLetters {
    /// Dead letters in that stream, after so many failed deliveries.
    #[must_use]
    pub fn new(stream: &str, max_deliveries: u64) -> Self {
        Self {
            stream: stream.to_owned(),
            max_deliveries,
        }
    }
}

/// The file in which events wait while the stream is unreachable, and its bound.
///
/// A push returns when its events are in the stream or, if the stream does not acknowledge them
/// within [`attempt_timeout`](JetStreamConfig::attempt_timeout), in the file, written to the disk.
/// They are sent in order when a server is available again, before all later events; the file
/// outlives the channel. A channel with a spool opens without a server. One channel at a time can
/// open a file.
///
/// ```no_run
/// use orbium_event_jetstream::{JetStreamConfig, PersistentChannel, SpoolConfig};
///
/// let config = JetStreamConfig {
///     spool: Some(SpoolConfig::new("/var/spool/orbium/alarms")),
///     ..JetStreamConfig::new("nats://127.0.0.1:4222", "ALARMS")
/// };
/// let channel = PersistentChannel::open(config)?;
/// # drop(channel);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolConfig {
    /// The file, which is created if it does not exist.
    pub path: PathBuf,
    /// Maximum bytes of the events in it; 64 MiB by default. Pushes beyond that raise NO_RESOURCES.
    /// The file is larger by its index, and does not shrink.
    pub max_bytes: u64,
}

impl SpoolConfig {
    /// A file with the default bound.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            max_bytes: 64 << 20,
        }
    }
}

/// Whether this is a valid name of a stream or consumer: a token of a subject without wildcards.
pub(crate) fn is_name(name: &str) -> bool {
    let is_of_token = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
    (1..=64).contains(&name.len()) && name.bytes().all(is_of_token)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: computing the time at which a push fails overflowed and panicked.
    #[test]
    fn a_push_waits_no_longer_than_clocks_can_count() {
        let mut config = JetStreamConfig::new("nats://127.0.0.1:4222", "ALARMS");
        assert_eq!(config.clone().bounded(), config);
        config.publish_timeout = Duration::MAX;
        assert_eq!(config.bounded().publish_timeout, MAX_PUBLISH_TIMEOUT);
    }
}
