// SPDX-License-Identifier: MIT OR Apache-2.0
//! What programs use of this crate, as `orbium::metrics`.

#[cfg(feature = "recorder")]
pub mod recorder;

pub use crate::connections::ConnectionSnapshot;
pub use crate::handle::Metrics;
pub use crate::histogram::Histogram;
pub use crate::role::Role;
pub use crate::snapshot::{
    ConnectionMetrics, LaneMetrics, MetricsSnapshot, NamedCount, OperationMetrics, TrafficMetrics,
};
