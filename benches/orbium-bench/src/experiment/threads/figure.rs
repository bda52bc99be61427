// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls per second by the number of client threads.

use orbium_cli::Failure;
use orbium_cli::stage::timing::thousands;

use super::scaling::{Found, Rates, Scaling};
use crate::peer::architecture::Kind;
use orbium_bench_chart::canvas::colour;
use orbium_bench_chart::lines::{Axis, Line, Stroke};
use orbium_bench_chart::{Chart, Content, Entry, Panel, Row};

type Value<'a> = &'a dyn Fn(&Found, usize) -> Option<f64>;

/// Draws the rates above, their fractions of raw sockets below.
pub(super) fn draw(all: &Scaling) -> Result<String, Failure> {
    let rate = |found: &Found, place: usize| found.rates.get(place).map(Rates::rate);
    let fraction = |found: &Found, place: usize| found.rates.get(place)?.fraction();
    let chart = Chart {
        title: "Empty calls per second by the number of client threads",
        width: 1000,
        legend: lines(all, &|_, _| None).iter().map(Entry::line).collect(),
        rows: vec![
            row(all, "calls per second", &rate, thousands),
            row(all, "fraction of raw sockets", &fraction, |value| {
                format!("{value:.2}")
            }),
        ],
    };
    chart.to_svg().map_err(Failure::because)
}

fn row(all: &Scaling, title: &str, value: Value<'_>, label: fn(f64) -> String) -> Row {
    let lines = lines(all, value);
    let values = lines.iter().flat_map(|line| line.points.iter());
    let axis = Axis::linear(values.map(|point| point.1));
    let panel = Panel {
        title: title.to_owned(),
        content: Content::Lines(axis, lines),
        label,
    };
    Row {
        height: 420,
        panels: vec![panel],
    }
}

fn lines(all: &Scaling, value: Value<'_>) -> Vec<Line> {
    let found = all.found.iter().enumerate();
    found.map(|one| line(one, value)).collect()
}

fn line((index, found): (usize, &Found), value: Value<'_>) -> Line {
    let points = found.rates.iter().enumerate();
    let points =
        points.filter_map(|(place, rates)| Some((rates.threads as f64, value(found, place)?)));
    Line {
        name: found.name.clone(),
        colour: colour(index),
        stroke: match found.kind {
            Kind::Orbium => Stroke::Whole,
            Kind::Raw => Stroke::Dashed,
            Kind::Omni | Kind::Jacorb => Stroke::Dotted,
        },
        points: points.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_be_drawn() {
        assert!(!draw(&Scaling::default()).unwrap().contains("NaN"));
    }
}
