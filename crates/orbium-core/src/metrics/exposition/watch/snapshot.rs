// SPDX-License-Identifier: MIT OR Apache-2.0
//! Snapshots of an ORB in the types of the watch object.

use std::time::Duration;

use orbium_exposition::{LaneMetrics, Metrics, MetricsSnapshot, OperationMetrics};
use orbium_metrics::OperationBudget;
use orbium_trace::log::recent;

use super::idl;
use crate::introspection::AdapterSnapshot;
use crate::metrics::{ConnectionSnapshot, Histogram, NamedCount, Role};
use crate::{ManagerState, Orb};

/// Maximum number of operations with a budget in a snapshot.
const MAX_BUDGETS: usize = 1000;

fn small(number: impl TryInto<u32>) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

fn durations(histogram: &Histogram) -> idl::Durations {
    idl::Durations {
        counts: histogram.buckets().to_vec(),
        sum_ns: nanos(histogram.sum()),
        max_ns: nanos(histogram.max()),
    }
}

fn counts(list: &[NamedCount]) -> Vec<idl::Tally> {
    let counts = list.iter().map(|it| idl::Tally {
        name: it.name.to_owned(),
        count: it.count,
    });
    counts.collect()
}

fn operation(it: &OperationMetrics, called: bool) -> idl::Operation {
    idl::Operation {
        name: it.operation.clone(),
        lane: it.lane.clone(),
        called,
        in_flight: it.in_flight,
        ok: it.ok,
        oneways: it.oneways,
        user_exceptions: it.user_exceptions,
        system_exceptions: it.system_exceptions,
        late_before: it.late_before,
        late_within: it.late_within,
        took: durations(&it.durations),
    }
}

fn lane(it: &LaneMetrics) -> idl::Lane {
    let lane = &it.lane;
    idl::Lane {
        number: lane.number,
        name: lane.name.clone(),
        priority: lane.priority.map_or(-1, |it| i32::from(it.number())),
        strategy: lane.strategy.to_string(),
        host: match (lane.reservation, lane.scheduling) {
            (Some(reservation), _) => format!("reserved {reservation}"),
            (None, scheduling) => scheduling.map_or_else(String::new, |it| it.to_string()),
        },
        endpoints: lane.endpoints.clone(),
        connections: small(lane.connections),
        threads: small(lane.threads),
        busy: small(it.busy),
        waiting: small(lane.waiting),
        queue: small(lane.queue),
        refused: lane.refused,
        deadlines_missed: it.deadlines_missed,
        budget_exhaustions: lane.budget.map_or(0, |it| it.exhaustions),
        waited: durations(&it.waited),
    }
}

fn connection(it: &ConnectionSnapshot, lanes: &[idl::Lane]) -> idl::Connection {
    let lane = lanes.iter().find(|lane| Some(lane.number) == it.lane);
    let own = it.lane.map_or("", |_| "dedicated");
    idl::Connection {
        id: it.id,
        client: it.role == Role::Client,
        transport: it.transport.clone(),
        peer: it.peer.clone(),
        lane: lane.map_or(own, |lane| &lane.name).to_owned(),
        age_ms: millis(it.age),
        counted: it.received.is_some(),
        received: it.received.unwrap_or(0),
        sent: it.sent.unwrap_or(0),
        requests: it.requests,
        in_flight: small(it.in_flight),
        held_up: it.is_held_up,
        quality: it.quality.map_or_else(String::new, |it| it.to_string()),
        in_force: it.in_force.clone(),
    }
}

fn adapter(it: &AdapterSnapshot) -> idl::Adapter {
    let state = match it.state {
        ManagerState::Holding => "holding",
        ManagerState::Active => "active",
        ManagerState::Discarding => "discarding",
        ManagerState::Inactive => "inactive",
    };
    idl::Adapter {
        path: it.path.clone(),
        state: state.to_owned(),
        held: small(it.held),
        in_flight: small(it.in_flight),
        objects: small(it.objects),
    }
}

fn budget(it: &OperationBudget) -> idl::Budget {
    idl::Budget {
        operation: it.operation.clone(),
        time_ns: nanos(it.budget),
        requests: it.counts.requests,
        overruns: it.counts.overruns,
        longest_ns: nanos(it.counts.longest),
    }
}

fn event(it: &recent::Event) -> idl::Event {
    idl::Event {
        level: it.level.to_owned(),
        text: it.text.clone(),
        times: it.times,
        age_ms: millis(it.at.elapsed()),
    }
}

/// The name of the program.
fn program() -> String {
    let program = std::env::args_os().next().unwrap_or_default();
    let name = std::path::Path::new(&program).file_name();
    name.unwrap_or_default().to_string_lossy().into_owned()
}

/// A snapshot of the ORB.
pub(super) fn snapshot(orb: &Orb, up: Duration) -> idl::Snapshot {
    let metrics = orb.metrics();
    let measured = metrics.as_ref().map(Metrics::snapshot);
    let measuring = measured.is_some();
    let MetricsSnapshot {
        served,
        called,
        lanes,
        raised,
        received,
        refused,
        retries,
        budgets,
        ..
    } = measured.unwrap_or_default();
    let lanes: Vec<_> = lanes.iter().map(lane).collect();
    let open = orb.connections();
    let served = served.iter().map(|it| operation(it, false));
    let called = called.iter().map(|it| operation(it, true));
    idl::Snapshot {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        program: program(),
        pid: std::process::id(),
        up_ms: millis(up),
        measuring,
        operations: served.chain(called).collect(),
        connections: open
            .entries
            .iter()
            .map(|it| connection(it, &lanes))
            .collect(),
        more_connections: open.more,
        lanes,
        adapters: orb.adapters().entries.iter().map(adapter).collect(),
        raised: counts(&raised),
        received: counts(&received),
        refused: counts(&refused),
        retries: counts(&retries),
        events: recent::events().iter().map(event).collect(),
        budgets: budgets.iter().take(MAX_BUDGETS).map(budget).collect(),
    }
}
