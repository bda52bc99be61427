// SPDX-License-Identifier: MIT OR Apache-2.0
//! Charts as SVG, by plotters: rows of panels of bars or lines below a legend.

pub mod bars;
pub mod canvas;
pub mod lines;

use std::fmt;

use plotters::prelude::{
    Color, FontStyle, IntoDrawingArea, IntoFont, RGBColor, Rectangle, SVGBackend, Text, WHITE,
};

use bars::Group;
use canvas::{Canvas, DrawError, Drawn, FONT};
use lines::{Axis, Line, MARK, Stroke};

/// Error of a drawing.
#[derive(Clone, PartialEq, Eq)]
pub struct DrawingFailed(String);

impl fmt::Display for DrawingFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot draw: {}", self.0)
    }
}

impl fmt::Debug for DrawingFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for DrawingFailed {}

impl From<DrawingFailed> for String {
    fn from(failed: DrawingFailed) -> Self {
        failed.to_string()
    }
}

/// A drawing.
#[derive(Debug)]
pub struct Chart {
    /// At the top.
    pub title: &'static str,
    /// In pixels.
    pub width: u32,
    /// Below the title.
    pub legend: Vec<Entry>,
    /// From top to bottom.
    pub rows: Vec<Row>,
}

/// A series in the legend.
#[derive(Debug)]
pub struct Entry {
    /// Its text.
    pub name: String,
    /// The colour of its bars or lines.
    pub colour: RGBColor,
    /// `None` for bars.
    pub stroke: Option<Stroke>,
}

/// Panels side by side.
#[derive(Debug)]
pub struct Row {
    /// In pixels.
    pub height: u32,
    /// The panels from left to right, of equal width.
    pub panels: Vec<Panel>,
}

/// A plot.
#[derive(Debug)]
pub struct Panel {
    /// Above it.
    pub title: String,
    /// The content.
    pub content: Content,
    /// The text at a grid line.
    pub label: fn(f64) -> String,
}

/// The content of a panel.
#[derive(Debug)]
pub enum Content {
    /// Groups of bars.
    Bars(Vec<Group>),
    /// Lines over an axis.
    Lines(Axis, Vec<Line>),
}

/// The height of the title, of the heading of a panel and of a row of the legend.
const TITLE: u32 = 44;
const HEADING: u32 = 30;
const LEGEND: u32 = 20;

impl Entry {
    /// A series of bars.
    pub fn bar(name: &str, colour: RGBColor) -> Self {
        Self {
            name: name.to_owned(),
            colour,
            stroke: None,
        }
    }

    /// The series of a line.
    pub fn line(line: &Line) -> Self {
        Self {
            name: line.name.clone(),
            colour: line.colour,
            stroke: Some(line.stroke),
        }
    }
}

impl Chart {
    /// The drawing as an SVG document.
    ///
    /// # Errors
    /// plotters fails.
    pub fn to_svg(&self) -> Result<String, DrawingFailed> {
        let mut svg = String::new();
        let failed = |error: DrawError| DrawingFailed(error.to_string());
        self.draw(&mut svg).map_err(failed)?;
        Ok(svg)
    }

    fn draw(&self, svg: &mut String) -> Drawn {
        let places = legend_places(self.width, &self.legend);
        let legend = places.last().map_or(0, |place| place.1 + LEGEND);
        let rows: u32 = self.rows.iter().map(|row| row.height).sum();
        let size = (self.width, TITLE + legend + rows + 8);
        let root = SVGBackend::with_string(svg, size).into_drawing_area();
        root.fill(&WHITE)?;
        let bold = (FONT, 18).into_font().style(FontStyle::Bold);
        root.draw(&Text::new(self.title, (20, 14), bold))?;
        let (_, below) = root.split_vertically(TITLE);
        let (top, mut below) = below.split_vertically(legend);
        for (entry, place) in self.legend.iter().zip(places) {
            entry.draw(&top, place)?;
        }
        for row in &self.rows {
            let (own, rest) = below.split_vertically(row.height);
            let panels = own.split_evenly((1, row.panels.len().max(1)));
            for (panel, area) in row.panels.iter().zip(panels) {
                panel.draw(&area)?;
            }
            below = rest;
        }
        root.present()
    }
}

impl Entry {
    fn draw(&self, canvas: &Canvas<'_>, (x, y): (u32, u32)) -> Drawn {
        let (x, y) = (x as i32, y as i32);
        match self.stroke {
            None => {
                let corners = [(x, y), (x + 12, y + 12)];
                canvas.draw(&Rectangle::new(corners, self.colour.filled()))?;
            }
            Some(stroke) => lines::mark(canvas, (x, y + 6), self.colour, stroke)?,
        }
        let text = (x + self.mark() as i32, y);
        canvas.draw(&Text::new(self.name.as_str(), text, (FONT, 12)))
    }

    /// The width of its mark, including the space behind.
    fn mark(&self) -> u32 {
        5 + self.stroke.map_or(12, |_| MARK)
    }
}

impl Panel {
    fn draw(&self, canvas: &Canvas<'_>) -> Drawn {
        let bold = (FONT, 13).into_font().style(FontStyle::Bold);
        canvas.draw(&Text::new(self.title.as_str(), (20, 10), bold))?;
        let (_, plot) = canvas.split_vertically(HEADING);
        match &self.content {
            Content::Bars(groups) => bars::draw(&plot, groups, &self.label),
            Content::Lines(axis, lines) => lines::draw(&plot, *axis, lines, &self.label),
        }
    }
}

/// The positions of the entries of a legend, in as many rows as they need.
fn legend_places(right: u32, entries: &[Entry]) -> Vec<(u32, u32)> {
    let (mut x, mut y) = (20, 0);
    let place = |entry: &Entry| {
        let wide = entry.mark() + 21 + 7 * entry.name.chars().count() as u32;
        if x > 20 && x + wide > right {
            x = 20;
            y += LEGEND;
        }
        let place = (x, y);
        x += wide;
        place
    };
    entries.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::canvas::colour;
    use super::*;

    fn drawn(content: Content) -> String {
        let panel = Panel {
            title: "a < b & c".to_owned(),
            content,
            label: |value| format!("{value:.1}"),
        };
        let chart = Chart {
            title: "title",
            width: 600,
            legend: vec![Entry::bar("a name", colour(0))],
            rows: vec![Row {
                height: 300,
                panels: vec![panel],
            }],
        };
        let svg = chart.to_svg().unwrap();
        assert!(
            svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
            "{svg}"
        );
        assert!(!svg.contains("NaN"), "{svg}");
        assert!(svg.contains("a name") && svg.contains("title"), "{svg}");
        assert!(svg.contains("a &lt; b &amp; c"), "{svg}");
        svg
    }

    #[test]
    fn bars_and_lines_are_drawn_in_their_colours() {
        let bar = bars::Bar::single(2.0, colour(1), "two".to_owned());
        let group = Group {
            label: "below".to_owned(),
            bars: vec![Some(bar), None],
        };
        let svg = drawn(Content::Bars(vec![group]));
        for part in ["two", "below", "#EA580C"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        for (stroke, axis) in [
            (Stroke::Whole, Axis::linear([5.0])),
            (Stroke::Dashed, Axis::logarithmic([1.0, 5.0])),
            (Stroke::Dotted, Axis::logarithmic([1.0, 5.0])),
        ] {
            let line = Line {
                name: "line".to_owned(),
                colour: colour(2),
                stroke,
                points: vec![(1.0, 1.0), (8.0, 5.0)],
            };
            let svg = drawn(Content::Lines(axis, vec![line]));
            assert_eq!(svg.matches("<circle").count(), 2, "{svg}");
            assert!(svg.contains("#1E3A8A"), "{svg}");
        }
    }

    #[test]
    fn an_empty_panel_is_drawn() {
        drawn(Content::Bars(Vec::new()));
        drawn(Content::Lines(Axis::linear([]), Vec::new()));
    }

    #[test]
    fn a_legend_that_is_too_wide_continues_below() {
        let entries = ["a long name", "another", "x"].map(|name| Entry::bar(name, colour(0)));
        let rows = |right| {
            legend_places(right, &entries)
                .into_iter()
                .map(|place| place.1)
        };
        assert!(rows(2000).eq([0, 0, 0]));
        assert!(rows(100).eq([0, LEGEND, 2 * LEGEND]));
    }
}
