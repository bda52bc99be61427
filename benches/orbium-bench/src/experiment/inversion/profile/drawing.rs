// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures 26 to 29: processor time of a call by category, the client's bar left of the server's.

use orbium_cli::Failure;
use plotters::prelude::RGBColor;

use super::shares::{Profile, Side};
use crate::statistics::category::Category;
use orbium_bench_chart::bars::{Bar, Group, upright_labels};
use orbium_bench_chart::canvas::colour;
use orbium_bench_chart::{Chart, Content, Entry, Panel, Row};

/// The height of a plot without the labels below it.
const PLOT: u32 = 320;

/// Draws shares above, microseconds below.
pub(super) fn draw(found: &[Profile]) -> Result<String, Failure> {
    let share = |of: &Side| -> [f64; 6] { Category::ALL.map(|category| of.share(category)) };
    let time = |of: &Side| {
        let whole = of.microseconds().unwrap_or(0.0);
        share(of).map(|percent| whole * percent / 100.0)
    };
    let legend = Category::ALL.iter().zip(colours());
    let chart = Chart {
        title: "Where the processor time of ten clients goes: client on the left, server on the right",
        width: 1200,
        legend: legend
            .map(|(category, colour)| Entry::bar(category.name(), colour))
            .collect(),
        rows: vec![
            row(found, "percent of the side's processor time", share),
            row(found, "microseconds of processor time of a call", time),
        ],
    };
    chart.to_svg().map_err(Failure::because)
}

fn colours() -> [RGBColor; 6] {
    [1, 3, 2, 5, 8, 7].map(colour)
}

fn row(found: &[Profile], title: &str, parts: impl Fn(&Side) -> [f64; 6]) -> Row {
    let lengths = found
        .iter()
        .map(|one| one.architecture.name.chars().count());
    let bar = |side: &Side| {
        (parts(side).iter().sum::<f64>() > 0.0).then(|| Bar {
            parts: parts(side).into_iter().zip(colours()).collect(),
            label: format!("{:.0}", parts(side).iter().sum::<f64>()),
        })
    };
    let group = |one: &Profile| Group {
        label: one.architecture.name.clone(),
        bars: one.sides().map(|(_, side)| bar(side)).into(),
    };
    Row {
        height: PLOT + upright_labels(lengths.max().unwrap_or(0)),
        panels: vec![Panel {
            title: title.to_owned(),
            content: Content::Bars(found.iter().map(group).collect()),
            label: |value| format!("{value:.0}"),
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::architecture::{Lanes, ways_to_serve};

    #[test]
    fn both_sides_have_a_bar_and_nothing_can_be_drawn() {
        let profile = |architecture| Profile {
            architecture,
            calls: 1,
            client: Side::of("\t1 futex_wait (/lib/libc.so.6)\n\n", 1),
            server: Side::of("", 1),
        };
        let all: Vec<_> = ways_to_serve(Lanes::Each).map(profile).collect();
        let drawing = draw(&all).unwrap();
        for text in ["synchronisation", "lanes, reactive"] {
            assert!(drawing.contains(text), "{text}: {drawing}");
        }
        assert!(!draw(&[]).unwrap().contains("NaN"));
    }
}
