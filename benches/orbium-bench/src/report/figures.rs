// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table, for people and for programs.

use std::fmt;
use std::process::Command;

use serde_json::{Value, json};

use crate::peer::closed_loop::Sample;
use crate::peer::contender::Peer;
use crate::report::bound::{Bound, Number};
use crate::statistics::ratios::{median, median_ratio};
use xtask::shell;

/// One figure of the table.
#[derive(Debug)]
pub(crate) struct Row {
    pub(super) figure: String,
    pub(super) must: Option<Bound>,
    aim: Option<f64>,
    /// The figure of omniORB, on this machine.
    pub(crate) omni: Option<f64>,
    /// The figure of orbium.
    pub(crate) orbium: Option<f64>,
}

impl Row {
    /// A figure with a bound.
    pub(crate) fn new(figure: impl Into<String>, must: Bound, aim: f64) -> Self {
        Self {
            must: Some(must),
            aim: Some(aim),
            ..Self::unbounded(figure)
        }
    }

    /// A figure with a bound and no further aim.
    pub(crate) fn bounded(figure: impl Into<String>, must: Bound) -> Self {
        Self {
            must: Some(must),
            ..Self::unbounded(figure)
        }
    }

    /// A figure without a bound.
    pub(crate) fn unbounded(figure: impl Into<String>) -> Self {
        Self {
            figure: figure.into(),
            must: None,
            aim: None,
            omni: None,
            orbium: None,
        }
    }

    /// Sets the value of a peer; that of raw sockets, to which the others are relative, has no
    /// column.
    pub(crate) fn set(&mut self, peer: Peer, value: Option<f64>) {
        match peer {
            Peer::Raw => {}
            Peer::Orbium => self.orbium = value,
            Peer::Omni => self.omni = value,
        }
    }

    /// The row with the values of all peers.
    pub(crate) fn with(mut self, values: impl IntoIterator<Item = (Peer, Option<f64>)>) -> Self {
        for (peer, value) in values {
            self.set(peer, value);
        }
        self
    }

    /// Whether the bound holds, if there are a bound and a value.
    fn passes(&self) -> Option<bool> {
        Some(self.must?.holds(self.orbium?))
    }

    fn objection(&self) -> String {
        let [figure, _, orbium, must, ..] = self.cells();
        format!("{figure}: {orbium}, which is not {must}")
    }

    fn cells(&self) -> [String; 6] {
        let number =
            |value: Option<f64>| value.map_or("–".into(), |value| Number(value).to_string());
        [
            self.figure.clone(),
            number(self.omni),
            number(self.orbium),
            self.must.map_or("–".into(), |must| must.to_string()),
            number(self.aim),
            match self.passes() {
                Some(true) => "yes".into(),
                Some(false) => "NO".into(),
                None => "–".into(),
            },
        ]
    }
}

/// The measurements of a peer for some work.
#[derive(Debug)]
pub(crate) struct Detail {
    pub(super) work: String,
    pub(super) peer: &'static str,
    /// In nanoseconds, as the next one.
    median: f64,
    p99: f64,
    over_raw: f64,
}

/// The medians of the repetitions.
fn medians(of: &[Sample]) -> Vec<f64> {
    of.iter().map(|sample| sample.median).collect()
}

/// The ratio of the median latency to that of the raw peer in the same repetition.
pub(crate) fn over_raw(of: &[Sample], raw: &[Sample]) -> Option<f64> {
    median_ratio(&medians(of), &medians(raw))
}

/// The rate as a fraction of that of the raw peer in the same repetition: the same work in more
/// time.
pub(crate) fn fraction_of_raw(of: &[Sample], raw: &[Sample]) -> Option<f64> {
    let totals = |of: &[Sample]| of.iter().map(|sample| sample.total).collect::<Vec<_>>();
    median_ratio(&totals(raw), &totals(of))
}

/// All measurements.
#[derive(Debug)]
pub(crate) struct Report {
    quick: bool,
    pub(crate) rows: Vec<Row>,
    pub(crate) details: Vec<Detail>,
    left_out: Vec<String>,
}

impl Report {
    /// An empty report.
    pub(crate) fn new(quick: bool) -> Self {
        Self {
            quick,
            rows: Vec::new(),
            details: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Records a measurement that was not possible, with the reason.
    pub(crate) fn left_out(&mut self, what: &str) {
        eprintln!("left out: {what}");
        self.left_out.push(what.to_owned());
    }

    /// The objections to the figures: missed bounds, and missing measurements.
    pub(crate) fn objections(&self) -> Vec<String> {
        let missed = self.rows.iter().filter(|row| row.passes() == Some(false));
        let unknown = self
            .rows
            .iter()
            .filter(|row| row.must.is_some() && row.orbium.is_none());
        missed
            .map(Row::objection)
            .chain(unknown.map(|row| format!("{}: not measured", row.figure)))
            .chain(self.left_out.iter().map(|what| format!("left out: {what}")))
            .collect()
    }

    /// The same as JSON.
    pub(crate) fn to_json(&self) -> String {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                json!({
                    "figure": row.figure,
                    "omniorb": row.omni,
                    "orbium": row.orbium,
                    "must": row.must.map(|must| must.to_string()),
                    "aim": row.aim,
                    "pass": row.passes(),
                })
            })
            .collect();
        let details: Vec<Value> = self
            .details
            .iter()
            .map(|detail| {
                json!({
                    "work": detail.work,
                    "peer": detail.peer,
                    "median_ns": detail.median,
                    "p99_ns": detail.p99,
                    "over_raw": detail.over_raw,
                })
            })
            .collect();
        let whole = json!({
            "machine": machine(),
            "commit": output("git", &["rev-parse", "HEAD"]),
            "quick": self.quick,
            "rows": rows,
            "latency": details,
            "left_out": self.left_out,
        });
        format!("{whole:#}\n")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", machine_and_commit())?;
        if self.quick {
            writeln!(f, "A quick look: the repetitions are too few for a result.")?;
        }
        writeln!(f)?;
        let head = ["figure", "omniORB here", "orbium", "must", "aim", "pass"];
        table(f, head, self.rows.iter().map(Row::cells))?;
        if !self.details.is_empty() {
            writeln!(f)?;
            let head = ["call", "peer", "median µs", "p99 µs", "calls/s", "over raw"];
            table(f, head, self.details.iter().map(Detail::cells))?;
        }
        for what in &self.left_out {
            writeln!(f, "\nLeft out: {what}")?;
        }
        Ok(())
    }
}

impl Detail {
    /// From the samples of a peer, and as many of the raw peer.
    pub(crate) fn new(work: String, peer: Peer, samples: &[Sample], raw: &[Sample]) -> Self {
        let tails: Vec<f64> = samples.iter().map(|sample| sample.p99).collect();
        Self {
            work,
            peer: peer.name(),
            median: median(&medians(samples)).unwrap_or(0.0),
            p99: median(&tails).unwrap_or(0.0),
            over_raw: over_raw(samples, raw).unwrap_or(0.0),
        }
    }

    /// The median in microseconds.
    pub(crate) fn microseconds(&self) -> f64 {
        self.median / 1e3
    }

    fn cells(&self) -> [String; 6] {
        [
            self.work.clone(),
            self.peer.to_owned(),
            format!("{:.2}", self.microseconds()),
            format!("{:.2}", self.p99 / 1e3),
            format!("{:.0}", 1e9 / self.median),
            format!("{:.2}", self.over_raw),
        ]
    }
}

/// A Markdown table with aligned columns, readable as text.
fn table(
    f: &mut fmt::Formatter<'_>,
    head: [&str; 6],
    rows: impl Iterator<Item = [String; 6]>,
) -> fmt::Result {
    let mut table = comfy_table::Table::new();
    table.load_preset(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header(head);
    table.add_rows(rows);
    writeln!(f, "{table}")
}

/// The machine of the measurement, and the commit of the project.
fn machine_and_commit() -> String {
    let commit = output("git", &["rev-parse", "--short", "HEAD"]);
    format!("{}; commit {commit}", machine())
}

/// The heading above the tables of a run in the page on performance.
pub(crate) fn heading(quick: bool) -> String {
    let quality = if quick {
        "a quick run, which is no result"
    } else {
        "a whole run"
    };
    format!("{}, {quality}:", machine_and_commit())
}

/// The machine of the measurement.
fn machine() -> String {
    let processor = std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        })
        .unwrap_or_else(|| "unknown processor".into());
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let governor = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
        .map_or_else(|_| "not adjustable".into(), |text| text.trim().to_owned());
    let kernel = output("uname", &["-sr"]);
    format!("{processor}, {count} processors, {kernel}, frequency governor {governor}")
}

/// The output of a program; empty on failure.
fn output(program: &str, arguments: &[&str]) -> String {
    std::process::Command::output(
        Command::new(program)
            .args(arguments)
            .current_dir(shell::root()),
    )
    .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(must: Bound, value: Option<f64>) -> Row {
        let mut row = Row::new("figure", must, 0.0);
        row.set(Peer::Orbium, value);
        row
    }

    #[test]
    fn figures_within_their_bounds_or_without_any_pass() {
        let mut report = Report::new(true);
        report.rows.push(row(Bound::AtMost(900.0), Some(900.0)));
        report.rows.push(row(Bound::AtLeast(0.75), Some(0.8)));
        report.rows.push(Row::unbounded("without a bound"));
        assert!(report.objections().is_empty());
    }

    #[test]
    fn figures_beyond_their_bounds_or_not_measured_fail() {
        let mut report = Report::new(true);
        report.rows.push(row(Bound::AtMost(900.0), Some(900.5)));
        report.rows.push(row(Bound::AtLeast(0.75), Some(0.74)));
        report.rows.push(row(Bound::AtMost(2.0), None));
        report.left_out("instructions: valgrind is not installed");
        let objections = report.objections();
        assert_eq!(objections.len(), 4);
        assert_eq!(objections[1], "figure: 0.74, which is not ≥ 0.75");
    }
}
