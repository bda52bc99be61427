// SPDX-License-Identifier: MIT OR Apache-2.0
//! The measurements as an SVG drawing: one panel for each section, latency on
//! a logarithmic axis, a line for the ORB and one for the raw peer per call.

use super::report::{Row, Section};
use super::timing::{Timing, latency};
use crate::drawing::{Drawing, escaped};

const WIDTH: f64 = 900.0;
/// Where the axis begins and ends.
const LEFT: f64 = 190.0;
const RIGHT: f64 = 800.0;
const HEADER: f64 = 84.0;
const PANEL_TITLE: f64 = 36.0;
const ROW: f64 = 38.0;
const PANEL_FOOT: f64 = 40.0;
const ORBIUM: &str = "#c2410c";
const RAW: &str = "#475569";

/// Draws all sections, one below the other.
pub(crate) fn draw(sections: &[Section]) -> String {
    let panel = |section: &Section| PANEL_TITLE + ROW * section.rows.len() as f64 + PANEL_FOOT;
    let height = HEADER + sections.iter().map(panel).sum::<f64>();
    let mut svg = Drawing::new("Calls through orbium beside raw sockets", WIDTH, height);
    legend(&mut svg);
    let scale = Scale::over(sections);
    let mut top = HEADER;
    for section in sections {
        draw_panel(&mut svg, section, &scale, top);
        top += panel(section);
    }
    svg.finish()
}

fn legend(svg: &mut Drawing) {
    let y = 56.0;
    let sample = Timing {
        median: 1,
        p99: 2,
        rate: 0.0,
    };
    for (x, colour, name) in [
        (20.0, ORBIUM, "orbium"),
        (130.0, RAW, "raw peer, same sizes"),
    ] {
        mark(svg, x, x + 24.0, y, colour, &sample, name);
        svg.text(x + 34.0, y + 4.5, "", name);
    }
    let explanation =
        "point: median; line: up to the 99th percentile; ratio: orbium over raw, medians";
    svg.text(330.0, y + 4.5, "fill=\"#666\"", explanation);
}

/// A logarithmic axis over whole decades of nanoseconds.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn over(sections: &[Section]) -> Self {
        let rows = sections.iter().flat_map(|section| &section.rows);
        let timings = rows.flat_map(|row| [row.orbium, row.raw]);
        let (mut least, mut greatest) = (f64::INFINITY, 0.0_f64);
        for timing in timings {
            least = least.min(timing.median.max(1) as f64);
            greatest = greatest.max(timing.p99.max(timing.median) as f64);
        }
        if least.is_infinite() {
            return Self {
                low: 3.0,
                high: 6.0,
            };
        }
        let low = least.log10().floor();
        let high = greatest.max(1.0).log10().ceil().max(low + 1.0);
        Self { low, high }
    }

    fn x(&self, nanoseconds: u64) -> f64 {
        let position = (nanoseconds.max(1) as f64).log10() - self.low;
        LEFT + (RIGHT - LEFT) * position / (self.high - self.low)
    }

    /// Where lines are drawn: 1, 2 and 5 of each decade.
    fn ticks(&self) -> Vec<u64> {
        let decades = self.low as u32..=self.high as u32;
        decades
            .flat_map(|decade| [1, 2, 5].map(|step| step * 10_u64.pow(decade.min(18))))
            .filter(|tick| (*tick as f64).log10() <= self.high + 1e-9)
            .collect()
    }
}

fn draw_panel(svg: &mut Drawing, section: &Section, scale: &Scale, top: f64) {
    svg.text(20.0, top + 20.0, "font-weight=\"bold\"", &section.title());
    let first = top + PANEL_TITLE;
    let bottom = first + ROW * section.rows.len() as f64;
    for tick in scale.ticks() {
        let x = scale.x(tick);
        let is_decade = tick.to_string().starts_with('1');
        let colour = if is_decade { "#bbb" } else { "#eee" };
        svg.line((x, first), (x, bottom), colour);
        if !is_decade && scale.high - scale.low > 3.0 {
            // There is no room for all labels.
            continue;
        }
        let label = tick_label(tick);
        svg.text(
            x,
            bottom + 16.0,
            "text-anchor=\"middle\" font-size=\"11\" fill=\"#666\"",
            &label,
        );
    }
    svg.text(RIGHT + 24.0, top + 20.0, "font-weight=\"bold\"", "ratio");
    for (index, row) in section.rows.iter().enumerate() {
        draw_row(svg, row, scale, first + ROW * (index as f64 + 0.5));
    }
}

fn draw_row(svg: &mut Drawing, row: &Row, scale: &Scale, middle: f64) {
    svg.text(LEFT - 14.0, middle + 4.5, "text-anchor=\"end\"", &row.call);
    let peers = [
        (&row.orbium, -7.0, ORBIUM, "orbium"),
        (&row.raw, 7.0, RAW, "raw peer"),
    ];
    for (timing, offset, colour, name) in peers {
        let (from, to) = (scale.x(timing.median), scale.x(timing.p99));
        mark(svg, from, to, middle + offset, colour, timing, name);
    }
    let ratio = format!("{:.2}", row.ratio);
    svg.text(RIGHT + 24.0, middle + 4.5, "font-weight=\"bold\"", &ratio);
}

/// A point at the median, and a line to the 99th percentile.
fn mark(svg: &mut Drawing, from: f64, to: f64, y: f64, colour: &str, timing: &Timing, name: &str) {
    svg.add(format_args!(
        "<g stroke=\"{colour}\" fill=\"{colour}\"><title>{}: median {}, p99 {}</title>\
         <line x1=\"{from:.1}\" y1=\"{y:.1}\" x2=\"{to:.1}\" y2=\"{y:.1}\" stroke-width=\"2\"/>\
         <line x1=\"{to:.1}\" y1=\"{:.1}\" x2=\"{to:.1}\" y2=\"{:.1}\" stroke-width=\"2\"/>\
         <circle cx=\"{from:.1}\" cy=\"{y:.1}\" r=\"4.5\"/></g>",
        escaped(name),
        latency(timing.median),
        latency(timing.p99),
        y - 4.0,
        y + 4.0,
    ));
}

/// A round number of nanoseconds.
fn tick_label(nanoseconds: u64) -> String {
    match nanoseconds {
        0..=999 => format!("{nanoseconds} ns"),
        1_000..=999_999 => format!("{} µs", nanoseconds / 1_000),
        1_000_000..=999_999_999 => format!("{} ms", nanoseconds / 1_000_000),
        _ => format!("{} s", nanoseconds / 1_000_000_000),
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
        let svg = draw(&[section(5_000, 70_000)]);
        assert!(svg.contains("a &lt; b &amp; c"));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn no_figure_leaves_the_axis() {
        for (median, p99) in [(0, 0), (1, 1), (999, 1_000), (1_000, 1_000), (7, u64::MAX)] {
            let sections = [section(median, p99)];
            let scale = Scale::over(&sections);
            for figure in [median, p99] {
                let x = scale.x(figure);
                assert!((LEFT - 0.1..=RIGHT + 0.1).contains(&x), "{figure}: {x}");
            }
            assert!(!draw(&sections).contains("NaN"));
        }
        assert!(!draw(&[]).contains("NaN"));
    }

    #[test]
    fn ticks_cover_the_axis() {
        let scale = Scale {
            low: 3.0,
            high: 4.0,
        };
        assert_eq!(scale.ticks(), [1_000, 2_000, 5_000, 10_000]);
    }
}
