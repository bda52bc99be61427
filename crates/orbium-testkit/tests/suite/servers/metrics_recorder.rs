// SPDX-License-Identifier: MIT OR Apache-2.0
//! Metrics for the recorder of the crate `metrics`.

use std::collections::BTreeSet;
use std::sync::Mutex;

use metrics::{
    Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    with_local_recorder,
};
use orbium::{Config, config::ServerStrategy};
use orbium_testkit::Served;

/// The metrics that were registered, with their labels.
#[derive(Default)]
struct Registered(Mutex<BTreeSet<String>>);

impl Registered {
    fn add(&self, key: &Key) {
        let labels = key.labels();
        let labels = labels.map(|it| format!("{}=\"{}\"", it.key(), it.value()));
        let metric = named(key.name(), labels.collect());
        self.0.lock().unwrap().insert(metric);
    }
}

fn named(name: &str, mut labels: Vec<String>) -> String {
    labels.sort();
    format!("{name}{{{}}}", labels.join(","))
}

impl Recorder for Registered {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        self.add(key);
        Counter::noop()
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        self.add(key);
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        self.add(key);
        Histogram::noop()
    }
}

/// The metrics of a text for Prometheus, with their labels.
fn of_text(text: &str) -> BTreeSet<String> {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let metrics = samples.map(|line| {
        let (sample, _) = line.rsplit_once(' ').unwrap();
        let (name, labels) = sample.split_once('{').unwrap_or((sample, ""));
        let of_histogram = ["_bucket", "_sum", "_count"];
        let name = of_histogram
            .iter()
            .find_map(|end| name.strip_suffix(end))
            .unwrap_or(name);
        let labels = labels.trim_end_matches('}').split(',');
        let labels = labels.filter(|it| !it.is_empty() && !it.starts_with("le="));
        named(name, labels.map(str::to_owned).collect())
    });
    metrics.collect()
}

/// Some were missing, and deadlines had no place.
///
/// Conformance: robustness - a recorder of the crate `metrics` gets what Prometheus reads
#[test]
fn a_recorder_gets_the_metrics_that_prometheus_reads() {
    let server = Served::with(Config {
        strategy: ServerStrategy::Reactive,
        metrics: true,
        ..Config::default()
    });
    let (client, target) = server.client();
    target.noop().unwrap();
    client.shutdown(true).unwrap();
    for orb in [&server.orb, &client] {
        let metrics = orb.enable_metrics();
        let registered = Registered::default();
        let mut publisher = metrics.publisher();
        with_local_recorder(&registered, || publisher.publish());
        let registered = registered.0.into_inner().unwrap();
        assert_eq!(registered, of_text(&metrics.prometheus_text()));
    }
    server.end();
}
