// SPDX-License-Identifier: MIT OR Apache-2.0
//! Markdown tables and their cells.

use std::fmt::Write;

use serde_json::Value;

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A table: its heading, and a line for each row.
pub(super) struct Table(pub(super) String);

impl Table {
    pub(super) fn new(head: &[&str]) -> Self {
        let mut table = Self(String::new());
        table.line(head.iter().map(|cell| (*cell).to_owned()));
        table.line(head.iter().map(|_| "---".to_owned()));
        table
    }

    pub(super) fn line(&mut self, cells: impl IntoIterator<Item = String>) {
        for cell in cells {
            let _ = write!(self.0, "| {cell} ");
        }
        self.0.push_str("|\n");
    }
}

pub(super) fn name(of: &Value) -> String {
    let name = of["architecture"].as_str().or(of["name"].as_str());
    name.unwrap_or_default().to_owned()
}

pub(super) const NOTHING: &str = "–";

pub(super) fn cell(value: &Value, show: impl Fn(f64) -> String) -> String {
    value.as_f64().map_or_else(|| NOTHING.to_owned(), show)
}

/// Nanoseconds in a suitable unit.
pub(super) fn time(value: &Value) -> String {
    cell(value, |nanoseconds| match nanoseconds {
        value if value < 1e6 => format!("{:.0} µs", value / 1e3),
        value if value < 1e8 => format!("{:.1} ms", value / 1e6),
        value => format!("{:.0} ms", value / 1e6),
    })
}

/// Mean and standard deviation of latencies.
pub(super) fn jitter(of: &Value) -> String {
    let is_empty = of["calls"].as_u64().unwrap_or(0) == 0;
    if is_empty {
        return NOTHING.to_owned();
    }
    format!("{} ± {}", time(&of["mean_ns"]), time(&of["deviation_ns"]))
}

pub(super) fn places(value: &Value, places: usize) -> String {
    cell(value, |value| format!("{value:.places$}"))
}
