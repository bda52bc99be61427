// SPDX-License-Identifier: MIT OR Apache-2.0
//! Metrics as data: the counts at one time.

use std::collections::BTreeMap;

use orbium_metrics::{
    ConnectionMetrics, Histogram, LaneSnapshot, Measurements, NamedCount, OperationBudget, Sums,
};

/// The counts, by operation and lane.
pub(crate) type BySeries = BTreeMap<(String, String), Sums>;

/// All counts of an ORB since its metrics were turned on. Read series by series, without a lock:
/// two numbers may differ by events in between.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MetricsSnapshot {
    /// Served operations, one entry for each lane, in the order of names.
    pub served: Vec<OperationMetrics>,
    /// Called operations, in the order of names.
    pub called: Vec<OperationMetrics>,
    /// Lanes: threads, queues and queueing times of requests.
    pub lanes: Vec<LaneMetrics>,
    /// Connections, by role and transport.
    pub connections: Vec<ConnectionMetrics>,
    /// System exceptions in replies, by name; those that never occurred are omitted.
    pub raised: Vec<NamedCount>,
    /// System exceptions of calls, likewise.
    pub received: Vec<NamedCount>,
    /// Requests and connections refused before the upcall, by cause.
    pub refused: Vec<NamedCount>,
    /// Retries of requests, by cause.
    pub retries: Vec<NamedCount>,
    /// Connections that stopped accepting buffered oneways (`flow_control_begun`) or accepted them
    /// again (`flow_control_ended`), and buffered oneways that were not sent (`lost`).
    pub buffered_oneways: Vec<NamedCount>,
    /// Panics of servants.
    pub panics: u64,
    /// Budgets of requests: operations watched by interceptors, with their requests and overruns.
    pub budgets: Vec<OperationBudget>,
}

/// Metrics of one operation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OperationMetrics {
    /// `Module::Interface/operation`, or `_OTHER` for operations of no linked skeleton.
    pub operation: String,
    /// The lane that served it; empty for calls and for `_OTHER`.
    pub lane: String,
    /// Calls or requests in progress.
    pub in_flight: u64,
    /// The number ended with results.
    pub ok: u64,
    /// Oneways, with any result.
    pub oneways: u64,
    /// The number ended with a user exception.
    pub user_exceptions: u64,
    /// The number ended with a system exception.
    pub system_exceptions: u64,
    /// Deadlines that had passed before the upcall.
    pub late_before: u64,
    /// Deadlines that passed during the upcall.
    pub late_within: u64,
    /// The durations: of calls from beginning to end with all retries, of requests from their
    /// arrival until the reply was passed to the connection.
    pub durations: Histogram,
}

/// Metrics of a lane.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LaneMetrics {
    /// A snapshot of the lane.
    pub lane: LaneSnapshot,
    /// The number of requests being served by its threads.
    pub busy: u64,
    /// Missed deadlines in the lane.
    pub deadlines_missed: u64,
    /// The queueing times of requests, from their arrival until a thread has taken them. Empty for
    /// requests served by the thread that reads them.
    pub waited: Histogram,
}

impl OperationMetrics {
    /// Metrics of operations that have begun, in the order of operations and lanes.
    pub(crate) fn of_used(all: BySeries) -> Vec<Self> {
        let used = all.into_iter().filter(|(_, sums)| sums.begun > 0);
        used.map(|(label, sums)| Self::new(label, sums)).collect()
    }

    fn new((operation, lane): (String, String), sums: Sums) -> Self {
        let ended = sums.durations.count();
        let others = sums.oneways + sums.user + sums.system;
        Self {
            operation,
            lane,
            in_flight: sums.begun.saturating_sub(ended),
            ok: ended.saturating_sub(others),
            oneways: sums.oneways,
            user_exceptions: sums.user,
            system_exceptions: sums.system,
            late_before: sums.late_before,
            late_within: sums.late_within,
            durations: sums.durations,
        }
    }

    /// The number of calls or requests that have ended, with any result.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.durations.count()
    }
}

impl MetricsSnapshot {
    /// Missed deadlines by lane and place: of the ORB's lanes, and of further ones that requests were
    /// counted in, such as dedicated threads.
    pub(crate) fn missed(&self) -> Vec<(&str, [(&'static str, u64); 2])> {
        let lanes = self.lanes.iter().map(|it| it.lane.name.as_str());
        let mut names: Vec<&str> = lanes.collect();
        for operation in &self.served {
            if !names.contains(&operation.lane.as_str()) {
                names.push(&operation.lane);
            }
        }
        let missed = |name: &str| {
            let (mut before, mut within) = (0, 0);
            for operation in self.served.iter().filter(|it| it.lane == name) {
                before += operation.late_before;
                within += operation.late_within;
            }
            [("queue", before), ("servant", within)]
        };
        names.into_iter().map(|name| (name, missed(name))).collect()
    }

    /// The counts that are available without the ORB: everything but operations, lanes and
    /// connections.
    pub(crate) fn of(all: &Measurements) -> Self {
        Self {
            raised: all.raised(),
            received: all.received(),
            refused: all.refused(),
            retries: all.retries(),
            panics: all.panics(),
            ..Self::default()
        }
    }
}
