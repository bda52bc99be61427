// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latency and jitter of both classes of clients.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use crate::peer::architecture::{Architecture, Kind};
use crate::report::bound::Bound;
use crate::report::row::Row;
use crate::stage::test_bed::TestBed;
use crate::statistics::summary::{Summary, numbers, ratio};
use orbium_cli::Failure;
use orbium_cli::stage::timing::latency;

/// The load of the clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scenario {
    /// As in the paper: 20 Hz and 10 Hz, servants that cube an octet.
    Paced,
    /// Servants that are busy for 1 ms, and low-priority clients without a pause.
    Saturated,
}

impl Scenario {
    pub(super) const ALL: [Self; 2] = [Self::Paced, Self::Saturated];

    /// The name in the commands of client processes, and in JSON.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Paced => "paced",
            Self::Saturated => "saturated",
        }
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Paced => "20 Hz and 10 Hz, an octet cubed",
            Self::Saturated => "servants busy for 1 ms, low-priority clients without a pause",
        }
    }
}

/// The results with so many low-priority clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    scenario: Scenario,
    pub(super) clients: usize,
    pub(super) high: Summary,
    pub(super) low: Summary,
    failed: u64,
    time: Duration,
}

/// The findings for an architecture.
#[derive(Clone, Debug)]
pub(super) struct Findings {
    pub(super) architecture: Architecture,
    points: Vec<Point>,
}

impl Findings {
    pub(super) fn new(architecture: &Architecture) -> Self {
        Self {
            architecture: architecture.clone(),
            points: Vec::new(),
        }
    }

    pub(super) fn measure(
        &mut self,
        test_bed: &mut TestBed,
        scenario: Scenario,
        clients: usize,
        time: Duration,
    ) -> Result<(), Failure> {
        let question = format!("{} {clients} {}", scenario.name(), time.as_millis());
        let found = test_bed.ask(&question, time)?;
        let summary = |of: &str| Summary::of(&numbers(&found[of]));
        self.points.push(Point {
            scenario,
            clients,
            high: summary("high"),
            low: summary("low"),
            failed: found["failed"].as_u64().unwrap_or(0),
            time,
        });
        Ok(())
    }

    /// The points of a scenario, in the order in which they were measured.
    pub(super) fn points(&self, scenario: Scenario) -> impl Iterator<Item = &Point> {
        let all = self.points.iter();
        all.filter(move |point| point.scenario == scenario)
    }

    /// The ratio of the high-priority median latencies with the most and the fewest saturating
    /// clients.
    fn inversion(&self) -> Option<f64> {
        let all = || self.points(Scenario::Saturated);
        let least = all().min_by_key(|point| point.clients)?;
        let most = all().max_by_key(|point| point.clients)?;
        if least.clients == most.clients {
            return None;
        }
        ratio(most.high.median, least.high.median)
    }

    pub(super) fn to_json(&self) -> Value {
        let points = self.points.iter().map(|point| {
            json!({
                "scenario": point.scenario.name(),
                "low_clients": point.clients,
                "high": point.high.to_json(),
                "low": point.low.to_json(),
                "failed": point.failed,
                "seconds": point.time.as_secs_f64(),
            })
        });
        json!({
            "architecture": self.architecture.name,
            "lanes": self.architecture.lanes,
            "points": points.collect::<Value>(),
        })
    }
}

/// The maximum ratio by the issue.
const MAX_RATIO: f64 = 1.5;

/// Figures of the latency of the high-priority client. The bound applies only to architectures with
/// lanes, and only with real-time priorities: the others are for comparison.
pub(super) fn rows(found: &[Findings], real_time: bool) -> Vec<Row> {
    let figure = "high-priority median, most saturating clients over none";
    let row = |found: &Findings| {
        let row = Row::new(figure, &found.architecture.name, found.inversion());
        if real_time && found.architecture.kind == Kind::Orbium && found.architecture.lanes {
            row.bounded(Bound::AtMost(MAX_RATIO))
        } else {
            row
        }
    };
    found.iter().map(row).collect()
}

/// A table for each scenario: the fewest and the most clients.
pub(super) fn to_text(found: &[Findings]) -> String {
    let mut text = String::new();
    for scenario in Scenario::ALL {
        let _ = writeln!(text, "\n{}", scenario.title());
        let _ = writeln!(
            text,
            "{:54}{:>8}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}{:>8}",
            "", "clients", "high mean", "jitter", "median", "p99", "low mean", "jitter", "failed"
        );
        for one in found {
            let all: Vec<_> = one.points(scenario).collect();
            let ends = [all.first(), all.last().filter(|_| all.len() > 1)];
            for point in ends.into_iter().flatten() {
                line(&mut text, &one.architecture.name, point);
            }
        }
    }
    text
}

fn line(text: &mut String, name: &str, point: &Point) {
    let _ = write!(text, "{name:54}{:>8}", point.clients);
    let (high, low) = (point.high, point.low);
    let cells = [
        high.mean,
        high.deviation,
        high.median,
        high.p99,
        low.mean,
        low.deviation,
    ];
    for (index, nanoseconds) in cells.into_iter().enumerate() {
        let count = if index < 4 { high.count } else { low.count };
        let cell = if count == 0 {
            "–".to_owned()
        } else {
            latency(nanoseconds as u64)
        };
        let _ = write!(text, "{cell:>12}");
    }
    let _ = writeln!(text, "{:>8}", point.failed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: Kind, lanes: bool, medians: [f64; 2]) -> Findings {
        let architecture = Architecture {
            kind,
            name: format!("{kind:?}, lanes: {lanes}"),
            lanes,
            server: Vec::new(),
            client: Vec::new(),
        };
        let point = |clients, median| Point {
            scenario: Scenario::Saturated,
            clients,
            high: Summary::of(&[median]),
            low: Summary::default(),
            failed: 0,
            time: Duration::ZERO,
        };
        Findings {
            architecture,
            points: vec![point(0, medians[0]), point(50, medians[1])],
        }
    }

    #[test]
    fn only_lanes_are_held_to_the_bound() {
        let all = [
            found(Kind::Orbium, true, [1e6, 1.1e6]),
            found(Kind::Orbium, false, [1e6, 9e6]),
            found(Kind::Omni, false, [1e6, 20e6]),
        ];
        let rows = rows(&all, true);
        assert_eq!(rows[0].to_json()["met"], true);
        assert!(
            super::rows(&all, false)
                .iter()
                .all(|row| row.bound.is_none())
        );
        assert_eq!(rows[1].bound, None);
        // Histograms keep four digits.
        let inversion = rows[2].value.unwrap();
        assert!((inversion - 20.0).abs() < 0.01, "{inversion}");
        let text = to_text(&all);
        assert!(text.contains("9.0 ms"), "{text}");
        assert_eq!(text.lines().count(), 12, "{text}");
    }

    #[test]
    fn one_number_of_clients_is_compared_with_nothing() {
        let mut one = found(Kind::Orbium, true, [1e6, 1e6]);
        one.points.pop();
        assert_eq!(one.inversion(), None);
    }
}
