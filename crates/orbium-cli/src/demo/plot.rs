// SPDX-License-Identifier: MIT OR Apache-2.0
//! The measurements as an SVG drawing: one panel for each section, latency on
//! a logarithmic axis, for each call a line for the ORB and one for the raw peer.

use std::io;

use plotters::coord::Shift;
use plotters::prelude::{
    ChartBuilder, Circle, Color, DrawingArea, DrawingAreaErrorKind, FontStyle, IntoDrawingArea,
    IntoFont, IntoLogRange, IntoTextStyle, PathElement, RGBColor, SVGBackend, Text, WHITE,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::report::{Row, Section};
use crate::failure::Failure;
use crate::stage::timing::Timing;

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<io::Error>>;

const FONT: &str = "sans-serif";
const WIDTH: u32 = 900;
const HEADER: u32 = 84;
const PANEL_TITLE: u32 = 30;
const ROW: u32 = 38;
const PANEL_FOOT: u32 = 44;
/// The width of the names of calls on the left, and of their ratios on the right.
const NAMES: u32 = 190;
const RATIOS: u32 = 100;
const ORBIUM: RGBColor = RGBColor(0xc2, 0x41, 0x0c);
const RAW: RGBColor = RGBColor(0x47, 0x55, 0x69);
const GREY: RGBColor = RGBColor(0x66, 0x66, 0x66);

/// Draws all sections, one below the other.
///
/// # Errors
/// plotters cannot draw it.
pub(crate) fn draw(sections: &[Section]) -> Result<String, Failure> {
    let mut svg = String::new();
    draw_all(&mut svg, sections)
        .map_err(|error| Failure::because(format!("cannot draw the plot: {error}")))?;
    Ok(svg)
}

fn draw_all(svg: &mut String, sections: &[Section]) -> Drawn {
    let height = HEADER + sections.iter().map(height_of).sum::<u32>();
    let root = SVGBackend::with_string(svg, (WIDTH, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let bold = (FONT, 18).into_font().style(FontStyle::Bold);
    root.draw(&Text::new(
        "Calls through orbium beside raw sockets",
        (20, 14),
        bold,
    ))?;
    let (header, mut below) = root.split_vertically(HEADER);
    draw_legend(&header)?;
    let decades = decades(sections);
    for section in sections {
        let (panel, rest) = below.split_vertically(height_of(section));
        draw_panel(&panel, section, decades)?;
        below = rest;
    }
    root.present()
}

fn height_of(section: &Section) -> u32 {
    PANEL_TITLE + rows_height(section) + PANEL_FOOT
}

fn rows_height(section: &Section) -> u32 {
    ROW * u32::try_from(section.rows.len()).unwrap_or(u32::MAX / ROW)
}

fn draw_legend(canvas: &Canvas<'_>) -> Drawn {
    let y = 56;
    for (x, colour, name) in [(20, ORBIUM, "orbium"), (130, RAW, "raw peer, same sizes")] {
        let line = vec![(x, y), (x + 24, y)];
        canvas.draw(&PathElement::new(line, colour.stroke_width(2)))?;
        canvas.draw(&Circle::new((x, y), 4, colour.filled()))?;
        canvas.draw(&Text::new(name, (x + 34, y - 7), (FONT, 13)))?;
    }
    let explanation =
        "point: median; line: up to the 99th percentile; ratio: orbium over raw, medians";
    let grey = (FONT, 13).into_font().color(&GREY);
    canvas.draw(&Text::new(explanation, (330, y - 7), grey))
}

/// The powers of ten of nanoseconds that enclose all latencies.
fn decades(sections: &[Section]) -> (i32, i32) {
    let rows = sections.iter().flat_map(|section| &section.rows);
    let timings = rows.flat_map(|row| [row.orbium, row.raw]);
    let logarithms = timings.flat_map(|timing| [timing.median, timing.p99].map(logarithm));
    let ends = logarithms.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    match ends {
        (low, high) if low > high => (3, 6),
        (low, high) => {
            let low = low.floor() as i32;
            (low, (high.ceil() as i32).max(low + 1))
        }
    }
}

fn logarithm(nanoseconds: u64) -> f64 {
    (nanoseconds.max(1) as f64).log10()
}

fn draw_panel(canvas: &Canvas<'_>, section: &Section, (low, high): (i32, i32)) -> Drawn {
    let bold = (FONT, 13).into_font().style(FontStyle::Bold);
    canvas.draw(&Text::new(section.title(), (20, 8), bold.clone()))?;
    let right = (WIDTH - RATIOS + 24) as i32;
    canvas.draw(&Text::new("ratio", (right, 8), bold.clone()))?;
    let (_, plot) = canvas.split_vertically(PANEL_TITLE);
    let (rows, _) = plot.split_vertically(rows_height(section) + 30);
    let across = (10_f64.powi(low)..10_f64.powi(high)).log_scale();
    let count = section.rows.len() as f64;
    let mut chart = ChartBuilder::on(&rows)
        .margin_left(NAMES)
        .margin_right(RATIOS)
        .x_label_area_size(30)
        .build_cartesian_2d(across, count..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .x_labels(12)
        .x_label_formatter(&|nanoseconds| label(*nanoseconds))
        .label_style((FONT, 11).with_color(GREY))
        .draw()?;
    for (index, row) in section.rows.iter().enumerate() {
        let middle = index as f64 + 0.5;
        for (timing, offset, colour) in [(row.orbium, -0.18, ORBIUM), (row.raw, 0.18, RAW)] {
            let y = middle + offset;
            let [from, to] = ends(timing);
            let line = PathElement::new(vec![(from, y), (to, y)], colour.stroke_width(2));
            chart.draw_series([line])?;
            chart.draw_series([Circle::new((from, y), 4, colour.filled())])?;
        }
        let y = (ROW as f64 * middle) as i32;
        draw_texts(&plot, row, y)?;
    }
    Ok(())
}

/// The median and the 99th percentile, in nanoseconds.
fn ends(timing: Timing) -> [f64; 2] {
    [timing.median, timing.p99].map(|nanoseconds| nanoseconds.max(1) as f64)
}

/// The call on the left, the ratio on the right.
fn draw_texts(canvas: &Canvas<'_>, row: &Row, y: i32) -> Drawn {
    let left = (FONT, 13).into_text_style(canvas);
    let left = left.pos(Pos::new(HPos::Right, VPos::Center));
    canvas.draw(&Text::new(row.call.as_str(), (NAMES as i32 - 14, y), left))?;
    let bold = (FONT, 13).into_font().style(FontStyle::Bold);
    let right = bold.into_text_style(canvas);
    let right = right.pos(Pos::new(HPos::Left, VPos::Center));
    let x = (WIDTH - RATIOS + 24) as i32;
    canvas.draw(&Text::new(format!("{:.2}", row.ratio), (x, y), right))
}

/// Nanoseconds at a grid line.
fn label(nanoseconds: f64) -> String {
    match nanoseconds {
        ..1e3 => format!("{nanoseconds} ns"),
        ..1e6 => format!("{} µs", nanoseconds / 1e3),
        ..1e9 => format!("{} ms", nanoseconds / 1e6),
        _ => format!("{} s", nanoseconds / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::place::Place;

    fn section(median: u64, p99: u64) -> Section {
        let timing = Timing {
            median,
            p99,
            rate: 1.0,
        };
        let row = Row {
            call: "a < b & c".into(),
            orbium: timing,
            raw: timing,
            ratio: 1.0,
            least_ratio: 1.0,
            greatest_ratio: 1.0,
        };
        Section {
            protocol: "IIOP",
            raw: "raw TCP socket",
            place: Place::Free,
            rows: vec![row],
        }
    }

    #[test]
    fn text_is_escaped() {
        let svg = draw(&[section(5_000, 70_000)]).unwrap();
        assert!(svg.contains("a &lt; b &amp; c"), "{svg}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn every_latency_is_on_the_axis() {
        for (median, p99) in [(0, 0), (1, 1), (999, 1_000), (1_000, 1_000), (7, u64::MAX)] {
            let sections = [section(median, p99)];
            let (low, high) = decades(&sections);
            for figure in [median, p99] {
                let at = logarithm(figure);
                assert!(f64::from(low) <= at && at <= f64::from(high), "{figure}");
            }
            assert!(!draw(&sections).unwrap().contains("NaN"));
        }
        assert!(!draw(&[]).unwrap().contains("NaN"));
    }
}
