// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bounds of the channels of a factory.

use std::path::PathBuf;
use std::time::Duration;

use orbium_event::FailurePolicy;

use crate::filter::ConstraintLimits;

/// The bounds of every channel of a factory, whatever properties clients set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationConfig {
    /// When a consumer that fails is disconnected.
    pub failure: FailurePolicy,
    /// How long a push may take; 1 s by default.
    pub push_timeout: Duration,
    /// How long a pull waits for an event unless the caller's deadline is earlier; 60 s by default.
    pub pull_timeout: Duration,
    /// How long a filter of another process may take; 1 s by default. The supplier waits for it.
    pub filter_timeout: Duration,
    /// Events that wait for one consumer; 65,536 by default.
    pub queue_events: usize,
    /// Bytes of the events that wait for one consumer; 16 MiB by default.
    pub queue_bytes: usize,
    /// Proxies of consumers, and of suppliers, of each channel; 1,024 by default.
    pub proxies: usize,
    /// Admins of each kind of each channel; 256 by default.
    pub admins: usize,
    /// Filters that the factory makes; 4,096 by default.
    pub filters: usize,
    /// Channels; 64 by default.
    pub channels: usize,
    /// The file in which the service keeps its objects and connections, so that they survive the process, and which is made if there is
    /// none; none by default. With it the property `ConnectionReliability` is 1 (Persistent).
    ///
    /// References of the service are those of its endpoints: they are to be the same after a restart, with a port.
    pub connections: Option<PathBuf>,
    /// The bounds of a constraint.
    pub constraints: ConstraintLimits,
}

impl Default for NotificationConfig {
    fn default() -> Self {
        Self {
            failure: FailurePolicy::default(),
            push_timeout: Duration::from_secs(1),
            pull_timeout: Duration::from_secs(60),
            filter_timeout: Duration::from_secs(1),
            queue_events: 65_536,
            queue_bytes: 16 << 20,
            proxies: 1024,
            admins: 256,
            filters: 4096,
            channels: 64,
            connections: None,
            constraints: ConstraintLimits::default(),
        }
    }
}
