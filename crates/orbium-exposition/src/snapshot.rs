// SPDX-License-Identifier: MIT OR Apache-2.0
//! Metrics as data: the counts at one time.

use std::collections::BTreeMap;

use orbium_metrics::{
    ConnectionMetrics, Histogram, LaneSnapshot, Measurements, NamedCount, OperationBudget, Sums,
};

/// What was counted, by operation and lane.
pub(crate) type BySeries = BTreeMap<(String, String), Sums>;

/// Everything that an ORB has counted since its metrics were turned on. Taken series by
/// series, without a lock: two numbers may differ by what happened in between.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct MetricsSnapshot {
    /// Operations that were served, one entry for each lane, in the order of names.
    pub served: Vec<OperationMetrics>,
    /// Operations that were called, in the order of names.
    pub called: Vec<OperationMetrics>,
    /// Lanes: threads, queues and how long requests waited there.
    pub lanes: Vec<LaneMetrics>,
    /// Connections, by role and transport.
    pub connections: Vec<ConnectionMetrics>,
    /// System exceptions that were answered, by name; those that never occurred are
    /// left out.
    pub raised: Vec<NamedCount>,
    /// System exceptions that calls have ended with, likewise.
    pub received: Vec<NamedCount>,
    /// Requests and connections refused before a servant saw them, by cause.
    pub refused: Vec<NamedCount>,
    /// Requests that were sent again, by cause.
    pub retries: Vec<NamedCount>,
    /// Connections that took no more buffered oneways (`flow_control_begun`) or took them again
    /// (`flow_control_ended`), and oneways that were in a buffer and were not sent (`lost`).
    pub buffered_oneways: Vec<NamedCount>,
    /// Servants that panicked.
    pub panics: u64,
    /// Budgets of requests: operations that interceptors watch, with their requests and overruns.
    pub budgets: Vec<OperationBudget>,
}

/// Metrics of one operation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OperationMetrics {
    /// `Module::Interface/operation`, or `_OTHER` for those that no linked skeleton
    /// knows.
    pub operation: String,
    /// The lane that served it; empty for calls and for `_OTHER`.
    pub lane: String,
    /// Calls or requests under way.
    pub in_flight: u64,
    /// Ended with results.
    pub ok: u64,
    /// Oneways, whatever became of them.
    pub oneways: u64,
    /// Ended with a user exception.
    pub user_exceptions: u64,
    /// Ended with a system exception.
    pub system_exceptions: u64,
    /// Deadlines that had passed before the servant would have begun.
    pub late_before: u64,
    /// Deadlines that passed while the servant ran.
    pub late_within: u64,
    /// How long they took: calls from beginning to end with all retries, requests from
    /// their arrival until the reply was handed over.
    pub durations: Histogram,
}

/// Metrics of a lane.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LaneMetrics {
    /// The lane as it is now.
    pub lane: LaneSnapshot,
    /// Requests that its threads serve.
    pub busy: u64,
    /// Deadlines missed in it.
    pub deadlines_missed: u64,
    /// How long requests waited in its queue, from their arrival until a thread had
    /// them. Empty for requests that are served by the thread which reads them.
    pub waited: Histogram,
}

impl OperationMetrics {
    /// Those that have begun, in the order of operations and lanes.
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

    /// The number of those that have ended, however they did.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.durations.count()
    }
}

impl MetricsSnapshot {
    /// Deadlines that passed in a lane, by the place in which they did.
    pub(crate) fn missed_in(&self, lane: &str) -> [(&'static str, u64); 2] {
        let own = self.served.iter().filter(|it| it.lane == lane);
        let (mut before, mut within) = (0, 0);
        for operation in own {
            before += operation.late_before;
            within += operation.late_within;
        }
        [("queue", before), ("servant", within)]
    }

    /// What is known without the ORB: everything but operations, lanes and connections.
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
