// SPDX-License-Identifier: MIT OR Apache-2.0
//! Persistent event channels: an event is stored in a stream of NATS JetStream before the push of its
//! supplier returns, and delivered until its consumer has returned from it.
//!
//! No event is lost when a channel, the NATS server or a consumer is killed; an event may be
//! delivered more than once then, which [`Delivery`] shows. Channels on several hosts share a
//! stream.
//!
//! ```no_run
//! use orbium::Orb;
//! use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
//! use orbium_event::{Pattern, new_event};
//! use orbium_event_jetstream::{JetStreamConfig, PersistentChannel};
//! use orbium_event_jetstream::{connect_consumer, connect_supplier};
//!
//! let server = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
//! let channel = PersistentChannel::open(JetStreamConfig::new("nats://127.0.0.1:4222", "NAV"))?;
//! let reference = server.object_to_string(&channel.serve(&server, "EventService")?);
//!
//! // In another process.
//! let orb = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
//! let channel: EventChannel = orb.resolve(&reference)?;
//! let display = ("display", &Pattern::of(16, 0));
//! let consumer = connect_consumer(&orb, &channel, display, |event| {
//!     println!("{:?}", event.data.payload);
//!     Ok(())
//! })?;
//! let supplier = connect_supplier(&channel)?;
//! supplier.push(&[new_event(16, 1)])?;
//! # let _ = consumer;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A subscription may have conjunctions and timers ([`connect_set_consumer`]). Not part of it: the
//! deletion of stored events.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod channel;
mod config;
mod counts;
mod delivery;
mod error;
mod journal;
mod servants;
mod stream;

pub use channel::PersistentChannel;
pub use config::{DeadLetters, JetStreamConfig, SpoolConfig};
pub use counts::StreamStatistics;
pub use error::{Awaited, JetStreamError};
pub use journal::StreamJournal;
pub use orbium_event::persistent::{
    Delivery, EventId, PersistentConsumer, PersistentSupplier, connect_consumer,
    connect_replaying_consumer, connect_set_consumer, connect_supplier,
};
