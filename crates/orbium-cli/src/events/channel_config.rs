// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of a served channel that are fields of its configuration.

use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use orbium_event::{
    ChannelConfig, Clearing, DiscardPolicy, FailurePolicy, FilterLimits, QueueLimits, Retention,
    Suspension,
};

use crate::object::ping::seconds;

#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(flatten)]
    queue: QueueArgs,
    #[command(flatten)]
    connections: ConnectionArgs,
    #[command(flatten)]
    failure: FailureArgs,
    #[command(flatten)]
    bounds: BoundArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Discard {
    /// The oldest events
    Oldest,
    /// The new event
    Newest,
    /// The event that has waited for the shortest time
    Latest,
    /// The waiting event of the same type and source, else the oldest
    Coalesce,
    /// The consumer is disconnected
    Disconnect,
    /// The new event, once its supplier has waited for space
    Block,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Queues of consumers")]
#[group(conflicts_with = "jetstream")]
struct QueueArgs {
    /// Sets of events that may wait for a consumer
    #[arg(long, value_name = "SETS", default_value = "1024", value_parser = clap::value_parser!(u32).range(1..))]
    queue: u32,
    /// Bytes of the events that may wait for a consumer
    #[arg(long, value_name = "BYTES", default_value = "4194304", value_parser = clap::value_parser!(u64).range(1..))]
    queue_bytes: u64,
    /// The event that is discarded when a queue is full
    #[arg(long, value_enum, default_value = "oldest")]
    discard: Discard,
    /// Time for which a supplier waits for space with --discard block
    #[arg(long, value_name = "MILLISECONDS", default_value = "100")]
    block: u32,
    /// Last events, one of each type and source, that the channel retains for consumers that ask for them
    #[arg(long, value_name = "EVENTS", default_value = "0")]
    retain: usize,
    /// Bytes of the last events
    #[arg(long, value_name = "BYTES", default_value = "16777216", value_parser = clap::value_parser!(u64).range(1..))]
    retain_bytes: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Clears {
    /// The whole state, as with TAO's channel
    Whole,
    /// The alternative of a disjunction that was delivered
    Branch,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Suspended {
    /// They are dropped, as with TAO's channel
    Drop,
    /// They wait, within the limits of the queue
    Wait,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Connections of consumers and suppliers")]
#[group(conflicts_with = "jetstream")]
struct ConnectionArgs {
    /// A consumer may connect again, with another subscription
    #[arg(long)]
    consumer_reconnect: bool,
    /// A supplier may connect again, with other publications
    #[arg(long)]
    supplier_reconnect: bool,
    /// Call back a peer that disconnects
    #[arg(long)]
    disconnect_callbacks: bool,
    /// Refuse events that their supplier has not published
    #[arg(long)]
    strict_publications: bool,
    /// Treatment of events while a consumer has suspended its connection
    #[arg(long, value_enum, default_value = "drop")]
    suspension: Suspended,
    /// The part of the state of a subscription, events and deadlines, that a delivery clears
    #[arg(long, value_enum, default_value = "whole")]
    clearing: Clears,
}

/// Failures in a row; `None` without a bound.
#[derive(Clone, Copy, Debug)]
struct Failures(Option<u32>);

impl FromStr for Failures {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            _ if text == "never" => Ok(Self(None)),
            Ok(failures @ 1..) => Ok(Self(Some(failures))),
            _ => Err("neither a number from 1 on nor never".to_owned()),
        }
    }
}

/// Between two pings of each peer; `None` for suspect consumers alone.
#[derive(Clone, Copy, Debug)]
struct PingPeriod(Option<Duration>);

impl FromStr for PingPeriod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self(None)),
            text => seconds(text).map(|period| Self(Some(period))),
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Failing consumers and suppliers")]
#[group(conflicts_with = "jetstream")]
struct FailureArgs {
    /// Pushes and pings in a row that may fail before a peer is disconnected, or never
    #[arg(long, value_name = "N", default_value = "3")]
    failures: Failures,
    /// Seconds for which they may fail
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    failure_time: Duration,
    /// Seconds that a push may take
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    push_timeout: Duration,
    /// Seconds between two pings of each peer; none pings suspect consumers only
    #[arg(long, value_name = "SECONDS", default_value = "5")]
    ping_period: PingPeriod,
    /// Seconds that a ping, or another call to a peer, may take
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    ping_timeout: Duration,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Bounds of the channel")]
#[group(conflicts_with = "jetstream")]
struct BoundArgs {
    /// Consumers, those that have not connected yet included
    #[arg(long, value_name = "N", default_value = "1024", value_parser = clap::value_parser!(u32).range(1..))]
    consumers: u32,
    /// Suppliers, likewise
    #[arg(long, value_name = "N", default_value = "1024", value_parser = clap::value_parser!(u32).range(1..))]
    suppliers: u32,
    /// Publications of a supplier
    #[arg(long, value_name = "N", default_value = "1024")]
    publications: u32,
    /// Observers of the channel; 0 refuses them
    #[arg(long, value_name = "N", default_value = "64")]
    observers: u32,
    /// Elements of a subscription
    #[arg(long, value_name = "N", default_value = "1024", value_parser = clap::value_parser!(u32).range(1..))]
    filter_elements: u32,
    /// Filters within each other in a subscription
    #[arg(long, value_name = "N", default_value = "64", value_parser = clap::value_parser!(u32).range(1..))]
    filter_depth: u32,
    /// Seconds of the shortest period of a timer in a subscription
    #[arg(long, value_name = "SECONDS", default_value = "0.001", value_parser = seconds)]
    shortest_period: Duration,
    /// Timers of a subscription
    #[arg(long, value_name = "N", default_value = "16")]
    filter_timers: u32,
}

impl ConfigArgs {
    /// The configuration of the channel, but for its dispatching. The destructuring does not
    /// compile with a new field until it has an option or is listed as one without.
    pub(super) fn config(&self) -> ChannelConfig {
        let ChannelConfig {
            dispatching,
            soft,
            release_guard,
            // For programs that register the operations of their channel in a schedule.
            dispatch_time,
            // For COS Event, which this command does not serve.
            pull_period,
            ..
        } = ChannelConfig::default();
        let (connections, failure, bounds) = (&self.connections, &self.failure, &self.bounds);
        ChannelConfig {
            dispatching,
            soft,
            release_guard,
            dispatch_time,
            queue: self.queue.limits(),
            filter: bounds.filter(),
            clearing: match connections.clearing {
                Clears::Whole => Clearing::Whole,
                Clears::Branch => Clearing::Branch,
            },
            suspension: match connections.suspension {
                Suspended::Drop => Suspension::Drop,
                Suspended::Wait => Suspension::Wait,
            },
            failure: failure.policy(),
            push_timeout: failure.push_timeout,
            ping_period: failure.ping_period.0,
            ping_timeout: failure.ping_timeout,
            pull_period,
            consumers: bounds.consumers as usize,
            suppliers: bounds.suppliers as usize,
            publications: bounds.publications as usize,
            observers: bounds.observers as usize,
            consumer_reconnect: connections.consumer_reconnect,
            supplier_reconnect: connections.supplier_reconnect,
            disconnect_callbacks: connections.disconnect_callbacks,
            strict_publications: connections.strict_publications,
            retention: self.queue.retention(),
        }
    }
}

impl QueueArgs {
    fn limits(&self) -> QueueLimits {
        QueueLimits {
            sets: self.queue as usize,
            bytes: size(self.queue_bytes),
            discard: match self.discard {
                Discard::Oldest => DiscardPolicy::Oldest,
                Discard::Newest => DiscardPolicy::Newest,
                Discard::Latest => DiscardPolicy::Latest,
                Discard::Coalesce => DiscardPolicy::Coalesce,
                Discard::Disconnect => DiscardPolicy::Disconnect,
                Discard::Block => DiscardPolicy::Block(Duration::from_millis(self.block.into())),
            },
            // Events of remote consumers have no rank by which to order them.
            order: QueueLimits::default().order,
        }
    }

    fn retention(&self) -> Retention {
        Retention {
            events: self.retain,
            bytes: size(self.retain_bytes),
        }
    }
}

impl FailureArgs {
    fn policy(&self) -> FailurePolicy {
        match self.failures {
            Failures(None) => FailurePolicy::NEVER,
            Failures(Some(failures)) => FailurePolicy {
                failures,
                time: self.failure_time,
            },
        }
    }
}

impl BoundArgs {
    fn filter(&self) -> FilterLimits {
        FilterLimits {
            elements: self.filter_elements as usize,
            depth: self.filter_depth as usize,
            shortest_period: self.shortest_period,
            timers: self.filter_timers as usize,
        }
    }
}

/// A size, limited to the address space of this host.
fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
