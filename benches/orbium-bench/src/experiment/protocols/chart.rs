// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bars: one of each protocol for each type of data, as in figure 5 of the paper.

use orbium_cli::Failure;
use orbium_cli::stage::timing::thousands;

use super::caller::DATA;
use super::table::Place;
use orbium_bench_chart::bars::{Bar, Group};
use orbium_bench_chart::canvas::colour;
use orbium_bench_chart::{Chart, Content, Entry, Panel, Row};

/// Draws all places, one below the other.
pub(crate) fn draw(places: &[Place]) -> Result<String, Failure> {
    let mut names: Vec<&str> = Vec::new();
    for name in places.iter().flat_map(|place| place.protocols.names()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let entries = names.iter().enumerate();
    let entries = entries.map(|(index, name)| Entry::bar(name, colour(index)));
    let panel = |place: &Place| Panel {
        title: place.title(),
        content: Content::Bars(groups(place, &names)),
        label: thousands,
    };
    let row = |place| Row {
        height: 340,
        panels: vec![panel(place)],
    };
    let chart = Chart {
        title: "Calls per second by protocol and type of data",
        width: 1100,
        legend: entries.collect(),
        rows: places.iter().map(row).collect(),
    };
    chart.to_svg().map_err(Failure::because)
}

/// The bars of a place. `names` are the protocols of all places.
fn groups(place: &Place, names: &[&str]) -> Vec<Group> {
    let protocols = &place.protocols;
    let bar = |index: usize, name: &str, data: &str| {
        let rate = protocols.rate(index, data)?;
        let number = names.iter().position(|known| *known == name).unwrap_or(0);
        Some(Bar::single(rate, colour(number), String::new()))
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
