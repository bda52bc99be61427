// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures 24 and 25: latency and jitter by the number of low-priority clients,
//! of the high-priority client on the left and of the others on the right.

use super::found::{Found, Point, Scenario};
use crate::bench::experiment::Kind;
use crate::bench::statistics::Summary;
use crate::drawing::{
    Area, Axis, COLOURS, Drawing, Line, Stroke, colour, draw_lines, microseconds, places,
};

const WIDTH: f64 = 1200.0;
const HEADER: f64 = 210.0;
const HEADING: f64 = 36.0;
const TITLE: f64 = 36.0;
const LINES: f64 = 260.0;
const FOOT: f64 = 50.0;

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

/// Draws all of it.
pub(super) fn draw(found: &[Found]) -> String {
    let panel = TITLE + LINES + FOOT;
    let scenario_height = HEADING + panel * VALUES.len() as f64;
    let height = HEADER + scenario_height * Scenario::ALL.len() as f64;
    let title = "Latency and jitter by the number of low-priority clients";
    let mut drawing = Drawing::new(title, WIDTH, height);
    drawing.legend_of_lines(50.0, WIDTH, &looks(found));
    for (number, scenario) in Scenario::ALL.into_iter().enumerate() {
        let top = HEADER + scenario_height * number as f64;
        let attributes = "font-size=\"15\" font-weight=\"bold\"";
        drawing.text(20.0, top + 20.0, attributes, scenario.title());
        draw_scenario(&mut drawing, found, scenario, top + HEADING);
    }
    drawing.finish()
}

fn draw_scenario(drawing: &mut Drawing, found: &[Found], scenario: Scenario, mut top: f64) {
    for (value_name, value) in VALUES {
        let both = CLASSES.map(|(_, class)| lines(found, scenario, class, value));
        // Both classes have the same axes: one is seen against the other.
        let points = both.iter().flatten().flat_map(|line| line.points.iter());
        let axis = Axis::logarithmic(points.map(|point| point.1));
        let places = places(&both.concat());
        for (column, (lines, (class_name, _))) in both.iter().zip(CLASSES).enumerate() {
            let left = 80.0 + WIDTH / 2.0 * column as f64;
            let title = format!("{class_name}: {value_name}");
            drawing.text(left - 60.0, top + 20.0, "font-weight=\"bold\"", &title);
            let area = Area {
                left,
                right: left + WIDTH / 2.0 - 110.0,
                top: top + TITLE,
                bottom: top + TITLE + LINES,
            };
            draw_lines(drawing, area, (axis, &microseconds), &places, lines);
        }
        top += TITLE + LINES + FOOT;
    }
}

/// A line for each architecture.
fn lines(found: &[Found], scenario: Scenario, class: Class, value: Value) -> Vec<Line> {
    let line = |(look, one): (Line, &Found)| Line {
        points: one
            .points(scenario)
            .filter(|point| class(point).count > 0)
            .map(|point| (point.clients as f64, value(class(point))))
            .collect(),
        ..look
    };
    looks(found).into_iter().zip(found).map(line).collect()
}

/// How each is drawn: what has lanes through, the same without lanes dashed in the
/// same colour, and the other ORBs dotted.
fn looks(found: &[Found]) -> Vec<Line> {
    let (mut with_lanes, mut without, mut others) = (0.., 0.., (0..COLOURS).rev().cycle());
    let look = |one: &Found| {
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
    use crate::bench::experiment::{Peers, architectures};

    #[test]
    fn no_two_look_the_same() {
        let all = architectures(&Peers::none());
        let looks = looks(&all.iter().map(Found::new).collect::<Vec<_>>());
        for (index, one) in looks.iter().enumerate() {
            let same = |other: &&Line| other.colour == one.colour && other.stroke == one.stroke;
            let first = looks.iter().position(|other| same(&other));
            assert_eq!(first, Some(index), "{}", one.name);
        }
    }

    #[test]
    fn nothing_can_be_drawn() {
        let svg = draw(&[]);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("NaN"));
    }
}
