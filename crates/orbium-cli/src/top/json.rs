// SPDX-License-Identifier: MIT OR Apache-2.0
//! A view as JSON, with the names of the metrics where there are such.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::view::View;

fn seconds(span: Duration) -> f64 {
    span.as_secs_f64()
}

/// One object for one interval.
pub(crate) fn of(view: &View) -> Value {
    let snapshot = &view.snapshot;
    let operations = view.operations.iter().map(|it| {
        json!({
            "operation": it.name,
            "role": if it.called { "client" } else { "server" },
            "lane": it.lane,
            "rate": it.rate,
            "errors_rate": it.errors,
            "in_flight": it.in_flight,
            "p50_seconds": seconds(it.p50),
            "p99_seconds": seconds(it.p99),
            "max_seconds": seconds(it.max),
            "total": it.total,
            "errors_total": it.total_errors,
        })
    });
    let lanes = view.lanes.iter().map(|it| {
        let lane = &it.lane;
        json!({
            "lane": lane.name,
            "priority": (lane.priority >= 0).then_some(lane.priority),
            "strategy": lane.strategy,
            "endpoints": lane.endpoints,
            "connections": lane.connections,
            "threads": lane.threads,
            "threads_busy": lane.busy,
            "queue_length": lane.waiting,
            "queue_limit": lane.queue,
            "queue_p99_seconds": seconds(it.waited_p99),
            "refused_total": lane.refused,
            "deadline_missed_total": lane.deadlines_missed,
        })
    });
    let connections = view.connections.iter().map(|it| {
        let connection = &it.connection;
        json!({
            "id": connection.id,
            "role": if connection.client { "client" } else { "server" },
            "transport": connection.transport,
            "peer": connection.peer,
            "lane": connection.lane,
            "age_seconds": connection.age_ms as f64 / 1e3,
            "bytes_in": connection.counted.then_some(connection.received),
            "bytes_out": connection.counted.then_some(connection.sent),
            "bytes_in_rate": it.received,
            "bytes_out_rate": it.sent,
            "requests": connection.requests,
            "requests_rate": it.requests,
            "in_flight": connection.in_flight,
            "held_up": connection.held_up,
        })
    });
    let adapters = snapshot.adapters.iter().map(|it| {
        json!({
            "poa": it.path,
            "state": it.state,
            "held": it.held,
            "in_flight": it.in_flight,
            "objects": it.objects,
        })
    });
    let counts = |list: &[orbium::watch::idl::Tally]| {
        let counts = list.iter().map(|it| (it.name.clone(), json!(it.count)));
        Value::Object(counts.collect::<Map<_, _>>())
    };
    json!({
        "program": snapshot.program,
        "pid": snapshot.pid,
        "version": snapshot.version,
        "up_seconds": snapshot.up_ms as f64 / 1e3,
        "interval_seconds": seconds(view.interval),
        "measuring": snapshot.measuring,
        "operations": operations.collect::<Vec<_>>(),
        "lanes": lanes.collect::<Vec<_>>(),
        "connections": connections.collect::<Vec<_>>(),
        "more_connections": snapshot.more_connections,
        "adapters": adapters.collect::<Vec<_>>(),
        "server_exceptions_total": counts(&snapshot.raised),
        "client_exceptions_total": counts(&snapshot.received),
        "server_refused_total": counts(&snapshot.refused),
    })
}
