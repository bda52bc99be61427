// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures 32 to 36: latency on the left and jitter on the right by the number of low-priority
//! clients, a row for each place.

use clap::ValueEnum;
use orbium_cli::Failure;

use super::places::{Findings, Place, Point};
use crate::stage::class::Class;
use crate::statistics::summary::Summary;
use orbium_bench_chart::canvas::{colour, microseconds};
use orbium_bench_chart::lines::{Axis, Line, Stroke};
use orbium_bench_chart::{Chart, Content, Entry, Panel, Row};

type Clients = fn(&Point) -> Summary;
type Value = fn(Summary) -> f64;

/// High-priority clients have continuous lines, low-priority ones dashed lines.
const CLIENTS: [(&str, Clients, Stroke); 2] = [
    ("high", |point| point.high, Stroke::Whole),
    ("low", |point| point.low, Stroke::Dashed),
];
const VALUES: [(&str, Value); 2] = [
    ("latency (mean)", |summary| summary.mean),
    ("jitter (standard deviation)", |summary| summary.deviation),
];

pub(super) fn draw(found: &[Findings]) -> Result<String, Failure> {
    let places = Place::value_variants().iter();
    let measured = places.filter(|place| found.iter().any(|one| one.place == **place));
    let chart = Chart {
        title: "Latency and jitter by the number of low-priority clients, place and scheduling class",
        width: 1000,
        legend: legend(found),
        rows: measured.map(|place| row(found, *place)).collect(),
    };
    chart.to_svg().map_err(Failure::because)
}

fn row(found: &[Findings], place: Place) -> Row {
    let panel = |(name, value): (&str, Value)| {
        let of_place = found.iter().filter(|one| one.place == place);
        let lines: Vec<_> = of_place.flat_map(|one| lines(one, value)).collect();
        let points = lines.iter().flat_map(|line| line.points.iter());
        Panel {
            title: format!("{}: {name}", place.title()),
            content: Content::Lines(Axis::logarithmic(points.map(|point| point.1)), lines),
            label: microseconds,
        }
    };
    Row {
        height: 260,
        panels: VALUES.map(panel).into(),
    }
}

/// A line for each class of clients.
fn lines(found: &Findings, value: Value) -> [Line; 2] {
    let classes = Class::value_variants().iter();
    let number = classes.take_while(|class| **class != found.class).count();
    CLIENTS.map(|(name, clients, stroke)| Line {
        name: format!("{}: {name}", found.class.name()),
        colour: colour(2 * number),
        stroke,
        points: found
            .points
            .iter()
            .filter(|point| clients(point).count > 0)
            .map(|point| (point.clients as f64, value(clients(point))))
            .collect(),
    })
}

/// Lines that recur in every row have one entry.
fn legend(found: &[Findings]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for line in found.iter().flat_map(|one| lines(one, VALUES[0].1)) {
        if entries.iter().all(|entry| entry.name != line.name) {
            entries.push(Entry::line(&line));
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_a_row_and_nothing_can_be_drawn() {
        let found = Findings::new(Place::Local, Class::Fifo);
        assert!(draw(&[found]).unwrap().contains("local, TCP"));
        assert!(!draw(&[]).unwrap().contains("NaN"));
    }
}
