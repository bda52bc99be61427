// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters and latency histograms of an ORB: nothing while metrics are off, plain
//! atomics afterwards.
//!
//! [`Config::metrics`](crate::Config), the configuration key `metrics`, the argument
//! `-ORBmetrics 1` or [`Orb::enable_metrics`] turn them on;
//! [`Orb::metrics`] gives them as data and as Prometheus text.
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
//!
//! Labels are bounded: operations of linked stubs and skeletons, lanes, transports,
//! exceptions and closed lists of causes; never peers, keys or request ids.

mod client;
mod connections;
mod histogram;
mod prometheus;
#[cfg(feature = "metrics")]
mod recorder;
mod series;
mod server;
mod snapshot;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use orbium_giop::{ExceptionKind, SystemException};
use orbium_sys::fork::PerProcess;

use crate::orb::NOTICE_METRICS;
use crate::{Operation, Orb};

pub(crate) use client::Measured;
pub(crate) use connections::{Closing, ConnectionBook, Tracked, metered};
pub use connections::{ConnectionSnapshot, Role};
pub use histogram::Histogram;
#[cfg(feature = "metrics")]
pub use recorder::Publisher;
pub(crate) use series::End;
use series::{Key, Label, Series, Side, Table};
pub use snapshot::{
    ConnectionMetrics, LaneMetrics, MetricsSnapshot, NamedCount, OperationMetrics, TrafficMetrics,
};

/// The label of operations that no linked skeleton knows.
const OTHER: &str = "_OTHER";

/// Why a request was refused before a servant saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A connection beyond the limit.
    Limit,
    NotActive,
    UnknownObject,
    MessageSize,
}

impl Refusal {
    const NAMES: [&'static str; 4] = ["limit", "not_active", "unknown_object", "message_size"];
}

/// Why a call was made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    Forward,
    Readdress,
    StaleConnection,
    FallBack,
    /// Of an idempotent operation.
    LostConnection,
    /// For the code sets of the whole reference.
    CodeSets,
}

impl Retry {
    const NAMES: [&'static str; 6] = [
        "forward",
        "readdress",
        "stale_connection",
        "fall_back",
        "lost_connection",
        "code_sets",
    ];
}

/// How often each kind of system exception occurred.
#[derive(Debug)]
struct Exceptions([AtomicU64; ExceptionKind::ALL.len()]);

impl Default for Exceptions {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; ExceptionKind::ALL.len()])
    }
}

impl Exceptions {
    fn count(&self, exception: SystemException) {
        self.0[exception.kind as usize].fetch_add(1, Relaxed);
    }
}

/// What an ORB counts once it was asked to.
#[derive(Debug, Default)]
pub(crate) struct Measurements {
    /// A forked child starts with an empty table: the parent's may be locked by a thread
    /// that does not exist in the child.
    table: PerProcess<Table>,
    raised: Exceptions,
    received: Exceptions,
    refused: [AtomicU64; Refusal::NAMES.len()],
    retries: [AtomicU64; Retry::NAMES.len()],
    panics: AtomicU64,
}

impl Measurements {
    #[inline]
    fn table(&self) -> &Table {
        self.table.get_or_init(Table::default)
    }

    /// The series of calls of an operation.
    #[inline]
    fn called(&self, operation: &'static Operation) -> &Series {
        let key = Key {
            side: Side::Client,
            lane: 0,
            at: std::ptr::from_ref(operation) as usize,
            index: 0,
        };
        self.table().get(key, || Label {
            operation: scoped(operation.interface(), operation.name()),
            lane: String::new(),
        })
    }

    pub(crate) fn count_refused(&self, cause: Refusal) {
        self.refused[cause as usize].fetch_add(1, Relaxed);
    }

    pub(crate) fn count_retry(&self, cause: Retry) {
        self.retries[cause as usize].fetch_add(1, Relaxed);
    }

    /// Counts the exception that a call has ended with.
    pub(crate) fn count_received(&self, exception: SystemException) {
        self.received.count(exception);
    }

    /// A call has ended that no thread waited for.
    pub(crate) fn count_call(
        &self,
        operation: &'static Operation,
        took: std::time::Duration,
        failed: Option<SystemException>,
        end: End,
    ) {
        let series = self.called(operation);
        series.begin();
        series.end(took, end);
        if let Some(exception) = failed {
            self.count_received(exception);
        }
    }
}

/// `Module::Interface/operation` of a repository id such as
/// `IDL:omg.org/Module/Interface:1.0`; the operation alone without one.
fn scoped(repository_id: &str, operation: &str) -> String {
    let path = repository_id.strip_prefix("IDL:").unwrap_or(repository_id);
    let path = path.rsplit_once(':').map_or(path, |(path, _)| path);
    let names = path.split('/').filter(|part| !part.contains('.'));
    let interface = names.collect::<Vec<_>>().join("::");
    match interface.as_str() {
        "" => operation.to_owned(),
        interface => format!("{interface}/{operation}"),
    }
}

/// The metrics of an ORB that counts: see [`Orb::metrics`]. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Metrics {
    orb: Orb,
    all: Arc<Measurements>,
}

impl Orb {
    /// Counts and measures from now on what this ORB calls and serves, until it
    /// ends; what was on the way before is not counted. A second call does nothing.
    /// Connections that are open already have no octets counted.
    pub fn enable_metrics(&self) -> Metrics {
        let core = self.core();
        let all = core.measurements.get_or_init(Arc::default);
        core.book().count_traffic();
        self.set_notice(NOTICE_METRICS);
        Metrics {
            orb: self.clone(),
            all: Arc::clone(all),
        }
    }

    /// What was counted and measured; `None` unless it was asked for, by
    /// [`Config::metrics`](crate::Config) or [`enable_metrics`](Self::enable_metrics).
    #[must_use]
    pub fn metrics(&self) -> Option<Metrics> {
        let all = self.core().measurements.get()?;
        Some(Metrics {
            orb: self.clone(),
            all: Arc::clone(all),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_named_by_module_and_interface_without_prefix_and_version() {
        assert_eq!(scoped("IDL:Nav/GPS:1.0", "position"), "Nav::GPS/position");
        assert_eq!(
            scoped("IDL:omg.org/CosNaming/NamingContext:1.0", "bind"),
            "CosNaming::NamingContext/bind"
        );
        assert_eq!(scoped("", "_is_a"), "_is_a");
        assert_eq!(scoped("DCE:700dc518:1", "x"), "DCE:700dc518/x");
    }
}
