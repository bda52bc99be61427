// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bars: for each type of data one of each protocol, as figure 5 of the paper
//! has them.

use super::caller::DATA;
use super::table::Place;
use crate::demo::timing::thousands;
use crate::drawing::{Area, Bar, Drawing, Group, colour, draw_bars};

const WIDTH: f64 = 1100.0;
const HEADER: f64 = 90.0;
const TITLE: f64 = 36.0;
const BARS: f64 = 260.0;
const FOOT: f64 = 50.0;

/// Draws all places, one below the other.
pub(crate) fn draw(places: &[Place]) -> String {
    let panel = TITLE + BARS + FOOT;
    let height = HEADER + panel * places.len() as f64;
    let title = "Calls per second by protocol and type of data";
    let mut drawing = Drawing::new(title, WIDTH, height);
    let mut names: Vec<&str> = Vec::new();
    for name in places.iter().flat_map(|place| place.protocols.names()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let entries = names.iter().enumerate();
    drawing.legend(
        52.0,
        WIDTH,
        entries.map(|(index, name)| (*name, colour(index))),
    );
    for (index, place) in places.iter().enumerate() {
        let top = HEADER + panel * index as f64;
        drawing.text(20.0, top + 20.0, "font-weight=\"bold\"", &place.title());
        let area = Area {
            left: 80.0,
            right: 1080.0,
            top: top + TITLE,
            bottom: top + TITLE + BARS,
        };
        draw_bars(&mut drawing, area, &groups(place, &names), &thousands);
    }
    drawing.finish()
}

/// The bars of a place. `names` are the protocols of all places.
fn groups(place: &Place, names: &[&str]) -> Vec<Group> {
    let protocols = &place.protocols;
    let bar = |index: usize, name: &str, data: &str| {
        let rate = protocols.rate(index, data)?;
        let gain = protocols.gain(index, data).unwrap_or(0.0);
        let number = names.iter().position(|known| *known == name).unwrap_or(0);
        let hint = format!(
            "{name}, {data}: {} calls/s, {:+.1} %",
            thousands(rate),
            100.0 * gain
        );
        Some(Bar::single(rate, colour(number), hint))
    };
    let group = |data: &str| Group {
        label: data.to_owned(),
        bars: protocols
            .names()
            .enumerate()
            .map(|(index, name)| bar(index, name, data))
            .collect(),
    };
    DATA.iter().map(|(data, ..)| group(data)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_be_drawn() {
        let svg = draw(&[]);
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }
}
