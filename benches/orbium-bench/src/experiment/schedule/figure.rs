// SPDX-License-Identifier: MIT OR Apache-2.0
//! Missed deadlines by utilization: the critical set on the left, all others on the right.

use orbium_cli::Failure;
use orbium_sched::overload::Misses;

use super::results::Findings;
use orbium_bench_chart::canvas::colour;
use orbium_bench_chart::lines::{Axis, Line, Stroke};
use orbium_bench_chart::{Chart, Content, Entry, Panel, Row};

type Class = fn(&Misses) -> f64;

const CLASSES: [(&str, Class); 2] = [
    ("critical set", |misses| misses.critical),
    ("other tasks", |misses| misses.other),
];

/// Strokes that distinguish overlapping lines.
const STROKES: [Stroke; 3] = [Stroke::Whole, Stroke::Dashed, Stroke::Dotted];

/// Draws a row for each of the findings.
pub(super) fn draw(all: &[Findings]) -> Result<String, Failure> {
    let legend = all.first().map(|found| lines(found, CLASSES[0].1));
    let chart = Chart {
        title: "Deadlines missed by utilization, both in percent",
        width: 1100,
        legend: legend.iter().flatten().map(Entry::line).collect(),
        rows: all.iter().map(row).collect(),
    };
    chart.to_svg().map_err(Failure::because)
}

fn row(found: &Findings) -> Row {
    let panel = |(name, class): (&str, Class)| Panel {
        title: format!("{}: {name}", found.name),
        content: Content::Lines(Axis::linear([100.0]), lines(found, class)),
        label: |value| format!("{value:.0}"),
    };
    Row {
        height: 360,
        panels: CLASSES.map(panel).into(),
    }
}

fn lines(found: &Findings, class: Class) -> Vec<Line> {
    let strategies = found.strategies.iter().enumerate();
    let line = |(index, (strategy, points)): (usize, &(orbium_sched::Strategy, Vec<_>))| Line {
        name: strategy.name().to_owned(),
        colour: colour(index),
        stroke: STROKES[index % STROKES.len()],
        points: points
            .iter()
            .map(|it: &super::results::Point| (it.utilization * 100.0, class(&it.misses) * 100.0))
            .collect(),
    };
    strategies.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_be_drawn() {
        assert!(!draw(&[]).unwrap().contains("NaN"));
    }
}
