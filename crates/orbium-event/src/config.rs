// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration of a channel, and the errors of connecting to one.

use std::fmt;
use std::time::Duration;

use orbium::{ExceptionKind, SystemException};
use orbium_executor::SpawnError;
use orbium_sched::Table;
use orbium_scheduler::Mode;

use crate::delivery::health::FailurePolicy;
use crate::delivery::queue::limits::QueueLimits;
use crate::retained::Retention;
use crate::subscription::filter::Clearing;
use crate::subscription::parse::{FilterError, FilterLimits};

/// The thread on which events are pushed to consumers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dispatching {
    /// A thread and a bounded queue for each consumer: one that stalls delays no other one.
    #[default]
    PerConsumer,
    /// The thread of the supplier's request, one consumer after the other: the lowest latency.
    /// While it pushes to a consumer, events of other suppliers wait in that consumer's queue for
    /// the same thread. A consumer that stalls delays the others by
    /// [`ChannelConfig::push_timeout`] until it is suspect.
    Reactive,
    /// A thread for each queue of a schedule, at the native priority of the queue. A consumer's
    /// RT_Info is the handle of its operation in the table, from 1: it determines the queue, and
    /// the period and execution time by which queues of deadlines and laxities choose. Consumers
    /// without RT_Info (0) are in the last queue and have no deadline. A consumer that connects
    /// again stays in its queue, whatever its RT_Info is then. Each consumer has its bounded queue
    /// of events; one that stalls delays those of its queue of the schedule by
    /// [`ChannelConfig::push_timeout`] until it is suspect, and no other one.
    Scheduled(&'static Table),
    /// The threads of a scheduler context, by its policy: each consumer is a task that has a job for each set of
    /// events. For [`Channel::on_context`](crate::Channel::on_context); other channels refuse consumers. One that stalls
    /// delays those of its context by [`ChannelConfig::push_timeout`] for each thread, until it is suspect.
    Contexts,
}

impl Dispatching {
    /// With that table at run time. In a configuration run, in which there is no such table yet, a
    /// thread for each consumer: the program is the same in both.
    #[must_use]
    pub fn in_mode(mode: &Mode, table: &'static Table) -> Self {
        match mode {
            Mode::Run => Self::Scheduled(table),
            Mode::Configure(_) => Self::PerConsumer,
        }
    }
}

/// Treatment of events for a consumer of another process that has suspended its connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Suspension {
    /// They are dropped, including those that wait, as with TAO's channel.
    #[default]
    Drop,
    /// They wait, within the limits of the consumer's queue.
    Wait,
}

/// Configuration of a channel. Each bound is for one channel.
///
/// ```
/// use orbium_event::{Channel, ChannelConfig, Dispatching};
///
/// let channel = Channel::new(ChannelConfig {
///     dispatching: Dispatching::Reactive,
///     ..ChannelConfig::default()
/// });
/// assert_eq!(channel.statistics().consumers.len(), 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelConfig {
    /// On which thread events are pushed; [`Dispatching::PerConsumer`] by default.
    pub dispatching: Dispatching,
    /// With [`Dispatching::Scheduled`], whether threads continue without native priorities if the
    /// host refuses them, which [`ChannelStatistics::refused_priorities`](crate::ChannelStatistics)
    /// and a warning in the log report; no by default: then consumers are refused.
    pub soft: bool,
    /// With [`Dispatching::Scheduled`], whether each consumer has a release guard: a consumer with
    /// a periodic operation in a queue of the schedule gets its next set of events no earlier than
    /// one period after the last one, while the queue has other work. So a burst of a chain over
    /// several hosts does not delay others of its queue. Consumers of conjunctions, which have the
    /// rate of their slowest part, have none. No by default.
    pub release_guard: bool,
    /// Time that the channel needs to dispatch to a consumer, in schedules; 20 µs by default.
    pub dispatch_time: Duration,
    /// The bounds of each consumer's queue.
    pub queue: QueueLimits,
    /// The bounds of a subscription.
    pub filter: FilterLimits,
    /// The part of the state of conjunctions that a delivery clears; the whole state by default.
    pub clearing: Clearing,
    /// Treatment of events while a consumer of another process has suspended its connection; they
    /// are dropped by default.
    pub suspension: Suspension,
    /// The condition under which a failing consumer is disconnected.
    pub failure: FailurePolicy,
    /// Time-out of a push; 1 s by default.
    pub push_timeout: Duration,
    /// Interval between two pings of each peer; 5 s by default, `None` pings suspect consumers
    /// only.
    pub ping_period: Option<Duration>,
    /// Time-out of a ping or another call to a peer; 1 s by default.
    pub ping_timeout: Duration,
    /// Interval between two pulls from a supplier of COS Event that had no event; 10 ms by default.
    /// After an event the next pull follows immediately.
    pub pull_period: Duration,
    /// Maximum number of consumers, those that have not connected yet included; 1,024 by default.
    pub consumers: usize,
    /// Maximum number of suppliers, likewise; 1,024 by default.
    pub suppliers: usize,
    /// Maximum number of publications of a supplier; 1,024 by default.
    pub publications: usize,
    /// Maximum number of observers; 64 by default. With 0 they are refused.
    pub observers: usize,
    /// Whether a consumer may connect again, with another subscription; no by default.
    pub consumer_reconnect: bool,
    /// Whether a supplier may connect again, with other publications; no by default.
    pub supplier_reconnect: bool,
    /// Whether the channel calls a peer back when it disconnects; no by default.
    pub disconnect_callbacks: bool,
    /// Whether events that a supplier has not published are refused; no by default.
    pub strict_publications: bool,
    /// Retention of the last events, for consumers that request them when they connect; none by
    /// default.
    pub retention: Retention,
}

impl Default for ChannelConfig {
    fn default() -> Self {
        Self {
            dispatching: Dispatching::default(),
            soft: false,
            release_guard: false,
            dispatch_time: Duration::from_micros(20),
            queue: QueueLimits::default(),
            filter: FilterLimits::default(),
            clearing: Clearing::default(),
            suspension: Suspension::default(),
            failure: FailurePolicy::default(),
            push_timeout: Duration::from_secs(1),
            ping_period: Some(Duration::from_secs(5)),
            ping_timeout: Duration::from_secs(1),
            pull_period: Duration::from_millis(10),
            consumers: 1024,
            suppliers: 1024,
            publications: 1024,
            observers: 64,
            consumer_reconnect: false,
            supplier_reconnect: false,
            disconnect_callbacks: false,
            strict_publications: false,
            retention: Retention::default(),
        }
    }
}

/// Error of connecting a consumer, a supplier or an observer.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectError {
    /// The subscription is malformed or exceeds a limit.
    Filter(FilterError),
    /// The maximum number of peers of this kind, or of publications of the supplier, is reached.
    TooMany,
    /// The peer is connected already.
    AlreadyConnected,
    /// The channel, or the connection, has been destroyed.
    Destroyed,
    /// The system cannot start a thread for the channel.
    NoThread,
    /// The schedule of the channel has no queue for this RT_Info.
    RtInfo(i32),
    /// The host refuses the native priority of a queue.
    Priority(i32),
    /// The scheduler context refuses the task, or the channel has no context.
    Context(SpawnError),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Filter(error) => error.fmt(f),
            Self::TooMany => f.write_str("a limit of the channel is reached"),
            Self::AlreadyConnected => f.write_str("the peer is connected already"),
            Self::Destroyed => f.write_str("the channel or the connection has been destroyed"),
            Self::NoThread => f.write_str("the system has no thread left for the channel"),
            Self::RtInfo(number) => write!(f, "the schedule has no queue for RT_Info {number}"),
            Self::Priority(number) => write!(f, "the host refuses native priority {number}"),
            Self::Context(error) => write!(f, "no consumer is served: {error}"),
        }
    }
}

impl fmt::Debug for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ConnectError {}

/// The system exception for operations that declare no better exception.
impl From<ConnectError> for SystemException {
    fn from(error: ConnectError) -> Self {
        let kind = match error {
            ConnectError::TooMany => ExceptionKind::ImpLimit,
            ConnectError::NoThread | ConnectError::Priority(_) | ConnectError::Context(_) => {
                ExceptionKind::NoResources
            }
            ConnectError::Filter(_) | ConnectError::RtInfo(_) | ConnectError::AlreadyConnected => {
                ExceptionKind::BadParam
            }
            ConnectError::Destroyed => ExceptionKind::ObjectNotExist,
        };
        kind.into()
    }
}

impl From<FilterError> for ConnectError {
    fn from(error: FilterError) -> Self {
        Self::Filter(error)
    }
}
