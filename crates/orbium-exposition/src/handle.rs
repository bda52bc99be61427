// SPDX-License-Identifier: MIT OR Apache-2.0
//! The metrics of an ORB, for its program.

use std::fmt;
use std::sync::Arc;

use orbium_metrics::{
    ConnectionBook, Histogram, LaneSnapshot, Measurements, NamedCount, OperationBudget, Retry, Side,
};

use crate::snapshot::{LaneMetrics, MetricsSnapshot, OperationMetrics};

/// Interface of a measured ORB: the facts that the ORB alone knows.
pub trait MeasuredOrb: fmt::Debug + Send + Sync {
    /// Its connections: in a forked child those of the child.
    fn book(&self) -> ConnectionBook;

    /// Its lanes as they are now.
    fn lanes(&self) -> Vec<LaneSnapshot>;

    /// Requests for which there was no room in a queue.
    fn refused_requests(&self) -> u64;

    /// Operations for which requests have budgets.
    fn budgets(&self) -> Vec<OperationBudget>;
}

/// The metrics of an ORB that counts: see `Orb::metrics`. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Metrics {
    orb: Arc<dyn MeasuredOrb>,
    all: Arc<Measurements>,
}

impl Metrics {
    /// The metrics of an ORB and what it counts into.
    #[doc(hidden)]
    pub fn new(orb: Arc<dyn MeasuredOrb>, all: Arc<Measurements>) -> Self {
        Self { orb, all }
    }

    /// The counts so far.
    #[must_use]
    pub fn snapshot(&self) -> MetricsSnapshot {
        let book = self.orb.book();
        let mut snapshot = MetricsSnapshot::of(&self.all);
        snapshot.connections = book.metrics();
        // Idle connections that had ended are replaced before anything is sent.
        snapshot.retries[Retry::StaleConnection as usize].count += book.stale();
        snapshot.buffered_oneways = book.buffered();
        snapshot.budgets = self.orb.budgets();
        snapshot.refused.push(NamedCount {
            name: "queue_full",
            count: self.orb.refused_requests(),
        });
        let waited = self.operations(&mut snapshot);
        let of_lane = |lane| lane_metrics(lane, &snapshot.served, &waited);
        snapshot.lanes = self.orb.lanes().into_iter().map(of_lane).collect();
        snapshot
    }

    /// Adds what was counted of operations; how long requests waited, by name of the lane.
    fn operations(&self, snapshot: &mut MetricsSnapshot) -> Vec<(String, Histogram)> {
        let mut waited = Vec::new();
        for series in self.all.series() {
            let sums = series.sums();
            let (label, is_used) = (&series.label, sums.begun > 0);
            match series.side {
                Side::Client if is_used => {
                    snapshot.called.push(OperationMetrics::new(label, sums));
                }
                Side::Server if is_used => {
                    snapshot.served.push(OperationMetrics::new(label, sums));
                }
                Side::Queue => waited.push((label.lane.clone(), sums.durations)),
                Side::Client | Side::Server => {}
            }
        }
        let name = |it: &OperationMetrics| (it.operation.clone(), it.lane.clone());
        snapshot.called.sort_by_cached_key(name);
        snapshot.served.sort_by_cached_key(name);
        waited
    }
}

fn lane_metrics(
    lane: LaneSnapshot,
    served: &[OperationMetrics],
    waited: &[(String, Histogram)],
) -> LaneMetrics {
    let own = served.iter().filter(|it| it.lane == lane.name);
    let (mut busy, mut missed) = (0, 0);
    for operation in own {
        busy += operation.in_flight;
        missed += operation.late_before + operation.late_within;
    }
    let waited = waited.iter().find(|(name, _)| *name == lane.name);
    LaneMetrics {
        busy,
        deadlines_missed: missed,
        waited: waited.map_or_else(Histogram::default, |(_, it)| it.clone()),
        lane,
    }
}
