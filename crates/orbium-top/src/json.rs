// SPDX-License-Identifier: MIT OR Apache-2.0
//! A view as JSON, with the names of the corresponding metrics if there are any.

use std::time::Duration;

use orbium::metrics::exposition::watch::idl;
use serde_json::{Map, Value, json};

use crate::view::{BindingRow, BudgetRow, ConnectionRow, LaneRow, OperationRow, View};

/// The members of the objects of one list: their names, and their values of a row.
type Members<T> = [(&'static str, fn(&T) -> Value)];

const OPERATIONS: &Members<OperationRow> = &[
    ("operation", |it| json!(it.name)),
    ("role", |it| json!(role(it.called))),
    ("lane", |it| json!(it.lane)),
    ("rate", |it| json!(it.rate)),
    ("errors_rate", |it| json!(it.errors)),
    ("in_flight", |it| json!(it.in_flight)),
    ("p50_seconds", |it| seconds(it.p50)),
    ("p99_seconds", |it| seconds(it.p99)),
    ("max_seconds", |it| seconds(it.max)),
    ("total", |it| json!(it.total)),
    ("errors_total", |it| json!(it.total_errors)),
];

const LANES: &Members<LaneRow> = &[
    ("lane", |it| json!(it.lane.name)),
    ("priority", |it| {
        json!((it.lane.priority >= 0).then_some(it.lane.priority))
    }),
    ("strategy", |it| json!(it.lane.strategy)),
    ("host", |it| json!(it.lane.host)),
    ("endpoints", |it| json!(it.lane.endpoints)),
    ("connections", |it| json!(it.lane.connections)),
    ("threads", |it| json!(it.lane.threads)),
    ("threads_busy", |it| json!(it.lane.busy)),
    ("queue_length", |it| json!(it.lane.waiting)),
    ("queue_limit", |it| json!(it.lane.queue)),
    ("queue_p99_seconds", |it| seconds(it.waited_p99)),
    ("refused_total", |it| json!(it.lane.refused)),
    ("deadline_missed_total", |it| {
        json!(it.lane.deadlines_missed)
    }),
    ("budget_exhausted_total", |it| {
        json!(it.lane.budget_exhaustions)
    }),
];

const CONNECTIONS: &Members<ConnectionRow> = &[
    ("id", |it| json!(it.connection.id)),
    ("role", |it| json!(role(it.connection.client))),
    ("transport", |it| json!(it.connection.transport)),
    ("peer", |it| json!(it.connection.peer)),
    ("lane", |it| json!(it.connection.lane)),
    ("age_seconds", |it| millis(it.connection.age_ms)),
    ("bytes_in", |it| {
        json!(it.connection.counted.then_some(it.connection.received))
    }),
    ("bytes_out", |it| {
        json!(it.connection.counted.then_some(it.connection.sent))
    }),
    ("bytes_in_rate", |it| json!(it.received)),
    ("bytes_out_rate", |it| json!(it.sent)),
    ("requests", |it| json!(it.connection.requests)),
    ("requests_rate", |it| json!(it.requests)),
    ("in_flight", |it| json!(it.connection.in_flight)),
    ("held_up", |it| json!(it.connection.held_up)),
    ("quality", |it| json!(it.connection.quality)),
    ("in_force", |it| json!(it.connection.in_force)),
];

const BINDINGS: &Members<BindingRow> = &[
    ("peer", |it| json!(it.peer)),
    ("transport", |it| json!(it.transport)),
    ("connections", |it| json!(it.connections)),
    ("in_force", |it| json!(it.in_force)),
    ("connections_busy", |it| json!(it.busy)),
    ("in_flight", |it| json!(it.in_flight)),
    ("requests_rate", |it| json!(it.requests)),
    ("bytes_in_rate", |it| json!(it.received)),
    ("bytes_out_rate", |it| json!(it.sent)),
    ("age_seconds", |it| millis(it.age_ms)),
];

const BUDGETS: &Members<BudgetRow> = &[
    ("operation", |it| json!(it.budget.operation)),
    ("budget_seconds", |it| nanos(it.budget.time_ns)),
    ("longest_seconds", |it| nanos(it.budget.longest_ns)),
    ("requests_total", |it| json!(it.budget.requests)),
    ("overruns_total", |it| json!(it.budget.overruns)),
];

const ADAPTERS: &Members<idl::Adapter> = &[
    ("poa", |it| json!(it.path)),
    ("state", |it| json!(it.state)),
    ("held", |it| json!(it.held)),
    ("in_flight", |it| json!(it.in_flight)),
    ("objects", |it| json!(it.objects)),
];

const EVENTS: &Members<idl::Event> = &[
    ("level", |it| json!(it.level)),
    ("text", |it| json!(it.text)),
    ("times", |it| json!(it.times)),
    ("age_seconds", |it| millis(it.age_ms)),
];

fn seconds(span: Duration) -> Value {
    json!(span.as_secs_f64())
}

fn nanos(nanos: u64) -> Value {
    seconds(Duration::from_nanos(nanos))
}

fn millis(millis: u64) -> Value {
    json!(millis as f64 / 1e3)
}

fn role(calls: bool) -> &'static str {
    if calls { "client" } else { "server" }
}

fn list<T>(members: &Members<T>, rows: &[T]) -> Value {
    let object = |row: &T| {
        let members = members
            .iter()
            .map(|(name, of)| ((*name).to_owned(), of(row)));
        Value::Object(members.collect())
    };
    rows.iter().map(object).collect()
}

fn counts(list: &[idl::Tally]) -> Value {
    let counts = list.iter().map(|it| (it.name.clone(), json!(it.count)));
    Value::Object(counts.collect::<Map<_, _>>())
}

/// The JSON object of one interval.
pub fn json_of(view: &View) -> Value {
    let snapshot = &view.snapshot;
    json!({
        "program": snapshot.program,
        "pid": snapshot.pid,
        "orb_id": view.identity.orb_id,
        "socket": view.identity.socket.as_ref().map(|it| it.to_string_lossy()),
        "version": snapshot.version,
        "up_seconds": millis(snapshot.up_ms),
        "interval_seconds": seconds(view.interval),
        "measuring": snapshot.measuring,
        "operations": list(OPERATIONS, &view.operations),
        "lanes": list(LANES, &view.lanes),
        "connections": list(CONNECTIONS, &view.connections),
        "more_connections": snapshot.more_connections,
        "bindings": list(BINDINGS, &view.bindings),
        "budgets": list(BUDGETS, &view.budgets),
        "adapters": list(ADAPTERS, &snapshot.adapters),
        "events": list(EVENTS, &snapshot.events),
        "server_exceptions_total": counts(&snapshot.raised),
        "client_exceptions_total": counts(&snapshot.received),
        "client_retries_total": counts(&snapshot.retries),
        "server_refused_total": counts(&snapshot.refused),
    })
}
