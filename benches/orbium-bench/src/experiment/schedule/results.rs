// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shares of missed deadlines, by strategy and utilization.

use std::fmt::Write;

use orbium_cli::Failure;
use orbium_cli::stage::progress::Progress;
use orbium_sched::overload::Misses;
use orbium_sched::{SchedError, Strategy};
use serde_json::{Value, json};

use crate::report::bound::Bound;
use crate::report::row::Row;

/// The utilization at which the critical set must not miss deadlines.
const OVERLOAD: f64 = 1.2;

/// The strategies that meet the deadlines of the critical set in overload.
const KEEPING: [Strategy; 3] = [Strategy::Rms, Strategy::Muf, Strategy::RmsMlf];

/// The findings of one part.
#[derive(Clone, Debug)]
pub(super) struct Findings {
    /// `simulated` or `live`.
    pub(super) name: &'static str,
    pub(super) strategies: Vec<(Strategy, Vec<Point>)>,
}

/// Misses at one utilization.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) utilization: f64,
    pub(super) misses: Misses,
}

impl Findings {
    /// Measures each strategy at each utilization.
    pub(super) fn measure(
        name: &'static str,
        utilizations: &[f64],
        misses: impl Fn(Strategy, f64) -> Result<Misses, Failure>,
    ) -> Result<Self, Failure> {
        let mut progress = Progress::new(Strategy::ALL.len() * utilizations.len());
        let mut strategies = Vec::new();
        for strategy in Strategy::ALL {
            let mut points = Vec::new();
            for utilization in utilizations.iter().copied() {
                progress.step(&format!("{name}: {strategy} at {utilization}"));
                let misses = misses(strategy, utilization)?;
                points.push(Point {
                    utilization,
                    misses,
                });
            }
            strategies.push((strategy, points));
        }
        Ok(Self { name, strategies })
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let overloaded = |(strategy, points): &(Strategy, Vec<Point>)| {
            let point = points.iter().find(|it| it.utilization == OVERLOAD)?;
            let figure = "deadlines of the critical set missed at utilization 1.2, percent";
            let missed = Some(point.misses.critical * 100.0);
            let row = Row::new(figure, strategy.name(), missed);
            Some(if KEEPING.contains(strategy) {
                row.bounded(Bound::AtMost(0.0))
            } else {
                row
            })
        };
        self.strategies.iter().filter_map(overloaded).collect()
    }

    /// A table: utilizations as rows, strategies as columns.
    pub(super) fn to_text(&self) -> String {
        let mut text = format!(
            "\nShare of deadlines missed in percent, {}: critical set / others\n{:<12}",
            self.name, "utilization"
        );
        for (strategy, _) in &self.strategies {
            let _ = write!(text, "  {strategy:>16}");
        }
        let utilizations = self
            .strategies
            .first()
            .map_or(&[][..], |(_, points)| points);
        for (row, Point { utilization, .. }) in utilizations.iter().enumerate() {
            let _ = write!(text, "\n{utilization:<12}");
            for (_, points) in &self.strategies {
                let misses = points[row].misses;
                let (critical, other) = (misses.critical * 100.0, misses.other * 100.0);
                let _ = write!(text, "  {:>16}", format!("{critical:.1} / {other:.1}"));
            }
        }
        text.push('\n');
        text
    }

    pub(super) fn to_json(&self) -> Value {
        let point = |it: &Point| {
            json!({
                "utilization": it.utilization,
                "critical": it.misses.critical,
                "other": it.misses.other,
            })
        };
        let strategies = self.strategies.iter().map(|(strategy, points)| {
            json!({
                "strategy": strategy.name(),
                "points": points.iter().map(point).collect::<Value>(),
            })
        });
        strategies.collect()
    }
}

/// The failure if the analysis refuses a task set.
pub(super) fn refused(error: &SchedError) -> Failure {
    Failure::because(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_that_keep_the_critical_set_are_held_to_it() {
        let found = Findings::measure(
            "simulated",
            &[0.9, OVERLOAD, 1.3],
            |strategy, utilization| {
                let is_kept = KEEPING.contains(&strategy) || utilization <= 1.0;
                Ok(Misses {
                    critical: if is_kept { 0.0 } else { 0.25 },
                    other: 0.5,
                })
            },
        );
        let found = found.unwrap();
        let rows = found.rows();
        assert_eq!(rows.len(), Strategy::ALL.len());
        for row in rows {
            let met = row.bound.map(|bound| bound.holds(row.value.unwrap()));
            let is_kept = ["rms", "muf", "rms+mlf"].contains(&row.peer.as_str());
            assert_eq!(met, is_kept.then_some(true), "{row:?}");
        }
        let text = found.to_text();
        assert_eq!(text.lines().count(), 6, "{text}");
        assert!(
            text.contains("1.3                 0.0 / 50.0       25.0 / 50.0"),
            "{text}"
        );
    }
}
