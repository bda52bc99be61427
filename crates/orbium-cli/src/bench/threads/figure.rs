// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls per second by the number of client threads.

use super::scaling::{Found, Scaling};
use crate::bench::experiment::Kind;
use crate::demo::timing::thousands;
use crate::drawing::{Area, Axis, Drawing, Line, Stroke, colour, draw_lines, places};

const WIDTH: f64 = 1000.0;
const TOP: f64 = 190.0;
const LINES: f64 = 380.0;
const FOOT: f64 = 60.0;

/// Draws the rates above, their fractions of raw sockets below.
pub(super) fn draw(all: &Scaling) -> String {
    let panel = LINES + FOOT;
    let title = "Empty calls per second by the number of client threads";
    let mut drawing = Drawing::new(title, WIDTH, TOP + 2.0 * panel);
    let looks = all.found.iter().enumerate();
    let looks: Vec<_> = looks.map(|one| line(one, &|_, _| None)).collect();
    drawing.legend_of_lines(50.0, WIDTH, &looks);
    let rate =
        |found: &Found, place: usize| found.rates.get(place).map(super::scaling::Rates::rate);
    let fraction = |found: &Found, place: usize| found.rates.get(place)?.fraction();
    type Value<'a> = &'a dyn Fn(&Found, usize) -> Option<f64>;
    type Label<'a> = &'a dyn Fn(f64) -> String;
    let panels: [(&str, Value<'_>, Label<'_>); 2] = [
        ("calls per second", &rate, &thousands),
        ("fraction of raw sockets", &fraction, &|value| {
            format!("{value:.2}")
        }),
    ];
    for (index, (title, value, label)) in panels.into_iter().enumerate() {
        let top = TOP + panel * index as f64;
        drawing.text(20.0, top - 10.0, "font-weight=\"bold\"", title);
        let area = Area {
            left: 90.0,
            right: WIDTH - 20.0,
            top: top + 10.0,
            bottom: top + LINES - 20.0,
        };
        let lines: Vec<_> = all
            .found
            .iter()
            .enumerate()
            .map(|one| line(one, value))
            .collect();
        let values = lines.iter().flat_map(|line| line.points.iter());
        let axis = Axis::linear(values.map(|point| point.1).fold(0.1, f64::max));
        draw_lines(&mut drawing, area, (axis, label), &places(&lines), &lines);
    }
    drawing.finish()
}

fn line((index, found): (usize, &Found), value: &dyn Fn(&Found, usize) -> Option<f64>) -> Line {
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
        let svg = draw(&Scaling::default());
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("NaN"));
    }
}
