// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latency and jitter of both classes of clients, by place and scheduling class.

use std::fmt::{self, Write};

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::report::bound::Bound;
use crate::report::row::Row;
use crate::stage::class::Class;
use crate::stage::network::transport::Transport;
use crate::statistics::summary::{Summary, numbers};
use orbium_cli::stage::timing::latency;

/// Placement of client and server, with the transport between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Place {
    /// One host, TCP over the loopback interface
    Local,
    /// One host, a Unix socket
    Unix,
    /// One host, shared memory
    Shm,
    /// Two hosts, TCP over a link
    Remote,
}

impl Place {
    pub(super) const fn transport(self) -> Transport {
        match self {
            Self::Local | Self::Remote => Transport::Tcp,
            Self::Unix => Transport::Unix,
            Self::Shm => Transport::Shm,
        }
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Local => "local, TCP",
            Self::Unix => "local, Unix socket",
            Self::Shm => "local, shared memory",
            Self::Remote => "remote, TCP",
        }
    }

    /// The growth of the latency of TAO's high-priority client with five others, in microseconds
    /// (figures 34 and 35).
    const fn max_growth(self) -> f64 {
        match self {
            Self::Local | Self::Unix | Self::Shm => 5.0,
            Self::Remote => 1022.0,
        }
    }
}

/// The name on the command line.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Local => "local",
            Self::Unix => "unix",
            Self::Shm => "shm",
            Self::Remote => "remote",
        })
    }
}

/// Maximum jitter of the high-priority client, in microseconds.
const MAX_JITTER: f64 = 1000.0;

/// The results with so many low-priority clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) clients: usize,
    pub(super) high: Summary,
    pub(super) low: Summary,
    failed: u64,
}

/// The findings for a place under a scheduling class.
#[derive(Clone, Debug)]
pub(super) struct Findings {
    pub(super) place: Place,
    pub(super) class: Class,
    pub(super) points: Vec<Point>,
    /// The reason why the high-priority client did not have the class.
    pub(super) refused: Option<String>,
}

impl Findings {
    pub(super) fn new(place: Place, class: Class) -> Self {
        Self {
            place,
            class,
            points: Vec::new(),
            refused: None,
        }
    }

    pub(super) fn name(&self) -> String {
        format!("{}, {}", self.place.title(), self.class.name())
    }

    /// Adds the reply of the client process.
    pub(super) fn add(&mut self, clients: usize, answer: &Value) {
        let summary = |of: &str| Summary::of(&numbers(&answer[of]));
        self.points.push(Point {
            clients,
            high: summary("high"),
            low: summary("low"),
            failed: answer["failed"].as_u64().unwrap_or(0),
        });
        let refused = answer["refused"].as_str();
        self.refused = self.refused.take().or_else(|| refused.map(str::to_owned));
    }

    /// The points with the fewest and with the most clients.
    fn ends(&self) -> Option<(&Point, &Point)> {
        let by_clients = |point: &&Point| point.clients;
        let ends = (
            self.points.iter().min_by_key(by_clients)?,
            self.points.iter().max_by_key(by_clients)?,
        );
        (ends.0.clients != ends.1.clients).then_some(ends)
    }

    /// The growth of the high-priority client's median, and its jitter, both in microseconds.
    /// Without priorities the bounds of the paper do not apply.
    pub(super) fn rows(&self) -> [Row; 2] {
        let name = format!("orbium: {}", self.name());
        let growth = self
            .ends()
            .map(|(least, most)| (most.high.median - least.high.median) / 1e3);
        let most = self.points.iter().max_by_key(|point| point.clients);
        let jitter = most.map(|point| point.high.deviation / 1e3);
        let figure = "high-priority median, most low-priority clients less fewest, µs";
        let growth = Row::new(figure, &name, growth);
        let figure = "high-priority jitter with most low-priority clients, µs";
        let jitter = Row::new(figure, &name, jitter);
        match self.class {
            Class::Other => [growth, jitter],
            _ => [
                growth.bounded(Bound::AtMost(self.place.max_growth())),
                jitter.bounded(Bound::AtMost(MAX_JITTER)),
            ],
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let points = self.points.iter().map(|point| {
            json!({
                "low_clients": point.clients,
                "high": point.high.to_json(),
                "low": point.low.to_json(),
                "failed": point.failed,
            })
        });
        json!({
            "place": self.place.title(),
            "class": self.class.name(),
            "points": points.collect::<Value>(),
        })
    }
}

/// The fewest and the most clients of each.
pub(super) fn to_text(found: &[Findings]) -> String {
    let mut text = format!(
        "\n{:40}{:>8}{:>13}{:>12}{:>12}{:>12}{:>12}{:>12}{:>8}\n",
        "", "clients", "high median", "mean", "jitter", "low median", "mean", "jitter", "failed"
    );
    for one in found {
        let ends = [one.points.first(), one.points.last()];
        let shown = if one.points.len() > 1 { 2 } else { 1 };
        for point in ends.into_iter().flatten().take(shown) {
            line(&mut text, &one.name(), point);
        }
    }
    text
}

fn line(text: &mut String, name: &str, point: &Point) {
    let _ = write!(text, "{name:40}{:>8}", point.clients);
    for (of, width) in [(point.high, 13), (point.low, 12)] {
        let cells = [(of.median, width), (of.mean, 12), (of.deviation, 12)];
        for (nanoseconds, width) in cells {
            let cell = match of.count {
                0 => "–".to_owned(),
                _ => latency(nanoseconds as u64),
            };
            let _ = write!(text, "{cell:>width$}");
        }
    }
    let _ = writeln!(text, "{:>8}", point.failed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(place: Place, class: Class, medians: [f64; 2]) -> Findings {
        let mut found = Findings::new(place, class);
        for (clients, median) in [0, 5].into_iter().zip(medians) {
            let answer = json!({"high": [median, median], "low": [], "failed": 0, "refused": null});
            found.add(clients, &answer);
        }
        found
    }

    #[test]
    fn growth_within_a_host_is_held_to_less_than_that_between_two() {
        for (place, is_met) in [(Place::Shm, false), (Place::Remote, true)] {
            let rows = found(place, Class::Fifo, [1e5, 1.2e5]).rows();
            assert_eq!(rows[0].to_json()["met"], is_met);
            assert_eq!(rows[1].to_json()["met"], true);
        }
        let rows = found(Place::Shm, Class::Other, [1e5, 1.2e5]).rows();
        assert!(rows.iter().all(|row| row.bound.is_none()));
    }

    #[test]
    fn the_fewest_and_the_most_clients_are_shown() {
        let all = [found(Place::Local, Class::Fifo, [1e5, 1.2e5])];
        let text = to_text(&all);
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.contains("local, TCP, SCHED_FIFO"), "{text}");
    }
}
