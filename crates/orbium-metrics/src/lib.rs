// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an ORB counts: latency histograms of operations, exceptions, retries and
//! refusals, and the book of its connections; as data, as Prometheus text and, with the
//! feature `recorder`, for the recorder of the crate `metrics`.
//!
//! It does not know calls, servants or lanes: an ORB counts into [`Measurements`], enters
//! its connections in a [`ConnectionBook`], and implements [`MeasuredOrb`] for what only
//! it knows. Programs use `orbium::metrics`.
#![forbid(unsafe_code)]

mod connections;
mod handle;
mod histogram;
mod instruments;
mod lane;
mod measured;
mod measurements;
mod prometheus;
#[cfg(feature = "recorder")]
pub mod recorder;
mod role;
mod series;
mod snapshot;
mod traffic;
pub mod watch_folder;

pub use connections::{Closing, ConnectionBook, ConnectionSnapshot, OpenConnection, Tracked};
pub use handle::{MeasuredOrb, Metrics};
pub use histogram::Histogram;
pub use instruments::Instruments;
pub use lane::LaneSnapshot;
pub use measured::Measured;
pub use measurements::{Measurements, Refusal, Retry, scoped};
pub use role::Role;
pub use series::{End, Label, Series};
pub use snapshot::{
    ConnectionMetrics, LaneMetrics, MetricsSnapshot, NamedCount, OperationMetrics, TrafficMetrics,
};
