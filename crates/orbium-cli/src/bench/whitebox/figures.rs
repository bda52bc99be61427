// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures 7 and 8 of the paper: the parts of a round trip by protocol, and by
//! the size of a parameter.

use std::fmt::Write;

use super::measured::{Measured, Parts};
use crate::bench::chart::axis;
use crate::demo::plot::{escaped, text};

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
const LEFT: f64 = 70.0;
const RIGHT: f64 = 880.0;
const HEADER: f64 = 86.0;
const TITLE: f64 = 36.0;
const BARS: f64 = 280.0;
const FOOT: f64 = 60.0;

/// Both figures, one below the other.
pub(super) fn draw(by_protocol: &[Measured], by_size: &[Measured]) -> String {
    let panel = TITLE + BARS + FOOT;
    let height = HEADER + 2.0 * panel;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>Where the time of a round trip goes</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>"
    );
    let heading = "Where the time of a round trip goes";
    let attributes = "font-size=\"18\" font-weight=\"bold\"";
    text(&mut svg, 20.0, 30.0, attributes, heading);
    for (index, (part, colour)) in PARTS.into_iter().enumerate() {
        let x = 20.0 + 130.0 * index as f64;
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"52\" width=\"12\" height=\"12\" fill=\"{colour}\"/>"
        );
        text(&mut svg, x + 17.0, 62.5, "", part);
    }
    let protocol = by_size.first().map_or("", |measured| measured.protocol);
    for (index, (title, bars)) in [
        ("A call without parameters, µs".to_owned(), by_protocol),
        (
            format!("An echo over {protocol}, µs, by octets in the sequence"),
            by_size,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        draw_panel(&mut svg, &title, bars, HEADER + panel * index as f64);
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw_panel(svg: &mut String, title: &str, bars: &[Measured], top: f64) {
    text(svg, 20.0, top + 20.0, "font-weight=\"bold\"", title);
    let all = |measured: &Measured| measured.parts().microseconds().iter().sum::<f64>();
    let (step, lines) = axis(bars.iter().map(all).fold(1.0, f64::max));
    let bottom = top + TITLE + BARS;
    let height = |micros: f64| BARS * micros / (f64::from(lines) * step);
    for line in 0..=lines {
        let value = step * f64::from(line);
        let y = bottom - height(value);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>"
        );
        let attributes = "text-anchor=\"end\" font-size=\"11\" fill=\"#666\"";
        text(svg, LEFT - 8.0, y + 4.0, attributes, &format!("{value:.1}"));
    }
    let group = (RIGHT - LEFT) / bars.len().max(1) as f64;
    for (index, measured) in bars.iter().enumerate() {
        let left = LEFT + group * (index as f64 + 0.2);
        let mut y = bottom;
        for ((part, colour), micros) in PARTS.iter().zip(measured.parts().microseconds()) {
            let tall = height(micros);
            y -= tall;
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{tall:.1}\" \
                 fill=\"{colour}\"><title>{}, {}: {micros:.3} µs</title></rect>",
                group * 0.6,
                escaped(&label(measured)),
                escaped(part),
            );
        }
        let middle = LEFT + group * (index as f64 + 0.5);
        let attributes = "text-anchor=\"middle\" font-size=\"11\"";
        text(svg, middle, bottom + 18.0, attributes, &label(measured));
    }
}
