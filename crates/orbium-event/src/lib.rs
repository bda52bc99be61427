// SPDX-License-Identifier: MIT OR Apache-2.0
//! Event channels: suppliers push events, consumers get those that they subscribe to, and
//! neither knows the other. TAO's real-time event channel and COS Event, as values and as CORBA
//! objects.
//!
//! ```
//! use orbium::Orb;
//! use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
//! use orbium_event::{Channel, ChannelConfig, Pattern, connect_consumer, connect_supplier, new_event};
//! use std::sync::mpsc;
//!
//! let server = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
//! let channel = Channel::new(ChannelConfig::default());
//! let reference = server.object_to_string(&channel.serve(&server, "EventService")?);
//!
//! // In another process.
//! let orb = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
//! let channel: EventChannel = orb.resolve(&reference)?;
//! let (send, received) = mpsc::channel();
//! let consumer = connect_consumer(&orb, &channel, &Pattern::of(16, 0), move |events| {
//!     let _ = send.send(events[0].data.payload.clone());
//! })?;
//! let supplier = connect_supplier(&channel, &[(16, 1)])?;
//! let mut event = new_event(16, 1);
//! event.data.payload = b"21.5".to_vec();
//! supplier.push(&[event])?;
//! assert_eq!(received.recv()?, b"21.5");
//! consumer.disconnect()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Not part of it: COS Notification (`orbium-notification`), typed channels, gateways between channels
//! (`orbium-event-gateway` has them) and persistence (`orbium-event-jetstream`). Schedules
//! are computed elsewhere: a channel registers its operations for one, and dispatches by its table.
#![forbid(unsafe_code)]

mod channel;
mod config;
mod consumer_connection;
mod cos;
mod delivery;
mod engine;
mod event;
mod observers;
mod peer;
mod pool;
mod proxies;
mod recent;
mod remote;
mod retained;
mod selection;
mod servants;
mod statistics;
mod subscription;
mod supply;
mod thread;

/// The interfaces of the real-time event channel, as the IDL compiler maps them.
pub mod rtec {
    orbium::include_idl!("RtecEventChannel");
}

/// The interfaces of COS Event, as the IDL compiler maps them.
pub mod cos_event {
    orbium::include_idl!("CosEvent");
}

/// Suppliers and consumers of a persistent channel of another process: they need neither the crate
/// that serves such channels nor its client of NATS.
pub mod persistent {
    pub use crate::remote::persistent::{
        PersistentConsumer, PersistentSupplier, connect_consumer, connect_replaying_consumer,
        connect_set_consumer, connect_supplier,
    };
    pub use crate::remote::redelivery::{Delivery, EventId};
}

pub use channel::Channel;
pub use config::{ChannelConfig, ConnectError, Dispatching, Suspension};
pub use consumer_connection::Subscription;
pub use cos::CosHeader;
pub use delivery::dropped::{dropped_before_reply, dropped_events, reply_after_dropped};
pub use delivery::health::{DeliveryError, FailurePolicy, Health};
pub use delivery::pull_error::PullError;
pub use delivery::queue::limits::{DiscardPolicy, QueueLimits, QueueOrder, Rank};
pub use delivery::tasks::qos_by_schedule;
pub use event::{
    ANY, DEADLINE_TIMEOUT, FIRST_APPLICATION_TYPE, INTERVAL_TIMEOUT, SharedEvent, TIMEOUT,
    memory_size, new_event, time_t,
};
pub use observers::{Observer, Observers, Sums};
pub use peer::{Peer, Sink};
pub use proxies::{failure as delivery_failure, ping as ping_object};
pub use remote::{
    RemoteConsumer, RemoteError, RemoteSupplier, connect_consumer, connect_counting_consumer,
    connect_gateway_consumer, connect_gateway_supplier, connect_replaying_consumer,
    connect_scheduled_consumer, connect_scheduled_supplier, connect_supplier,
};
pub use retained::{Replay, Retention};
pub use selection::{Batches, ConsumerOptions, Selection};
pub use servants::{RemoteObserver, ServedChannel, serve_channel};
pub use statistics::{ChannelStatistics, ConsumerStatistics};
pub use subscription::filter::{Clearing, Filter};
pub use subscription::parse::{FilterError, FilterErrorKind, FilterLimits};
pub use subscription::pattern::Pattern;
pub use subscription::schedule::{Firing, TimerSchedule, timer_event};
pub use subscription::timer::{Timer, TimerKind};
pub use supply::publication::Publication;
pub use supply::publisher::Publisher;
pub use supply::pulling::Pulling;
pub use supply::receive::{Receive, Receiving};
