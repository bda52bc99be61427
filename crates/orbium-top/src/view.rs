// SPDX-License-Identifier: MIT OR Apache-2.0
//! Difference between two snapshots of an ORB, as rows.

use std::time::Duration;

use orbium::metrics::Histogram;
use orbium::metrics::exposition::watch::idl;

use crate::source::{Identity, Look};

/// One operation.
#[derive(Clone, Debug)]
pub(crate) struct OperationRow {
    pub(crate) name: String,
    pub(crate) lane: String,
    pub(crate) called: bool,
    /// Requests that ended, or ended with an exception, per second.
    pub(crate) rate: f64,
    pub(crate) errors: f64,
    pub(crate) in_flight: u64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    pub(crate) max: Duration,
    pub(crate) total: u64,
    pub(crate) total_errors: u64,
}

/// One lane.
#[derive(Clone, Debug)]
pub(crate) struct LaneRow {
    pub(crate) lane: idl::Lane,
    pub(crate) waited_p99: Duration,
    pub(crate) missed: u64,
    pub(crate) refused: u64,
    /// The number of times that its budget was exhausted.
    pub(crate) exhausted: u64,
}

/// One connection.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionRow {
    pub(crate) connection: idl::Connection,
    /// Bytes and requests per second.
    pub(crate) received: f64,
    pub(crate) sent: f64,
    pub(crate) requests: f64,
}

/// The connections of this process to one server.
#[derive(Clone, Debug)]
pub(crate) struct BindingRow {
    pub(crate) peer: String,
    pub(crate) transport: String,
    pub(crate) connections: u64,
    /// The properties of its connections, each once.
    pub(crate) in_force: Vec<String>,
    /// Connections that carry a call.
    pub(crate) busy: u64,
    pub(crate) in_flight: u64,
    /// Per second.
    pub(crate) received: f64,
    pub(crate) sent: f64,
    pub(crate) requests: f64,
    /// The age of the oldest.
    pub(crate) age_ms: u64,
}

/// The budget of the requests for one operation.
#[derive(Clone, Debug)]
pub(crate) struct BudgetRow {
    pub(crate) budget: idl::Budget,
    /// Requests that exceeded it.
    pub(crate) overran: u64,
}

/// The activity of an ORB between two snapshots.
#[derive(Clone, Debug)]
pub struct View {
    pub(crate) identity: Identity,
    pub(crate) snapshot: idl::Snapshot,
    pub(crate) interval: Duration,
    pub(crate) operations: Vec<OperationRow>,
    pub(crate) lanes: Vec<LaneRow>,
    pub(crate) connections: Vec<ConnectionRow>,
    pub(crate) bindings: Vec<BindingRow>,
    pub(crate) budgets: Vec<BudgetRow>,
}

fn histogram(durations: &idl::Durations) -> Histogram {
    Histogram::from_buckets(&durations.counts, durations.sum_ns, durations.max_ns)
}

fn lately(now: &idl::Durations, before: Option<&idl::Durations>) -> Histogram {
    let now = histogram(now);
    before.map_or_else(|| now.clone(), |before| now.since(&histogram(before)))
}

/// The sums of the connections that this process has opened, by server.
fn bindings(connections: &[ConnectionRow]) -> Vec<BindingRow> {
    let mut all: Vec<BindingRow> = Vec::new();
    for row in connections.iter().filter(|row| row.connection.client) {
        let it = &row.connection;
        let known = all
            .iter()
            .position(|one| (&one.peer, &one.transport) == (&it.peer, &it.transport));
        let place = known.unwrap_or_else(|| {
            all.push(BindingRow {
                peer: it.peer.clone(),
                transport: it.transport.clone(),
                connections: 0,
                in_force: Vec::new(),
                busy: 0,
                in_flight: 0,
                received: 0.0,
                sent: 0.0,
                requests: 0.0,
                age_ms: 0,
            });
            all.len() - 1
        });
        let one = &mut all[place];
        one.connections += 1;
        if !it.in_force.is_empty() && !one.in_force.contains(&it.in_force) {
            one.in_force.push(it.in_force.clone());
        }
        one.busy += u64::from(it.in_flight > 0);
        one.in_flight += u64::from(it.in_flight);
        one.received += row.received;
        one.sent += row.sent;
        one.requests += row.requests;
        one.age_ms = one.age_ms.max(it.age_ms);
    }
    all
}

fn errors(operation: &idl::Operation) -> u64 {
    operation.user_exceptions + operation.system_exceptions
}

fn operation_row(it: &idl::Operation, old: &[idl::Operation], seconds: f64) -> OperationRow {
    let before = old
        .iter()
        .find(|other| (&other.name, &other.lane, other.called) == (&it.name, &it.lane, it.called));
    let took = lately(&it.took, before.map(|it| &it.took));
    OperationRow {
        name: it.name.clone(),
        lane: it.lane.clone(),
        called: it.called,
        rate: took.count() as f64 / seconds,
        errors: errors(it).saturating_sub(before.map_or(0, errors)) as f64 / seconds,
        in_flight: it.in_flight,
        p50: took.quantile(0.5),
        p99: took.quantile(0.99),
        max: took.max(),
        total: histogram(&it.took).count(),
        total_errors: errors(it),
    }
}

/// A list of connections is not complete: one without a predecessor may be older than the interval, and
/// its totals say nothing of that.
fn connection_row(
    it: &idl::Connection,
    before: Option<&idl::Connection>,
    interval: Duration,
    seconds: f64,
) -> ConnectionRow {
    let is_new = Duration::from_millis(it.age_ms) <= interval;
    let rate = |of: fn(&idl::Connection) -> u64| {
        let earlier = match before {
            Some(before) => of(before),
            None if is_new => 0,
            None => of(it),
        };
        of(it).saturating_sub(earlier) as f64 / seconds
    };
    ConnectionRow {
        received: rate(|it| it.received),
        sent: rate(|it| it.sent),
        requests: rate(|it| it.requests),
        connection: it.clone(),
    }
}

impl View {
    /// The activity between two snapshots of the same process.
    pub fn between(before: &Look, now: &Look) -> Self {
        let interval = now.at.saturating_duration_since(before.at);
        let seconds = interval.as_secs_f64().max(1e-6);
        let (old, new) = (&before.snapshot, &now.snapshot);
        let operations = new.operations.iter();
        let operations = operations.map(|it| operation_row(it, &old.operations, seconds));
        let lanes = new.lanes.iter().map(|it| {
            let before = old.lanes.iter().find(|other| other.number == it.number);
            let since = |now: u64, before: Option<u64>| now.saturating_sub(before.unwrap_or(0));
            LaneRow {
                waited_p99: lately(&it.waited, before.map(|it| &it.waited)).quantile(0.99),
                missed: since(it.deadlines_missed, before.map(|it| it.deadlines_missed)),
                refused: since(it.refused, before.map(|it| it.refused)),
                exhausted: since(
                    it.budget_exhaustions,
                    before.map(|it| it.budget_exhaustions),
                ),
                lane: it.clone(),
            }
        });
        let connections = new.connections.iter().map(|it| {
            let mut others = old.connections.iter();
            let before = others.find(|other| (other.id, other.client) == (it.id, it.client));
            connection_row(it, before, interval, seconds)
        });
        let connections: Vec<_> = connections.collect();
        let budgets = new.budgets.iter().map(|it| {
            let mut others = old.budgets.iter();
            let before = others.find(|other| other.operation == it.operation);
            let overruns = before.map_or(0, |it| it.overruns);
            BudgetRow {
                overran: it.overruns.saturating_sub(overruns),
                budget: it.clone(),
            }
        });
        Self {
            identity: now.identity.clone(),
            budgets: budgets.collect(),
            bindings: bindings(&connections),
            interval,
            operations: operations.collect(),
            lanes: lanes.collect(),
            connections,
            snapshot: new.clone(),
        }
    }
}
