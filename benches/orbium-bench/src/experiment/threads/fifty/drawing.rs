// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latency and jitter by the number of clients, of the most urgent one on the left and of the
//! others on the right, a line for each scheduling class.

use orbium_cli::Failure;

use super::points::{Found, Point};
use crate::statistics::summary::Summary;
use orbium_bench_chart::canvas::{colour, microseconds};
use orbium_bench_chart::lines::{Axis, Line, Stroke};
use orbium_bench_chart::{Chart, Content, Entry, Panel, Row};

type Clients = fn(&Point) -> Summary;
type Value = fn(Summary) -> f64;

const CLIENTS: [(&str, Clients); 2] = [
    ("most urgent client", |point| point.highest),
    ("all others", |point| point.others),
];
const VALUES: [(&str, Value); 3] = [
    ("latency (median)", |summary| summary.median),
    ("latency (mean)", |summary| summary.mean),
    ("jitter (standard deviation)", |summary| summary.deviation),
];

/// Draws a row for each value.
pub(in crate::experiment::threads) fn draw(found: &[Found]) -> Result<String, Failure> {
    let nothing: Clients = |_| Summary::default();
    let chart = Chart {
        title: "Fifty priorities: latency and jitter by the number of clients",
        width: 1000,
        legend: lines(found, nothing, |_| 0.0)
            .iter()
            .map(Entry::line)
            .collect(),
        rows: VALUES.map(|value| row(found, value)).into(),
    };
    chart.to_svg().map_err(Failure::because)
}

fn row(found: &[Found], (name, value): (&str, Value)) -> Row {
    let both = CLIENTS.map(|(_, clients)| lines(found, clients, value));
    let points = both.iter().flatten().flat_map(|line| line.points.iter());
    let axis = Axis::logarithmic(points.map(|point| point.1));
    let panel = |(lines, (clients, _)): (Vec<Line>, (&str, Clients))| Panel {
        title: format!("{clients}: {name}"),
        content: Content::Lines(axis, lines),
        label: microseconds,
    };
    Row {
        height: 280,
        panels: both.into_iter().zip(CLIENTS).map(panel).collect(),
    }
}

fn lines(found: &[Found], clients: Clients, value: Value) -> Vec<Line> {
    let line = |(index, one): (usize, &Found)| Line {
        name: one.class.name().to_owned(),
        colour: colour(2 * index),
        stroke: Stroke::Whole,
        points: one
            .points
            .iter()
            .filter(|point| clients(point).count > 0)
            .map(|point| (point.clients as f64, value(clients(point))))
            .collect(),
    };
    found.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::class::Class;

    #[test]
    fn a_class_has_a_line_and_nothing_can_be_drawn() {
        let found = Found {
            class: Class::Fifo,
            points: Vec::new(),
        };
        assert!(draw(&[found]).unwrap().contains("SCHED_FIFO"));
        assert!(!draw(&[]).unwrap().contains("NaN"));
    }
}
