// SPDX-License-Identifier: MIT OR Apache-2.0
//! Report of the demonstration, as a table and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::columns::{CALL_WIDTH, CELL_WIDTH};
use super::oneways::flood::{self, Flood};
use super::place::Place;
use super::wake_up::WakeUp;
use crate::stage::timing::{Timing, latency, thousands};

/// An operation that was checked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    /// The name of the check.
    pub(crate) name: String,
    /// The outcome of the check.
    pub(crate) verdict: Verdict,
}

impl Finding {
    /// The check that a server ends when it is requested to.
    pub(crate) fn ended(outcome: Result<(), String>) -> Self {
        Self {
            name: "the server ends after shutdown()".into(),
            verdict: outcome.map_or_else(Verdict::Failed, |()| Verdict::Passed),
        }
    }
}

/// Outcome of a check.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// The answer is correct.
    Passed,
    /// The answer is wrong, with the reason.
    Failed(String),
    /// The check was not possible, with the reason.
    Skipped(String),
}

/// The figures of an operation and of the raw peer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// The operation, for people.
    pub(crate) call: String,
    /// The ORB's figures.
    pub(crate) orbium: Timing,
    /// The raw peer's.
    pub(crate) raw: Timing,
    /// Median of the rounds' ratios of median latencies, ORB over raw.
    pub(crate) ratio: f64,
    /// The least ratio of a round.
    pub(crate) least_ratio: f64,
    /// The greatest ratio of a round.
    pub(crate) greatest_ratio: f64,
}

impl Row {
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "call": self.call,
            "orbium": self.orbium.to_json(),
            "raw": self.raw.to_json(),
            "ratio": self.ratio,
            "least_ratio": self.least_ratio,
            "greatest_ratio": self.greatest_ratio,
        })
    }

    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            call: value["call"].as_str()?.to_owned(),
            orbium: Timing::from_json(&value["orbium"])?,
            raw: Timing::from_json(&value["raw"])?,
            ratio: value["ratio"].as_f64()?,
            least_ratio: value["least_ratio"].as_f64()?,
            greatest_ratio: value["greatest_ratio"].as_f64()?,
        })
    }
}

/// Measurements of one protocol with the processes in one place.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    /// The protocol.
    pub(crate) protocol: &'static str,
    /// The kind of the raw peer.
    pub(crate) raw: &'static str,
    /// The CPUs of client and server.
    pub(crate) place: Place,
    /// One row for each operation.
    pub(crate) rows: Vec<Row>,
}

impl Section {
    /// The title of the section: protocol and placement, in a line.
    pub(crate) fn title(&self) -> String {
        let protocol = self.protocol;
        match self.place {
            Place::Together(cpu) => format!("{protocol}, one processor: both on CPU {cpu}"),
            Place::Split { client, server } => format!(
                "{protocol}, one processor each: client on CPU {client}, server on CPU {server}"
            ),
            Place::Free => format!("{protocol}, free"),
        }
    }
}

/// All results.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    /// The checks, by protocol.
    pub(crate) checks: Vec<(&'static str, Vec<Finding>)>,
    /// The measurements.
    pub(crate) sections: Vec<Section>,
    /// The cost of a thread's wake-up on this host.
    pub(crate) wake_up: Option<WakeUp>,
    /// The measurements of oneways.
    pub(crate) floods: Vec<Flood>,
    /// Steps that were not possible, in sentences.
    pub(crate) notes: Vec<String>,
}

impl Report {
    /// The number of failed checks.
    pub(crate) fn failures(&self) -> usize {
        let all = self.checks.iter().flat_map(|(_, findings)| findings);
        all.filter(|finding| matches!(finding.verdict, Verdict::Failed(_)))
            .count()
    }

    /// The checks and the tables, for people.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        for (protocol, findings) in &self.checks {
            write_checks(&mut text, protocol, findings);
        }
        for section in &self.sections {
            write_table(&mut text, section, self.wake_up);
        }
        if !self.sections.is_empty() {
            text.push_str(
                "\nratio: median latency of orbium over that of the raw peer, which moves messages of the\n\
                 same sizes. Both take turns in rounds; shown are the median, least and greatest.\n",
            );
            if let Some(wake_up) = self.wake_up {
                text.push_str(&wake_up.explanation());
            }
        }
        for flood in &self.floods {
            flood.write(&mut text);
        }
        if !self.floods.is_empty() {
            text.push_str(flood::EXPLANATION);
        }
        for note in &self.notes {
            let _ = write!(text, "\n{note}\n");
        }
        text
    }

    pub(crate) fn to_json(&self) -> Value {
        let checks = self.checks.iter().map(|(protocol, findings)| {
            let findings: Value = findings.iter().map(Finding::to_json).collect();
            json!({ "protocol": protocol, "checks": findings })
        });
        let sections = self.sections.iter().map(|section| {
            let rows: Value = section.rows.iter().map(Row::to_json).collect();
            let mut value = section.place.to_json();
            value["protocol"] = json!(section.protocol);
            value["raw"] = json!(section.raw);
            value["rows"] = rows;
            value
        });
        json!({
            "orbium": env!("CARGO_PKG_VERSION"),
            "cpus": std::thread::available_parallelism().map(usize::from).unwrap_or(1),
            "checks": checks.collect::<Value>(),
            "wake_up": self.wake_up.map(WakeUp::to_json),
            "measurements": sections.collect::<Value>(),
            "oneways": self.floods.iter().map(Flood::to_json).collect::<Value>(),
            "notes": self.notes,
        })
    }
}

fn write_checks(text: &mut String, protocol: &str, findings: &[Finding]) {
    let (mut passed, mut skipped, mut failed) = (0, 0, 0);
    let mut reasons = String::new();
    for finding in findings {
        match &finding.verdict {
            Verdict::Passed => passed += 1,
            Verdict::Skipped(reason) => {
                skipped += 1;
                let _ = writeln!(reasons, "  skipped {}: {reason}", finding.name);
            }
            Verdict::Failed(reason) => {
                failed += 1;
                let _ = writeln!(reasons, "  FAILED  {}: {reason}", finding.name);
            }
        }
    }
    let _ = write!(text, "{protocol}: {passed} checks passed");
    if skipped > 0 {
        let _ = write!(text, ", {skipped} skipped");
    }
    if failed > 0 {
        let _ = write!(text, ", {failed} FAILED");
    }
    let _ = write!(text, "\n{reasons}");
}

fn write_table(text: &mut String, section: &Section, wake_up: Option<WakeUp>) {
    let group = 3 * CELL_WIDTH;
    let is_split = matches!(section.place, Place::Split { .. });
    let note = wake_up.filter(|_| is_split).map(WakeUp::note);
    let note = note.map_or_else(String::new, |text| format!(" ({text})"));
    let _ = writeln!(text, "\n{}{note}", section.title());
    let _ = writeln!(
        text,
        "{:CALL_WIDTH$}{:>group$}   {:>group$}",
        "", "orbium", section.raw
    );
    let _ = write!(text, "{:CALL_WIDTH$}", "call");
    for _ in 0..2 {
        for heading in ["median", "p99", "calls/s"] {
            let _ = write!(text, "{heading:>CELL_WIDTH$}");
        }
        text.push_str("   ");
    }
    text.push_str(" ratio   of rounds\n");
    for row in &section.rows {
        let _ = write!(text, "{:CALL_WIDTH$}", row.call);
        for timing in [&row.orbium, &row.raw] {
            let cells = [
                latency(timing.median),
                latency(timing.p99),
                thousands(timing.rate),
            ];
            for cell in cells {
                let _ = write!(text, "{cell:>CELL_WIDTH$}");
            }
            text.push_str("   ");
        }
        let (ratio, least, greatest) = (row.ratio, row.least_ratio, row.greatest_ratio);
        let _ = writeln!(text, "{ratio:>6.2}   {least:.2} to {greatest:.2}");
    }
}
