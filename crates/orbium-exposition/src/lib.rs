// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exposition of an ORB's metrics: as data, as Prometheus text, for the recorder of the crate
//! `metrics`, and the folder of the watch sockets of running ORBs.
//!
//! It is independent of calls, servants and connections: `orbium-metrics` counts, and an ORB
//! implements [`MeasuredOrb`] for the facts that only it has. Programs use
//! `orbium::metrics::exposition`, with the feature `metrics`.
#![forbid(unsafe_code)]

mod handle;
mod prometheus;
pub mod recorder;
mod snapshot;
pub mod watch_folder;

pub use handle::{MeasuredOrb, Metrics};
pub use orbium_metrics::published::*;
pub use snapshot::{LaneMetrics, MetricsSnapshot, OperationMetrics};
