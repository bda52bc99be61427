// SPDX-License-Identifier: MIT OR Apache-2.0
//! The metrics of an ORB, for its program.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use orbium_metrics::{
    ConnectionBook, Histogram, LaneSnapshot, Measurements, NamedCount, OperationBudget, Retry, Side,
};

use crate::snapshot::{BySeries, LaneMetrics, MetricsSnapshot, OperationMetrics};

/// Interface of a measured ORB: the facts that only the ORB has.
pub trait MeasuredOrb: fmt::Debug + Send + Sync {
    /// Its connections: in a forked child those of the child.
    fn book(&self) -> ConnectionBook;

    /// Snapshots of its lanes.
    fn lanes(&self) -> Vec<LaneSnapshot>;

    /// The number of requests refused because a queue was full.
    fn refused_requests(&self) -> u64;

    /// Operations with request budgets.
    fn budgets(&self) -> Vec<OperationBudget>;
}

/// The queueing times of requests in lanes, by name.
type Waited = BTreeMap<String, Histogram>;

/// The metrics of an ORB that counts: see `Orb::metrics`. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Metrics {
    orb: Arc<dyn MeasuredOrb>,
    all: Arc<Measurements>,
}

impl Metrics {
    /// The metrics of an ORB and its measurements.
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

    /// Adds the counts of operations; returns the queueing times of requests, by name of the lane.
    /// The series of a lane and of its successor have the same labels, and are merged.
    fn operations(&self, snapshot: &mut MetricsSnapshot) -> Waited {
        let (mut called, mut served) = (BySeries::new(), BySeries::new());
        let mut waited = Waited::new();
        for series in self.all.series() {
            let (label, sums) = (&series.label, series.sums());
            let of_side = match series.side {
                Side::Client => &mut called,
                Side::Server => &mut served,
                Side::Queue => {
                    let durations = waited.entry(label.lane.clone()).or_default();
                    durations.merge(&sums.durations);
                    continue;
                }
            };
            let label = (label.operation.clone(), label.lane.clone());
            of_side.entry(label).or_default().merge(&sums);
        }
        snapshot.called = OperationMetrics::of_used(called);
        snapshot.served = OperationMetrics::of_used(served);
        waited
    }
}

fn lane_metrics(lane: LaneSnapshot, served: &[OperationMetrics], waited: &Waited) -> LaneMetrics {
    let own = served.iter().filter(|it| it.lane == lane.name);
    let (mut busy, mut missed) = (0, 0);
    for operation in own {
        busy += operation.in_flight;
        missed += operation.late_before + operation.late_within;
    }
    LaneMetrics {
        busy,
        deadlines_missed: missed,
        waited: waited.get(&lane.name).cloned().unwrap_or_default(),
        lane,
    }
}
