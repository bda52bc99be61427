// SPDX-License-Identifier: MIT OR Apache-2.0
//! Metrics as data: what was counted until somebody looked.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use orbium_giop::ExceptionKind;

use super::connections::{Closing, Role};
use super::series::{Label, Side, Sums};
use super::{Exceptions, Histogram, Metrics, Refusal, Retry};
use crate::introspection::LaneSnapshot;

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
    /// Servants that panicked.
    pub panics: u64,
}

/// A number for a name out of a closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedCount {
    /// The name, as metrics label it.
    pub name: &'static str,
    /// How often.
    pub count: u64,
}

/// What was counted for one operation.
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

/// What was counted for a lane.
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

/// What was counted for the connections of one role over one transport.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConnectionMetrics {
    /// Which side opened them.
    pub role: Role,
    /// The scheme of the transport.
    pub transport: String,
    /// Opened so far.
    pub opened: u64,
    /// Closed so far, by cause.
    pub closed: Vec<NamedCount>,
    /// What went over them since metrics are on.
    pub traffic: TrafficMetrics,
}

impl ConnectionMetrics {
    /// How many are open.
    #[must_use]
    pub fn open(&self) -> u64 {
        let closed: u64 = self.closed.iter().map(|it| it.count).sum();
        self.opened.saturating_sub(closed)
    }
}

/// Octets over connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficMetrics {
    /// Octets received.
    pub received: u64,
    /// Octets sent.
    pub sent: u64,
}

fn named(names: &'static [&'static str], counters: &[AtomicU64]) -> Vec<NamedCount> {
    let counts = names.iter().zip(counters);
    counts
        .map(|(name, counter)| NamedCount {
            name,
            count: counter.load(Relaxed),
        })
        .collect()
}

impl Exceptions {
    fn snapshot(&self) -> Vec<NamedCount> {
        let all = ExceptionKind::ALL.iter().zip(&self.0);
        let counted = all.map(|(kind, counter)| NamedCount {
            name: kind.name(),
            count: counter.load(Relaxed),
        });
        counted.filter(|it| it.count > 0).collect()
    }
}

impl OperationMetrics {
    fn new(label: &Label, sums: Sums) -> Self {
        let ended = sums.durations.count();
        let others = sums.oneways + sums.user + sums.system;
        Self {
            operation: label.operation.clone(),
            lane: label.lane.clone(),
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

    /// Those that have ended, however they did.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.durations.count()
    }
}

impl Metrics {
    /// What was counted so far.
    #[must_use]
    pub fn snapshot(&self) -> MetricsSnapshot {
        let mut snapshot = MetricsSnapshot {
            raised: self.all.raised.snapshot(),
            received: self.all.received.snapshot(),
            refused: named(&Refusal::NAMES, &self.all.refused),
            retries: named(&Retry::NAMES, &self.all.retries),
            panics: self.all.panics.load(Relaxed),
            connections: self.connections(),
            ..MetricsSnapshot::default()
        };
        // Idle connections that had ended are replaced before anything is sent.
        snapshot.retries[Retry::StaleConnection as usize].count += self.orb.core().book().stale();
        snapshot.refused.push(NamedCount {
            name: "queue_full",
            count: self.orb.refused_requests(),
        });
        let mut waited = Vec::new();
        for series in self.all.table().all() {
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
        for lane in self.orb.lane_snapshots().entries {
            let own = snapshot.served.iter().filter(|it| it.lane == lane.name);
            let (mut busy, mut missed) = (0, 0);
            for operation in own {
                busy += operation.in_flight;
                missed += operation.late_before + operation.late_within;
            }
            let waited = waited.iter().find(|(name, _)| *name == lane.name);
            snapshot.lanes.push(LaneMetrics {
                busy,
                deadlines_missed: missed,
                waited: waited.map_or_else(Histogram::default, |(_, it)| it.clone()),
                lane,
            });
        }
        snapshot
    }

    fn connections(&self) -> Vec<ConnectionMetrics> {
        let pages = self.orb.core().book().pages();
        let metrics = pages
            .into_iter()
            .map(|(page, received, sent)| ConnectionMetrics {
                role: page.role,
                transport: page.transport.clone(),
                opened: page.opened.load(Relaxed),
                closed: named(&Closing::NAMES, &page.closed),
                traffic: TrafficMetrics { received, sent },
            });
        metrics.collect()
    }
}
