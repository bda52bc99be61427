// SPDX-License-Identifier: MIT OR Apache-2.0
//! Metrics for the recorder of the crate `metrics`, and so for any exporter that the program has
//! installed there: Prometheus, StatsD, OpenTelemetry.

use std::collections::HashMap;

use metrics::{Label, counter, gauge, histogram};
use orbium_metrics::{ConnectionMetrics, Histogram, NamedCount};

use crate::{Metrics, OperationMetrics};

/// Publishes an ORB's metrics to the recorder that the program has installed for the crate
/// `metrics`, under the names of [`Metrics::prometheus_text`]. It adds no work to calls: each
/// [`publish`](Self::publish) reads the ORB's own counters.
///
/// ```no_run
/// # fn f(metrics: &orbium_exposition::Metrics) {
/// // `orb.enable_metrics()` gives the metrics.
/// let mut publisher = metrics.publisher();
/// std::thread::spawn(move || {
///     loop {
///         publisher.publish();
///         std::thread::sleep(std::time::Duration::from_secs(10));
///     }
/// });
/// # }
/// ```
///
/// It keeps the ORB alive until it is dropped.
#[derive(Debug)]
pub struct Publisher {
    metrics: Metrics,
    /// The histograms published before.
    before: HashMap<Vec<String>, Histogram>,
}

impl Metrics {
    /// The publisher of these metrics to the recorder of the crate `metrics`.
    #[must_use]
    pub fn publisher(&self) -> Publisher {
        Publisher {
            metrics: self.clone(),
            before: HashMap::new(),
        }
    }
}

fn counts(name: &'static str, label: &'static str, list: &[NamedCount]) {
    for it in list {
        counter!(name, vec![Label::new(label, it.name)]).absolute(it.count);
    }
}

fn outcomes(name: &'static str, it: &OperationMetrics) {
    let outcomes = [
        ("ok", it.ok),
        ("oneway", it.oneways),
        ("user", it.user_exceptions),
        ("system", it.system_exceptions),
    ];
    for (outcome, count) in outcomes {
        let mut labels = labels_of(it);
        labels.push(Label::new("outcome", outcome));
        counter!(name, labels).absolute(count);
    }
}

fn labels_of(it: &OperationMetrics) -> Vec<Label> {
    let mut labels = vec![Label::new("operation", it.operation.clone())];
    if !it.lane.is_empty() {
        labels.push(Label::new("lane", it.lane.clone()));
    }
    labels
}

fn missed((lane, counts): (&str, [(&'static str, u64); 2])) {
    for (place, count) in counts {
        let mut labels = vec![Label::new("where", place)];
        if !lane.is_empty() {
            labels.push(Label::new("lane", lane.to_owned()));
        }
        counter!("orbium_deadline_missed_total", labels).absolute(count);
    }
}

fn connections(it: &ConnectionMetrics) {
    let with = |more: &[(&'static str, &'static str)]| {
        let mut labels = vec![
            Label::new("role", it.role.name()),
            Label::new("transport", it.transport.clone()),
        ];
        for (name, value) in more {
            labels.push(Label::new(*name, *value));
        }
        labels
    };
    gauge!("orbium_connections", with(&[])).set(it.open() as f64);
    counter!("orbium_connections_opened_total", with(&[])).absolute(it.opened);
    for closed in &it.closed {
        let labels = with(&[("cause", closed.name)]);
        counter!("orbium_connections_closed_total", labels).absolute(closed.count);
    }
    for (direction, octets) in [("in", it.traffic.received), ("out", it.traffic.sent)] {
        let labels = with(&[("direction", direction)]);
        counter!("orbium_bytes_total", labels).absolute(octets);
    }
}

impl Publisher {
    /// Publishes the present metrics: counters and gauges as they are, the durations recorded in
    /// histograms since the last call, each as the middle of its bucket.
    pub fn publish(&mut self) {
        let snapshot = self.metrics.snapshot();
        let version = vec![Label::new("version", env!("CARGO_PKG_VERSION"))];
        gauge!("orbium_build_info", version).set(1.0);
        for it in &snapshot.served {
            outcomes("orbium_server_requests_total", it);
            let in_flight = "orbium_server_operation_requests_in_flight";
            gauge!(in_flight, labels_of(it)).set(it.in_flight as f64);
            let name = "orbium_server_request_duration_seconds";
            self.durations(name, labels_of(it), &it.durations);
        }
        for it in &snapshot.called {
            outcomes("orbium_client_calls_total", it);
            let name = "orbium_client_call_duration_seconds";
            self.durations(name, labels_of(it), &it.durations);
        }
        let exceptions = "orbium_server_exceptions_total";
        counts(exceptions, "exception", &snapshot.raised);
        let exceptions = "orbium_client_exceptions_total";
        counts(exceptions, "exception", &snapshot.received);
        counts("orbium_server_refused_total", "cause", &snapshot.refused);
        counts("orbium_client_retries_total", "cause", &snapshot.retries);
        let buffered = "orbium_client_buffered_oneways_total";
        counts(buffered, "event", &snapshot.buffered_oneways);
        counter!("orbium_panics_total").absolute(snapshot.panics);
        for it in &snapshot.lanes {
            let lane = || vec![Label::new("lane", it.lane.name.clone())];
            let name = "orbium_server_queue_duration_seconds";
            self.durations(name, lane(), &it.waited);
            if let Some(budget) = it.lane.budget {
                counter!("orbium_lane_budget_exhausted_total", lane()).absolute(budget.exhaustions);
                counter!("orbium_lane_demotions_total", lane()).absolute(budget.demotions);
            }
            gauge!("orbium_lane_threads", lane()).set(it.lane.threads as f64);
            gauge!("orbium_lane_threads_busy", lane()).set(it.busy as f64);
            gauge!("orbium_server_requests_in_flight", lane()).set(it.busy as f64);
            gauge!("orbium_lane_queue_length", lane()).set(it.lane.waiting as f64);
            gauge!("orbium_lane_queue_limit", lane()).set(it.lane.queue as f64);
        }
        snapshot.missed().into_iter().for_each(missed);
        for it in &snapshot.budgets {
            let labels = vec![Label::new("operation", it.operation.clone())];
            counter!("orbium_server_budget_overruns_total", labels).absolute(it.counts.overruns);
        }
        snapshot.connections.iter().for_each(connections);
    }

    fn durations(&mut self, name: &'static str, labels: Vec<Label>, now: &Histogram) {
        let mut key = vec![name.to_owned()];
        key.extend(labels.iter().map(|label| label.value().to_owned()));
        let before = self.before.insert(key, now.clone()).unwrap_or_default();
        let recorder = histogram!(name, labels);
        for (duration, count) in now.since(&before).samples() {
            recorder.record_many(duration.as_secs_f64(), count as usize);
        }
    }
}
