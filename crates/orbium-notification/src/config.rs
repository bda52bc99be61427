// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bounds of the channels of a factory.

use std::path::PathBuf;
use std::time::Duration;

use orbium_event::FailurePolicy;

use crate::filter::ConstraintLimits;

/// The bounds of every channel of a factory, whatever properties clients set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationConfig {
    /// The condition under which a failing consumer is disconnected.
    pub failure: FailurePolicy,
    /// Time-out of a push; 1 s by default.
    pub push_timeout: Duration,
    /// Time that a pull waits for an event unless the caller's deadline is earlier, and time limit of a call that pulls from a supplier;
    /// 60 s by default.
    pub pull_timeout: Duration,
    /// Time-out of a filter in another process; 1 s by default. The supplier waits for it.
    pub filter_timeout: Duration,
    /// Maximum number of events that wait for one consumer; 65,536 by default.
    pub queue_events: usize,
    /// Maximum bytes of the events that wait for one consumer; 16 MiB by default.
    pub queue_bytes: usize,
    /// Maximum number of proxies of consumers, and of suppliers, of each channel; 1,024 by default.
    pub proxies: usize,
    /// Maximum number of admins of each kind of each channel; 256 by default.
    pub admins: usize,
    /// Maximum number of filters of the factory; 4,096 by default.
    pub filters: usize,
    /// Maximum number of channels; 64 by default.
    pub channels: usize,
    /// The file of the objects and connections of the service, with which they survive the process;
    /// it is created if it does not exist. None by default. With it the property
    /// `ConnectionReliability` is 1 (Persistent).
    ///
    /// References of the service contain its endpoints: these have to be the same after a restart,
    /// with a port.
    pub connections: Option<PathBuf>,
    /// The bounds of constraints.
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
