// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures 7 and 8 of the paper: the parts of a round trip by protocol, and by
//! the size of a parameter.

use std::fmt::Write;

use super::measured::{Measured, Parts};
use crate::drawing::{Area, Bar, Drawing, Group, Part, draw_bars};

/// From the bottom up, with colours.
const PARTS: [(&str, &str); 4] = [
    ("OS and I/O", "#94a3b8"),
    ("ORB", "#c2410c"),
    ("transport", "#1e3a8a"),
    ("messaging", "#4ade80"),
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

const WIDTH: f64 = 900.0;
const HEADER: f64 = 86.0;
const TITLE: f64 = 36.0;
const BARS: f64 = 280.0;
const FOOT: f64 = 60.0;

/// Both figures, one below the other.
pub(super) fn draw(by_protocol: &[Measured], by_size: &[Measured]) -> String {
    let panel = TITLE + BARS + FOOT;
    let title = "Where the time of a round trip goes";
    let mut drawing = Drawing::new(title, WIDTH, HEADER + 2.0 * panel);
    drawing.legend(52.0, WIDTH, PARTS);
    let protocol = by_size.first().map_or("", |measured| measured.protocol);
    let by_size_title = format!("An echo over {protocol}, µs, by octets in the sequence");
    let panels = [
        ("A call without parameters, µs", by_protocol),
        (&by_size_title, by_size),
    ];
    for (index, (title, bars)) in panels.into_iter().enumerate() {
        let top = HEADER + panel * index as f64;
        drawing.text(20.0, top + 20.0, "font-weight=\"bold\"", title);
        let area = Area {
            left: 70.0,
            right: 880.0,
            top: top + TITLE,
            bottom: top + TITLE + BARS,
        };
        let groups: Vec<_> = bars.iter().map(group).collect();
        draw_bars(&mut drawing, area, &groups, &|value| format!("{value:.1}"));
    }
    drawing.finish()
}

fn group(measured: &Measured) -> Group {
    let parts = PARTS.iter().zip(measured.parts().microseconds());
    let parts = parts.map(|((part, colour), micros)| Part {
        value: micros,
        colour,
        hint: format!("{}, {part}: {micros:.3} µs", label(measured)),
    });
    Group {
        label: label(measured),
        bars: vec![Some(Bar {
            parts: parts.collect(),
            label: None,
        })],
    }
}
