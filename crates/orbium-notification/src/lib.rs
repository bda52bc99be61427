// SPDX-License-Identifier: MIT OR Apache-2.0
//! COS Notification: channels to which suppliers push anys, structured events or batches of them,
//! and from which consumers get those that their filters pass, in the order and within the bounds
//! of quality-of-service properties.
//!
//! Not part of it: typed channels, `StartTime`, and the stream in which a [`Journal`] stores events
//! (`orbium-event-jetstream`).
//!
//! ```
//! use orbium::{Interface, Orb};
//! use orbium_notification::idl::cos_notify_channel_admin::{ClientType, EventChannel};
//! use orbium_notification::idl::cos_notify_channel_admin::{
//!     StructuredProxyPullSupplier, StructuredProxyPushConsumer,
//! };
//! use orbium_notification::idl::cos_notify_filter::ConstraintExp;
//! use orbium_notification::{NotificationConfig, NotificationService, property, structured_event};
//!
//! let server = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
//! let service = NotificationService::serve(&server, "Alarms", NotificationConfig::default())?;
//! let reference = server.object_to_string(service.channel());
//!
//! // In another process.
//! let orb = Orb::builder().build()?;
//! let channel: EventChannel = orb.resolve(&reference)?;
//! let filters = channel.default_filter_factory()?.ok_or("no filters")?;
//! let filter = filters.create_filter("EXTENDED_TCL")?.ok_or("no filter")?;
//! filter.add_constraints(&[ConstraintExp {
//!     constraint_expr: "$type_name == 'Alarm' and $severity > 3".to_owned(),
//!     ..ConstraintExp::default()
//! }])?;
//!
//! let consumers = channel.default_consumer_admin()?.ok_or("no admin")?;
//! let proxy = consumers.obtain_notification_pull_supplier(ClientType::StructuredEvent)?;
//! let consumer: StructuredProxyPullSupplier = proxy.result.ok_or("no proxy")?.as_object().narrow()?;
//! consumer.add_filter(Some(&filter))?;
//! consumer.connect_structured_pull_consumer(None)?;
//!
//! let suppliers = channel.default_supplier_admin()?.ok_or("no admin")?;
//! let proxy = suppliers.obtain_notification_push_consumer(ClientType::StructuredEvent)?;
//! let supplier: StructuredProxyPushConsumer = proxy.result.ok_or("no proxy")?.as_object().narrow()?;
//! supplier.connect_structured_push_supplier(None)?;
//! for severity in [2i16, 5] {
//!     let mut event = structured_event("Telecom", "Alarm", "link 7");
//!     event.filterable_data.push(property("severity", severity));
//!     supplier.push_structured_event(&event)?;
//! }
//! let event = consumer.pull_structured_event()?;
//! assert_eq!(event.filterable_data[0].value.extract::<i16>()?, 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod admin;
mod channel;
mod config;
mod connections;
mod consumer;
mod core_channel;
mod error;
mod event;
mod filter;
mod journal;
mod producer;
mod proxy_kind;
mod qos;
mod servants;
mod service;

/// The interfaces of the Notification Service, and those of COS Event that they derive from, as the
/// IDL compiler maps them.
pub mod idl {
    orbium::include_idl!("CosNotification");
}

pub use config::NotificationConfig;
pub use consumer::structured_consumer::StructuredConsumer;
pub use core_channel::EventHeaders;
pub use error::ServiceError;
pub use event::{event_type, property, structured_event};
pub use filter::{Constraint, ConstraintError, ConstraintErrorKind, ConstraintLimits, Subject};
pub use journal::{Deliver, Delivered, Following, Journal, Offered, Report};
pub use service::{ChannelStatistics, ConsumerStatistics, NotificationService};
