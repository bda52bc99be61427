// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures 7 and 8 of the paper: the parts of a round trip by protocol, and by
//! the size of a parameter.

use std::fmt::Write;

use orbium_cli::Failure;
use plotters::prelude::RGBColor;

use super::measured::{Measured, Parts};
use orbium_bench_chart::bars::{Bar, Group};
use orbium_bench_chart::{Chart, Content, Entry, Panel, Row};

/// The parts from the bottom up, with colours.
const PARTS: [(&str, RGBColor); 4] = [
    ("OS and I/O", RGBColor(0x94, 0xa3, 0xb8)),
    ("ORB", RGBColor(0xc2, 0x41, 0x0c)),
    ("transport", RGBColor(0x1e, 0x3a, 0x8a)),
    ("messaging", RGBColor(0x4a, 0xde, 0x80)),
];

impl Parts {
    fn microseconds(self) -> [f64; 4] {
        [self.system, self.orb, self.transport, self.messaging].map(|part| part / 1e3)
    }
}

fn label(measured: &Measured) -> String {
    match measured.size {
        None => measured.protocol.to_owned(),
        Some(size) => size.to_string(),
    }
}

/// The figures in numbers.
pub(super) fn to_text(by_protocol: &[Measured], by_size: &[Measured]) -> String {
    let mut out = String::new();
    for (title, bars) in [
        ("Round trip, µs (no parameters)", by_protocol),
        ("Round trip, µs, by octets", by_size),
    ] {
        let _ = write!(out, "\n{title:31}");
        for (part, _) in PARTS {
            let _ = write!(out, "{part:>12}");
        }
        let _ = writeln!(out, "{:>12}", "all");
        for measured in bars {
            let parts = measured.parts().microseconds();
            let _ = write!(out, "{:31}", label(measured));
            for part in parts {
                let _ = write!(out, "{part:>12.3}");
            }
            let _ = writeln!(out, "{:>12.3}", parts.iter().sum::<f64>());
        }
    }
    out
}

/// Draws both figures, one below the other.
pub(super) fn draw(by_protocol: &[Measured], by_size: &[Measured]) -> Result<String, Failure> {
    let protocol = by_size.first().map_or("", |measured| measured.protocol);
    let by_size_title = format!("An echo over {protocol}, µs, by octets in the sequence");
    let row = |title: &str, bars: &[Measured]| Row {
        height: 360,
        panels: vec![Panel {
            title: title.to_owned(),
            content: Content::Bars(bars.iter().map(group).collect()),
            label: |value| format!("{value:.1}"),
        }],
    };
    let chart = Chart {
        title: "Where the time of a round trip goes",
        width: 900,
        legend: PARTS.map(|(name, colour)| Entry::bar(name, colour)).into(),
        rows: vec![
            row("A call without parameters, µs", by_protocol),
            row(&by_size_title, by_size),
        ],
    };
    chart.to_svg().map_err(Failure::because)
}

fn group(measured: &Measured) -> Group {
    let parts = measured.parts().microseconds().into_iter().zip(PARTS);
    let bar = Bar {
        parts: parts.map(|(value, (_, colour))| (value, colour)).collect(),
        label: String::new(),
    };
    Group {
        label: label(measured),
        bars: vec![Some(bar)],
    }
}
