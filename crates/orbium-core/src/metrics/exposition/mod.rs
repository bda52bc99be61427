// SPDX-License-Identifier: MIT OR Apache-2.0
//! Metrics of an ORB as data, as Prometheus text and for the crate `metrics`, and the object that
//! monitors a running ORB; with the feature `metrics`.
//!
//! [`Config::metrics`](crate::Config), the configuration key `metrics`, the argument
//! `-ORBmetrics 1` or [`Orb::enable_metrics`] turn metrics on;
//! [`Orb::metrics`] returns them as data and as Prometheus text.
//!
//! ```
//! use orbium_core::Orb;
//!
//! let orb = Orb::builder().metrics().build()?;
//! // Serve and call; then, on the thread that answers a scrape:
//! if let Some(metrics) = orb.metrics() {
//!     print!("{}", metrics.prometheus_text());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod watch;

use std::sync::Arc;

use orbium_exposition::MeasuredOrb;
pub use orbium_exposition::{LaneMetrics, Metrics, MetricsSnapshot, OperationMetrics, recorder};
pub use orbium_metrics::OperationBudget;
use orbium_metrics::{ConnectionBook, LaneSnapshot};

use super::Measurements;
use crate::Orb;

impl MeasuredOrb for Orb {
    fn book(&self) -> ConnectionBook {
        self.instruments().book().clone()
    }

    fn lanes(&self) -> Vec<LaneSnapshot> {
        self.lane_snapshots().entries
    }

    fn refused_requests(&self) -> u64 {
        self.refused_requests()
    }

    fn budgets(&self) -> Vec<OperationBudget> {
        self.client().config().interceptors.budgets()
    }
}

impl Orb {
    /// Counts and measures the calls and requests of this ORB from now on, until it ends; those in
    /// progress are not counted. Bytes of connections that are already open are not counted.
    pub fn enable_metrics(&self) -> Metrics {
        self.metrics_of(self.start_counting())
    }

    /// The counts and measurements; `None` unless enabled by [`Config::metrics`](crate::Config) or
    /// [`enable_metrics`](Self::enable_metrics).
    #[must_use]
    pub fn metrics(&self) -> Option<Metrics> {
        let all = self.instruments().measurements()?;
        Some(self.metrics_of(all))
    }

    fn metrics_of(&self, all: &Arc<Measurements>) -> Metrics {
        Metrics::new(Arc::new(self.clone()), Arc::clone(all))
    }
}
