// SPDX-License-Identifier: MIT OR Apache-2.0
//! The drawing of a report: latencies by peer, and each figure with its bound.

use orbium_cli::Failure;

use super::bound::{Bound, Number};
use super::figures::{Detail, Report, Row};
use crate::peer::contender::Peer;
use orbium_bench_chart::bars::{Bar, Group, upright_labels};
use orbium_bench_chart::canvas::colour;
use orbium_bench_chart::{Chart, Content, Entry, Panel, Row as Panels};

/// In the order of the bars of a group.
const PEERS: [Peer; 3] = [Peer::Raw, Peer::Orbium, Peer::Omni];

/// Maximum length of a bar in bounds; a longer one is truncated, with its value above it.
const MAX_BOUNDS: f64 = 4.0;

/// The height of a plot without the labels below it, in pixels.
const PLOT: u32 = 300;

impl Report {
    /// The drawing as an SVG document. Figures that were not measured have no bar, and panels
    /// without bars are left out.
    ///
    /// # Errors
    /// plotters fails.
    pub(crate) fn to_svg(&self) -> Result<String, Failure> {
        let upper = |bound: Bound| matches!(bound, Bound::AtMost(_));
        let panels = [
            ("Median of a call, µs", latencies(&self.details)),
            (
                "Held to an upper bound: the value, drawn in parts of the bound",
                bounded(&self.rows, upper),
            ),
            (
                "Held to a lower bound: the value, drawn in parts of the bound",
                bounded(&self.rows, |bound| !upper(bound)),
            ),
        ];
        let drawn = panels.into_iter().filter(|(_, groups)| !groups.is_empty());
        let chart = Chart {
            title: "orbium beside raw sockets and omniORB",
            width: 1200,
            legend: PEERS
                .map(|peer| Entry::bar(peer.name(), colour_of(peer)))
                .into(),
            rows: drawn.map(|(title, groups)| panel(title, groups)).collect(),
        };
        chart.to_svg().map_err(Failure::because)
    }
}

fn panel(title: &str, groups: Vec<Group>) -> Panels {
    let lengths = groups.iter().map(|group| group.label.chars().count());
    Panels {
        height: PLOT + upright_labels(lengths.max().unwrap_or(0)),
        panels: vec![Panel {
            title: title.to_owned(),
            content: Content::Bars(groups),
            label: |value| format!("{value:.1}"),
        }],
    }
}

fn colour_of(peer: Peer) -> plotters::prelude::RGBColor {
    colour(match peer {
        Peer::Raw => 7,
        Peer::Orbium => 2,
        Peer::Omni => 1,
    })
}

/// A group for each kind of call, in the order in which they were measured.
fn latencies(details: &[Detail]) -> Vec<Group> {
    let mut works: Vec<&str> = Vec::new();
    for detail in details {
        if !works.contains(&detail.work.as_str()) {
            works.push(&detail.work);
        }
    }
    let group = |work: &str| Group {
        label: work.to_owned(),
        bars: PEERS
            .map(|peer| {
                let own = |detail: &&Detail| detail.work == work && detail.peer == peer.name();
                let median = details.iter().find(own)?.microseconds();
                let label = Number(median).to_string();
                Some(Bar::single(median, colour_of(peer), label))
            })
            .into(),
    };
    works.into_iter().map(group).collect()
}

/// A group for each row with such a bound.
fn bounded(rows: &[Row], is_drawn: impl Fn(Bound) -> bool) -> Vec<Group> {
    let group = |row: &Row| {
        let must = row.must.filter(|must| is_drawn(*must))?;
        let bar = |(peer, value): (Peer, Option<f64>)| {
            let value = value?;
            let parts = (value / must.limit()).min(MAX_BOUNDS);
            let label = Number(value).to_string();
            Some(Bar::single(parts, colour_of(peer), label))
        };
        let bars = [(Peer::Orbium, row.orbium), (Peer::Omni, row.omni)];
        Some(Group {
            label: format!("{} {must}", row.figure),
            bars: bars.map(bar).into(),
        })
    };
    rows.iter().filter_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(figure: &str, must: Bound, orbium: f64, omni: f64) -> Row {
        let values = [(Peer::Orbium, Some(orbium)), (Peer::Omni, Some(omni))];
        Row::bounded(figure, must).with(values)
    }

    #[test]
    fn values_are_drawn_in_parts_of_their_bounds_and_end_at_the_most() {
        let rows = [
            row("instructions", Bound::AtMost(900.0), 450.0, 9000.0),
            row("flood", Bound::AtLeast(0.5), 0.75, 0.25),
            Row::unbounded("no bound"),
        ];
        let parts = |upper: bool| {
            let groups = bounded(&rows, |bound| matches!(bound, Bound::AtMost(_)) == upper);
            assert_eq!(groups.len(), 1);
            let bars = groups[0].bars.iter().flatten();
            bars.map(|bar| (bar.parts[0].0, bar.label.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(parts(true), [(0.5, "450".into()), (4.0, "9000".into())]);
        assert_eq!(parts(false), [(1.5, "0.75".into()), (0.5, "0.25".into())]);
    }

    #[test]
    fn a_report_is_drawn_with_what_it_has() {
        let mut report = Report::new(true);
        assert!(!report.to_svg().unwrap().contains("bound"));
        report
            .rows
            .push(row("a figure", Bound::AtMost(2.0), 1.25, 3.5));
        let svg = report.to_svg().unwrap();
        for part in ["a figure ≤ 2.00", "1.25", "3.50", "upper bound", "omniORB"] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        assert!(!svg.contains("lower bound"), "{svg}");
    }
}
