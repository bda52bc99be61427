// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures 24 and 25: latency and jitter by the number of low-priority clients,
//! of the high-priority client on the left and of the others on the right.

use orbium_cli::Failure;

use super::results::{Findings, Point, Scenario};
use crate::peer::architecture::Kind;
use crate::statistics::summary::Summary;
use orbium_bench_chart::canvas::{COLOURS, colour, microseconds};
use orbium_bench_chart::lines::{Axis, Line, Stroke};
use orbium_bench_chart::{Chart, Content, Entry, Panel, Row};

type Class = fn(&Point) -> Summary;
type Value = fn(Summary) -> f64;

const CLASSES: [(&str, Class); 2] = [
    ("high-priority client", |point| point.high),
    ("low-priority clients", |point| point.low),
];
const VALUES: [(&str, Value); 2] = [
    ("latency (mean)", |summary| summary.mean),
    ("jitter (standard deviation)", |summary| summary.deviation),
];

/// Draws a row for each scenario and value.
pub(super) fn draw(found: &[Findings]) -> Result<String, Failure> {
    let scenarios = Scenario::ALL.into_iter();
    let rows = scenarios.flat_map(|scenario| VALUES.map(|value| row(found, scenario, value)));
    let chart = Chart {
        title: "Latency and jitter by the number of low-priority clients",
        width: 1200,
        legend: looks(found).iter().map(Entry::line).collect(),
        rows: rows.collect(),
    };
    chart.to_svg().map_err(Failure::because)
}

fn row(found: &[Findings], scenario: Scenario, (name, value): (&str, Value)) -> Row {
    let both = CLASSES.map(|(_, class)| lines(found, scenario, class, value));
    // Both classes have the same axes, for comparison.
    let points = both.iter().flatten().flat_map(|line| line.points.iter());
    let axis = Axis::logarithmic(points.map(|point| point.1));
    let panels = both.into_iter().zip(CLASSES);
    let panel = |(lines, (class, _)): (Vec<Line>, (&str, Class))| Panel {
        title: format!("{}. {class}: {name}", scenario.title()),
        content: Content::Lines(axis, lines),
        label: microseconds,
    };
    Row {
        height: 340,
        panels: panels.map(panel).collect(),
    }
}

/// A line for each architecture.
fn lines(found: &[Findings], scenario: Scenario, class: Class, value: Value) -> Vec<Line> {
    let line = |(look, one): (Line, &Findings)| Line {
        points: one
            .points(scenario)
            .filter(|point| class(point).count > 0)
            .map(|point| (point.clients as f64, value(class(point))))
            .collect(),
        ..look
    };
    looks(found).into_iter().zip(found).map(line).collect()
}

/// The stroke and the colour of each: continuous with lanes, dashed in the same colour without,
/// dotted for the other ORBs.
fn looks(found: &[Findings]) -> Vec<Line> {
    let (mut with_lanes, mut without, mut others) = (0.., 0.., (0..COLOURS).rev().cycle());
    let look = |one: &Findings| {
        let (number, stroke) = match (one.architecture.kind, one.architecture.lanes) {
            (Kind::Orbium, true) => (with_lanes.next(), Stroke::Whole),
            (Kind::Orbium, false) => (without.next(), Stroke::Dashed),
            _ => (others.next(), Stroke::Dotted),
        };
        Line {
            name: one.architecture.name.clone(),
            colour: colour(number.unwrap_or_default()),
            stroke,
            points: Vec::new(),
        }
    };
    found.iter().map(look).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::architecture::architectures;
    use crate::peer::programs::Peers;

    #[test]
    fn no_two_look_the_same() {
        let all = architectures(&Peers::none());
        let looks = looks(&all.iter().map(Findings::new).collect::<Vec<_>>());
        for (index, one) in looks.iter().enumerate() {
            let same = |other: &&Line| other.colour == one.colour && other.stroke == one.stroke;
            let first = looks.iter().position(|other| same(&other));
            assert_eq!(first, Some(index), "{}", one.name);
        }
    }

    #[test]
    fn nothing_can_be_drawn() {
        assert!(!draw(&[]).unwrap().contains("NaN"));
    }
}
