// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quality of service of calls as one value, and RIOP on the wire.
//!
//! ```
//! use std::time::Duration;
//! use orbium_core::{ObjectRef, Orb, Priority};
//! use orbium_qos::{CommunicationClass, Qos, QosObject};
//!
//! let orb = Orb::builder().build()?;
//! let valve: ObjectRef = orb.resolve("corbaloc::localhost:5000/Valve")?;
//! let valve = valve.with_qos(&Qos {
//!     class: Some(CommunicationClass::Message),
//!     priority: Priority::new(20_000),
//!     period: Some(Duration::from_millis(50)),
//!     deadline: Some(Duration::from_millis(10)),
//!     ..Qos::NONE
//! })?;
//! # drop(valve);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod class;
mod error;
mod object;
mod offer;
mod published;
mod qos;
pub mod riop;
mod scoped;
mod scopes;
mod server;
mod sockets;
mod stream_rates;
mod timing;

pub use class::CommunicationClass;
pub use error::QosError;
pub use object::QosObject;
pub use orbium_core::Priority;
pub use orbium_sched::{Criticality, Importance};
pub use published::PublishedQos;
pub use qos::Qos;
pub use scoped::ScopedReference;
pub use scopes::QosScopes;
pub use server::RiopDispatch;
pub use timing::task_qos;
