// SPDX-License-Identifier: MIT OR Apache-2.0
//! SVG drawings: what all charts of the program are made of.

mod area;
mod bars;
mod lines;

use std::fmt::Write;

pub(crate) use area::{Area, Axis, microseconds};
#[cfg(feature = "probes")]
pub(crate) use bars::Part;
pub(crate) use bars::{Bar, Group, draw_bars};
pub(crate) use lines::{Line, Stroke, draw_lines, places};

/// So many there are before they begin again.
pub(crate) const COLOURS: usize = 12;

/// Colours of series, told apart by those who see few colours too.
const COLOUR: [&str; COLOURS] = [
    "#7c2d12", "#ea580c", "#1e3a8a", "#60a5fa", "#14532d", "#4ade80", "#581c87", "#a8a29e",
    "#facc15", "#be185d", "#0f766e", "#475569",
];

/// The colour of the series with that number.
pub(crate) fn colour(index: usize) -> &'static str {
    COLOUR[index % COLOURS]
}

/// A drawing on white, of so many units.
#[derive(Debug)]
pub(crate) struct Drawing {
    svg: String,
}

impl Drawing {
    /// A drawing with a title, which is also shown at the top.
    pub(crate) fn new(title: &str, width: f64, height: f64) -> Self {
        let mut drawing = Self { svg: String::new() };
        let shown = escaped(title);
        drawing.add(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
             <title>{shown}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>"
        ));
        drawing.text(20.0, 30.0, "font-size=\"18\" font-weight=\"bold\"", title);
        drawing
    }

    /// An element, as it is.
    pub(crate) fn add(&mut self, element: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.svg, "{element}");
    }

    /// Text.
    pub(crate) fn text(&mut self, x: f64, y: f64, attributes: &str, content: &str) {
        let content = escaped(content);
        self.add(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{content}</text>"
        ));
    }

    /// A straight line.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.add(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>"
        ));
    }

    /// Names with their colours from left to right, in several rows if need be.
    pub(crate) fn legend<'a>(
        &mut self,
        top: f64,
        right: f64,
        entries: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) {
        let entries: Vec<_> = entries.into_iter().collect();
        let names = entries.iter().map(|(name, _)| *name);
        let places = legend_places(top, right, 17.0, names);
        for ((name, colour), (x, y)) in entries.into_iter().zip(places) {
            self.add(format_args!(
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"12\" height=\"12\" fill=\"{colour}\"/>"
            ));
            self.text(x + 17.0, y + 10.5, "font-size=\"12\"", name);
        }
    }

    /// The same for lines, which are told apart by their strokes too.
    pub(crate) fn legend_of_lines(&mut self, top: f64, right: f64, lines: &[Line]) {
        let names = lines.iter().map(|line| line.name.as_str());
        let places = legend_places(top, right, 33.0, names);
        for (line, (x, y)) in lines.iter().zip(places) {
            let (end, middle) = (x + 27.0, y + 6.0);
            self.add(format_args!(
                "<path d=\"M{x:.1} {middle:.1}H{end:.1}\" stroke=\"{}\" stroke-width=\"3\"{}/>",
                line.colour,
                line.stroke.attribute()
            ));
            self.text(x + 33.0, y + 10.5, "font-size=\"12\"", &line.name);
        }
    }

    /// The whole drawing.
    pub(crate) fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}

/// Where names stand from left to right, each behind a mark of that width.
fn legend_places<'a>(
    top: f64,
    right: f64,
    mark: f64,
    names: impl Iterator<Item = &'a str>,
) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (20.0, top);
    let place = |name: &str| {
        let wide = mark + 21.0 + 7.0 * name.chars().count() as f64;
        if x > 20.0 && x + wide > right {
            x = 20.0;
            y += LEGEND_ROW;
        }
        let place = (x, y);
        x += wide;
        place
    };
    names.map(place).collect()
}

/// From one row of a legend to the next.
const LEGEND_ROW: f64 = 20.0;

/// Text as it may stand in an element.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let mut drawing = Drawing::new("a < b", 10.0, 10.0);
        drawing.text(0.0, 0.0, "", "c > d & e");
        let svg = drawing.finish();
        assert!(svg.contains("<title>a &lt; b</title>"), "{svg}");
        assert!(svg.contains("c &gt; d &amp; e"), "{svg}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn a_legend_that_is_too_wide_goes_on_below() {
        let mut drawing = Drawing::new("", 10.0, 10.0);
        let entries = [("a long name", "#000"), ("another", "#111"), ("x", "#222")];
        drawing.legend(50.0, 2000.0, entries);
        drawing.legend(90.0, 100.0, entries);
        let svg = drawing.finish();
        assert_eq!(svg.matches("y=\"50.0\"").count(), 3, "{svg}");
        for y in [90.0, 90.0 + LEGEND_ROW, 90.0 + 2.0 * LEGEND_ROW] {
            assert_eq!(svg.matches(&format!("y=\"{y:.1}\"")).count(), 1, "{svg}");
        }
    }
}
