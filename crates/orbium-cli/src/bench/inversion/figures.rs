// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures 24 and 25: latency and jitter by the number of low-priority clients,
//! of the high-priority client on the left and of the others on the right.

use super::found::{Found, Point, Scenario};
use crate::bench::statistics::Summary;
use crate::drawing::{Area, Axis, Drawing, LEGEND_ROW, Line, colour, draw_lines, microseconds};

const WIDTH: f64 = 1200.0;
const HEADER: f64 = 150.0;
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
    let rows = (Scenario::ALL.len() * VALUES.len()) as f64;
    let title = "Latency and jitter by the number of low-priority clients";
    let mut drawing = Drawing::new(title, WIDTH, HEADER + LEGEND_ROW + panel * rows);
    let names = found.iter().enumerate();
    drawing.legend(
        50.0,
        WIDTH,
        names.map(|(index, one)| (one.architecture.name.as_str(), colour(index))),
    );
    let mut top = HEADER + LEGEND_ROW;
    for scenario in Scenario::ALL {
        for (value_name, value) in VALUES {
            // Both classes have the same axis: one is seen against the other.
            let all = found.iter().flat_map(|one| one.points(scenario));
            let values = all.flat_map(|point| CLASSES.map(|(_, class)| value(class(point))));
            let axis = Axis::logarithmic(values);
            for (column, (class_name, class)) in CLASSES.into_iter().enumerate() {
                let left = 80.0 + WIDTH / 2.0 * column as f64;
                let title = format!("{class_name}, {value_name}: {}", scenario.title());
                drawing.text(left - 60.0, top + 20.0, "font-weight=\"bold\"", &title);
                let area = Area {
                    left,
                    right: left + WIDTH / 2.0 - 110.0,
                    top: top + TITLE,
                    bottom: top + TITLE + LINES,
                };
                let lines = lines(found, scenario, class, value);
                draw_lines(&mut drawing, area, axis, &lines, &microseconds);
            }
            top += panel;
        }
    }
    drawing.finish()
}

/// A line for each architecture; what has lanes is drawn through.
fn lines(found: &[Found], scenario: Scenario, class: Class, value: Value) -> Vec<Line> {
    let line = |(index, one): (usize, &Found)| Line {
        name: one.architecture.name.clone(),
        colour: colour(index),
        dashed: !one.architecture.lanes,
        points: one
            .points(scenario)
            .filter(|point| class(point).count > 0)
            .map(|point| (point.clients as f64, value(class(point))))
            .collect(),
    };
    found.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_be_drawn() {
        let svg = draw(&[]);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("NaN"));
    }
}
