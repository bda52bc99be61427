// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bars: for each type of data one of each protocol, as figure 5 of the paper
//! has them.

use std::fmt::Write;

use super::caller::DATA;
use super::table::Place;
use crate::demo::plot::{escaped, text};
use crate::demo::timing::thousands;

const WIDTH: f64 = 1100.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 1080.0;
const HEADER: f64 = 90.0;
const TITLE: f64 = 36.0;
const BARS: f64 = 260.0;
const FOOT: f64 = 50.0;

/// One for each protocol, told apart by those who see few colours too.
const COLOURS: [&str; 9] = [
    "#7c2d12", "#ea580c", "#1e3a8a", "#60a5fa", "#14532d", "#4ade80", "#581c87", "#a8a29e",
    "#facc15",
];

/// Draws all places, one below the other.
pub(crate) fn draw(places: &[Place]) -> String {
    let panel = TITLE + BARS + FOOT;
    let height = HEADER + panel * places.len() as f64;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>Calls per second by protocol and type of data</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>"
    );
    text(
        &mut svg,
        20.0,
        30.0,
        "font-size=\"18\" font-weight=\"bold\"",
        "Calls per second by protocol and type of data",
    );
    let mut names: Vec<&str> = Vec::new();
    for name in places.iter().flat_map(|place| place.protocols.names()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    legend(&mut svg, &names);
    for (index, place) in places.iter().enumerate() {
        draw_place(&mut svg, place, &names, HEADER + panel * index as f64);
    }
    svg.push_str("</svg>\n");
    svg
}

fn colour(names: &[&str], name: &str) -> &'static str {
    let index = names.iter().position(|known| *known == name).unwrap_or(0);
    COLOURS[index % COLOURS.len()]
}

fn legend(svg: &mut String, names: &[&str]) {
    let mut x = 20.0;
    for name in names {
        let colour = colour(names, name);
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"52\" width=\"12\" height=\"12\" fill=\"{colour}\"/>"
        );
        text(svg, x + 17.0, 62.5, "font-size=\"12\"", name);
        x += 38.0 + 7.0 * name.len() as f64;
    }
}

fn draw_place(svg: &mut String, place: &Place, names: &[&str], top: f64) {
    text(
        svg,
        20.0,
        top + 20.0,
        "font-weight=\"bold\"",
        &place.title(),
    );
    let protocols = &place.protocols;
    let count = protocols.names().count();
    let rates = (0..count).flat_map(|index| {
        DATA.iter()
            .filter_map(move |(data, ..)| protocols.rate(index, data))
    });
    let (step, lines) = axis(rates.fold(1.0, f64::max));
    let most = step * f64::from(lines);
    let bottom = top + TITLE + BARS;
    for line in 0..=lines {
        let value = step * f64::from(line);
        let y = bottom - BARS * value / most;
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>"
        );
        text(
            svg,
            LEFT - 8.0,
            y + 4.0,
            "text-anchor=\"end\" font-size=\"11\" fill=\"#666\"",
            &thousands(value),
        );
    }
    let group = (RIGHT - LEFT) / DATA.len() as f64;
    let width = group * 0.86 / count.max(1) as f64;
    for (place_of_data, (data, ..)) in DATA.iter().enumerate() {
        let left = LEFT + group * (place_of_data as f64 + 0.07);
        for (index, name) in protocols.names().enumerate() {
            let Some(rate) = protocols.rate(index, data) else {
                continue;
            };
            let height = BARS * rate / most;
            let gain = protocols.gain(index, data).unwrap_or(0.0);
            let _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\" \
                 fill=\"{}\"><title>{}, {}: {} calls/s, {:+.1} %</title></rect>",
                left + width * index as f64,
                bottom - height,
                width * 0.92,
                colour(names, name),
                escaped(name),
                escaped(data),
                thousands(rate),
                100.0 * gain
            );
        }
        let middle = LEFT + group * (place_of_data as f64 + 0.5);
        text(
            svg,
            middle,
            bottom + 18.0,
            "text-anchor=\"middle\" font-size=\"12\"",
            data,
        );
    }
}

/// The round step of an axis that reaches so far, and how many there are of it.
pub(super) fn axis(most: f64) -> (f64, u32) {
    let step = step(most);
    (step, (most / step).ceil().max(1.0) as u32)
}

/// A round fifth of an axis that reaches so far.
fn step(most: f64) -> f64 {
    let decade = 10_f64.powf((most / 5.0).max(0.1).log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|step| step * decade);
    let enough = steps.into_iter().find(|step| step * 5.0 >= most);
    enough.unwrap_or(10.0 * decade)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_reaches_far_enough_in_round_steps() {
        for (most, expected) in [
            (1.0, 0.2),
            (480.0, 100.0),
            (501.0, 200.0),
            (260_000.0, 100_000.0),
        ] {
            assert_eq!(step(most), expected, "{most}");
            let (step, lines) = axis(most);
            assert!(step * f64::from(lines) >= most, "{most}");
            assert!(step * f64::from(lines - 1) < most, "{most}");
        }
    }

    #[test]
    fn nothing_can_be_drawn() {
        let svg = draw(&[]);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }
}
