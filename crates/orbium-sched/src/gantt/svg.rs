// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts as drawings.

use std::fmt::Write as _;

use super::chart::{Chart, Row};
use crate::time::Time;

/// Width of the names in a drawing, in pixels.
const NAMES: f64 = 220.0;
const TIMES: f64 = 960.0;
const ROW: usize = 28;
const HEAD: usize = 36;

const STYLE: &str = "text { font: 13px sans-serif; fill: #222; } .run { fill: #2f6f9f; } \
                     .ready { fill: #c9d9e6; } .miss { stroke: #c0392b; stroke-width: 2; } \
                     .line { stroke: #bbb; }";

impl Chart {
    /// The chart as SVG: dark where a thread runs, light where it is ready, a red line at missed
    /// deadlines.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let height = HEAD + self.rows.len() * ROW + 12;
        let width = NAMES + TIMES + 20.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n<style>{STYLE}</style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        self.write_scale(&mut svg, height);
        for (number, row) in self.rows.iter().enumerate() {
            self.write_row(&mut svg, row, HEAD + number * ROW);
        }
        svg.push_str("</svg>\n");
        svg
    }

    /// Ten time marks, and whether the schedule repeats at the last one.
    fn write_scale(&self, svg: &mut String, height: usize) {
        for mark in 0..=10 {
            let time = Time::from_ticks(self.end.ticks() / 10 * mark);
            let x = NAMES + TIMES * mark as f64 / 10.0;
            let label = format!("{} ms", time.as_millis_f64());
            let _ = writeln!(
                svg,
                "<line class=\"line\" x1=\"{x:.1}\" y1=\"24\" x2=\"{x:.1}\" y2=\"{height}\"/>\
                 <text x=\"{x:.1}\" y=\"18\" text-anchor=\"middle\">{label}</text>"
            );
        }
        if !self.is_complete {
            svg.push_str("<text x=\"8\" y=\"18\">shown in part</text>\n");
        }
    }

    fn write_row(&self, svg: &mut String, row: &Row, y: usize) {
        let name = escaped(&row.name);
        let baseline = y + 18;
        let _ = writeln!(svg, "<text x=\"8\" y=\"{baseline}\">{name}</text>");
        for (class, bars) in [("ready", &row.ready), ("run", &row.runs)] {
            for bar in bars {
                let (x, end) = (self.x(bar.start), self.x(bar.end));
                let (y, width) = (y + 4, end - x);
                let _ = writeln!(
                    svg,
                    "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"20\"/>"
                );
            }
        }
        for miss in &row.misses {
            let (x, end) = (self.x(*miss), y + ROW);
            let _ = writeln!(
                svg,
                "<line class=\"miss\" x1=\"{x:.1}\" y1=\"{y}\" x2=\"{x:.1}\" y2=\"{end}\"/>"
            );
        }
    }

    fn x(&self, time: Time) -> f64 {
        NAMES + TIMES * time.ticks() as f64 / self.end.ticks().max(1) as f64
    }
}

/// Text of XML; control characters, which XML does not permit, are omitted.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars().filter(|it| !it.is_control()) {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            it => escaped.push(it),
        }
    }
    escaped
}
