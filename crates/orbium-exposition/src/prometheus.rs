// SPDX-License-Identifier: MIT OR Apache-2.0
//! Metrics in the text format of Prometheus and OpenMetrics.

use std::fmt::{self, Write};
use std::time::Duration;

use orbium_metrics::{BudgetUse, Histogram, OperationBudget};

use crate::{Metrics, MetricsSnapshot, OperationMetrics};

/// The bounds of exported buckets: 1, 2.5 and 5 times a power of ten, from 1 µs to 10 s. The bounds
/// recommended by OpenTelemetry for calls begin at 5 ms, too coarse for an ORB with latencies of
/// microseconds.
const BOUNDS: [(Duration, &str); 22] = [
    (Duration::from_nanos(1_000), "1e-06"),
    (Duration::from_nanos(2_500), "2.5e-06"),
    (Duration::from_nanos(5_000), "5e-06"),
    (Duration::from_micros(10), "1e-05"),
    (Duration::from_micros(25), "2.5e-05"),
    (Duration::from_micros(50), "5e-05"),
    (Duration::from_micros(100), "0.0001"),
    (Duration::from_micros(250), "0.00025"),
    (Duration::from_micros(500), "0.0005"),
    (Duration::from_millis(1), "0.001"),
    (Duration::from_micros(2_500), "0.0025"),
    (Duration::from_millis(5), "0.005"),
    (Duration::from_millis(10), "0.01"),
    (Duration::from_millis(25), "0.025"),
    (Duration::from_millis(50), "0.05"),
    (Duration::from_millis(100), "0.1"),
    (Duration::from_millis(250), "0.25"),
    (Duration::from_millis(500), "0.5"),
    (Duration::from_secs(1), "1.0"),
    (Duration::from_millis(2_500), "2.5"),
    (Duration::from_secs(5), "5.0"),
    (Duration::from_secs(10), "10.0"),
];

type Labels<'a> = &'a [(&'a str, &'a str)];

/// Writes families of metrics to a string.
struct Page(String);

/// The value of a label: quotes, backslashes and line ends escaped.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '\\' => f.write_str("\\\\")?,
                '"' => f.write_str("\\\"")?,
                '\n' => f.write_str("\\n")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: Labels<'_>, value: impl fmt::Display) {
        self.0.push_str(name);
        for (place, (label, text)) in labels.iter().enumerate() {
            let before = if place == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{before}{label}=\"{}\"", Escaped(text));
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }

    fn histogram(&mut self, name: &str, labels: Labels<'_>, histogram: &Histogram) {
        let mut with_bound = labels.to_vec();
        let bucket = format!("{name}_bucket");
        for (bound, text) in BOUNDS {
            with_bound.push(("le", text));
            self.sample(&bucket, &with_bound, histogram.count_within(bound));
            with_bound.pop();
        }
        with_bound.push(("le", "+Inf"));
        self.sample(&bucket, &with_bound, histogram.count());
        self.sample(
            &format!("{name}_sum"),
            labels,
            histogram.sum().as_secs_f64(),
        );
        self.sample(&format!("{name}_count"), labels, histogram.count());
    }

    fn served(&mut self, served: &[OperationMetrics]) {
        let name = "orbium_server_requests_total";
        self.family(name, "counter", "Requests that have ended, by outcome.");
        for it in served {
            let labels = |outcome| {
                [
                    ("operation", it.operation.as_str()),
                    ("lane", it.lane.as_str()),
                    ("outcome", outcome),
                ]
            };
            self.outcomes(name, it, &labels);
        }
        let name = "orbium_server_request_duration_seconds";
        let help = "From the arrival of a request until its reply is handed over.";
        self.family(name, "histogram", help);
        for it in served {
            let labels = [("operation", it.operation.as_str()), ("lane", &it.lane)];
            self.histogram(name, &labels, &it.durations);
        }
        let name = "orbium_server_operation_requests_in_flight";
        self.family(name, "gauge", "Requests of an operation being served.");
        for it in served {
            let labels = [("operation", it.operation.as_str()), ("lane", &it.lane)];
            self.sample(name, &labels, it.in_flight);
        }
    }

    fn outcomes<'a>(
        &mut self,
        name: &str,
        it: &OperationMetrics,
        labels: &dyn Fn(&'static str) -> [(&'a str, &'a str); 3],
    ) {
        let outcomes = [
            ("ok", it.ok),
            ("oneway", it.oneways),
            ("user", it.user_exceptions),
            ("system", it.system_exceptions),
        ];
        for (outcome, count) in outcomes {
            let labels = labels(outcome);
            // Calls have no lane.
            match labels[1].1 {
                "" => self.sample(name, &[labels[0], labels[2]], count),
                _ => self.sample(name, &labels, count),
            }
        }
    }

    fn called(&mut self, called: &[OperationMetrics]) {
        let name = "orbium_client_calls_total";
        self.family(name, "counter", "Calls that have ended, by outcome.");
        for it in called {
            let labels = |outcome| {
                [
                    ("operation", it.operation.as_str()),
                    ("lane", ""),
                    ("outcome", outcome),
                ]
            };
            self.outcomes(name, it, &labels);
        }
        let name = "orbium_client_call_duration_seconds";
        let help = "Calls from beginning to end, with their retries and forwards.";
        self.family(name, "histogram", help);
        for it in called {
            self.histogram(name, &[("operation", &it.operation)], &it.durations);
        }
    }

    fn counts(&mut self, snapshot: &MetricsSnapshot) {
        let lists = [
            (
                "orbium_server_exceptions_total",
                "System exceptions that requests were answered with.",
                "exception",
                &snapshot.raised,
            ),
            (
                "orbium_client_exceptions_total",
                "System exceptions that calls have ended with.",
                "exception",
                &snapshot.received,
            ),
            (
                "orbium_server_refused_total",
                "Requests and connections refused before a servant saw them.",
                "cause",
                &snapshot.refused,
            ),
            (
                "orbium_client_retries_total",
                "Requests that were sent again.",
                "cause",
                &snapshot.retries,
            ),
            (
                "orbium_client_buffered_oneways_total",
                "Flow control of buffered oneways, and those that were not sent.",
                "event",
                &snapshot.buffered_oneways,
            ),
        ];
        for (name, help, label, list) in lists {
            self.family(name, "counter", help);
            for it in list {
                self.sample(name, &[(label, it.name)], it.count);
            }
        }
        let name = "orbium_panics_total";
        self.family(name, "counter", "Servants that panicked.");
        self.sample(name, &[], snapshot.panics);
    }

    fn lanes(&mut self, snapshot: &MetricsSnapshot) {
        let name = "orbium_server_queue_duration_seconds";
        let help = "From the arrival of a request until a thread of the lane has it.";
        self.family(name, "histogram", help);
        for it in &snapshot.lanes {
            self.histogram(name, &[("lane", &it.lane.name)], &it.waited);
        }
        let name = "orbium_deadline_missed_total";
        self.family(name, "counter", "Deadlines that passed, and where.");
        for (lane, missed) in snapshot.missed() {
            for (place, count) in missed {
                let labels = [("lane", lane), ("where", place)];
                // Operations of no linked skeleton have no lane.
                let labels = &labels[usize::from(lane.is_empty())..];
                self.sample(name, labels, count);
            }
        }
        let gauges = [
            ("orbium_lane_threads", "Threads of a lane."),
            ("orbium_lane_threads_busy", "Threads that serve a request."),
            ("orbium_lane_queue_length", "Requests that wait in a lane."),
            (
                "orbium_lane_queue_limit",
                "Requests that may wait in a lane.",
            ),
            ("orbium_server_requests_in_flight", "Requests being served."),
        ];
        for (which, (name, help)) in gauges.into_iter().enumerate() {
            self.family(name, "gauge", help);
            for it in &snapshot.lanes {
                let value = match which {
                    0 => it.lane.threads as u64,
                    1 | 4 => it.busy,
                    2 => it.lane.waiting as u64,
                    _ => it.lane.queue as u64,
                };
                self.sample(name, &[("lane", &it.lane.name)], value);
            }
        }
    }

    /// Lanes without a budget have no samples.
    fn budgets(&mut self, snapshot: &MetricsSnapshot) {
        type Count = fn(&BudgetUse) -> u64;
        let families: [(&str, &str, Count); 2] = [
            (
                "orbium_lane_budget_exhausted_total",
                "Times that a lane had taken the processor time of its budget.",
                |it| it.exhaustions,
            ),
            (
                "orbium_lane_demotions_total",
                "Threads demoted until the budget of their lane was replenished.",
                |it| it.demotions,
            ),
        ];
        let lanes = || snapshot.lanes.iter().map(|it| &it.lane);
        for (name, help, count) in families {
            let with_budget = lanes().filter_map(|it| Some((&it.name, it.budget.as_ref()?)));
            let mut with_budget = with_budget.peekable();
            if with_budget.peek().is_some() {
                self.family(name, "counter", help);
            }
            for (lane, budget) in with_budget {
                self.sample(name, &[("lane", lane)], count(budget));
            }
        }
    }

    /// No samples without an interceptor that watches requests.
    fn overruns(&mut self, budgets: &[OperationBudget]) {
        let name = "orbium_server_budget_overruns_total";
        if !budgets.is_empty() {
            let help = "Requests that took more processor time than the budget of their operation.";
            self.family(name, "counter", help);
        }
        for it in budgets {
            self.sample(name, &[("operation", &it.operation)], it.counts.overruns);
        }
    }

    fn connections(&mut self, snapshot: &MetricsSnapshot) {
        let all = &snapshot.connections;
        let name = "orbium_connections";
        self.family(name, "gauge", "Open connections.");
        for it in all {
            let labels = [("role", it.role.name()), ("transport", &it.transport)];
            self.sample(name, &labels, it.open());
        }
        let name = "orbium_connections_opened_total";
        self.family(name, "counter", "Connections that were opened.");
        for it in all {
            let labels = [("role", it.role.name()), ("transport", &it.transport)];
            self.sample(name, &labels, it.opened);
        }
        let name = "orbium_connections_closed_total";
        self.family(name, "counter", "Connections that were closed, by cause.");
        for it in all {
            for closed in &it.closed {
                let labels = [
                    ("role", it.role.name()),
                    ("transport", &it.transport),
                    ("cause", closed.name),
                ];
                self.sample(name, &labels, closed.count);
            }
        }
        let name = "orbium_bytes_total";
        self.family(name, "counter", "Octets over connections.");
        for it in all {
            let octets = [("in", it.traffic.received), ("out", it.traffic.sent)];
            for (direction, count) in octets {
                let labels = [
                    ("role", it.role.name()),
                    ("direction", direction),
                    ("transport", &it.transport),
                ];
                self.sample(name, &labels, count);
            }
        }
    }
}

impl Metrics {
    /// The counts so far, in the text format that Prometheus scrapes (version 0.0.4; also
    /// read by OpenMetrics scrapers).
    ///
    /// Serve it as `text/plain; version=0.0.4`, or write it to a file for the textfile
    /// collector.
    #[must_use]
    pub fn prometheus_text(&self) -> String {
        self.snapshot().prometheus_text()
    }
}

impl MetricsSnapshot {
    /// As [`Metrics::prometheus_text`].
    #[must_use]
    pub fn prometheus_text(&self) -> String {
        let mut page = Page(String::new());
        let name = "orbium_build_info";
        page.family(name, "gauge", "The version of orbium.");
        page.sample(name, &[("version", env!("CARGO_PKG_VERSION"))], 1);
        page.served(&self.served);
        page.called(&self.called);
        page.counts(self);
        page.lanes(self);
        page.budgets(self);
        page.overruns(&self.budgets);
        page.connections(self);
        page.0
    }
}
