// SPDX-License-Identifier: MIT OR Apache-2.0
//! Profile of one side: the median time of each step over many calls, less the overhead of the
//! probes.

use std::collections::BTreeMap;
use std::path::Path;

use orbium::probe::{self, Call, Point, Role};
use serde_json::{Value, json};

use crate::report::file;
use orbium_cli::Failure;
use orbium_cli::stage::timing::median;

/// Nanoseconds of each step of a call on one side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    /// The number of recorded calls.
    pub(crate) calls: usize,
    /// By the name of the step.
    steps: BTreeMap<String, f64>,
    /// All steps of a call together, probes included: the median.
    pub(crate) total: f64,
    /// The overhead of a probe.
    pub(crate) overhead: f64,
}

/// Writes the profile of one side of this process to a file.
pub(crate) fn write(role: Role, path: &Path) -> Result<(), Failure> {
    let calls = probe::calls(role);
    let overhead = probe::overhead().as_nanos() as f64;
    let step = |point: Point| {
        let of = |call: &Call| {
            let (nanoseconds, probes) = call.step(point);
            (f64::from(nanoseconds) - overhead * f64::from(probes)).max(0.0)
        };
        let all: Vec<_> = calls.iter().map(of).collect();
        (format!("{point:?}"), median(&all))
    };
    let total = |call: &Call| {
        let steps = Point::ALL
            .iter()
            .map(|point| f64::from(call.step(*point).0));
        steps.sum::<f64>()
    };
    let totals: Vec<_> = calls.iter().map(total).collect();
    let steps: BTreeMap<String, f64> = Point::ALL.into_iter().map(step).collect();
    let whole = json!({
        "calls": calls.len(),
        "steps": steps,
        "total": median(&totals),
        "overhead": overhead,
    });
    file::write(path, &format!("{whole}\n"))
}

impl Profile {
    /// Reads a file of `write`.
    pub(crate) fn read(file: &str) -> Result<Self, Failure> {
        let unreadable = |reason: String| Failure::because(format!("`{file}`: {reason}"));
        let text = std::fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
        let value: Value =
            serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        let steps = value["steps"].as_object().into_iter().flatten();
        let steps = steps.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)));
        let profile = Self {
            calls: value["calls"].as_u64().unwrap_or(0) as usize,
            steps: steps.collect(),
            total: value["total"].as_f64().unwrap_or(0.0),
            overhead: value["overhead"].as_f64().unwrap_or(0.0),
        };
        if profile.calls == 0 {
            return Err(unreadable("no call was seen".to_owned()));
        }
        Ok(profile)
    }

    /// Nanoseconds of one step.
    pub(crate) fn step(&self, point: Point) -> f64 {
        self.steps
            .get(&format!("{point:?}"))
            .copied()
            .unwrap_or(0.0)
    }

    /// Nanoseconds of several steps.
    pub(crate) fn steps(&self, points: &[Point]) -> f64 {
        points.iter().map(|point| self.step(*point)).sum()
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({
            "calls": self.calls,
            "nanoseconds": self.steps,
            "total": self.total,
            "overhead_of_a_probe": self.overhead,
        })
    }
}
