// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events that the client process reports to its parent: lines of JSON.

use serde_json::{Value, json};

use super::oneways::flood::Sent;
use super::report::{Finding, Row, Verdict};

/// An event, one line of JSON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    /// A long step has begun.
    Step(String),
    /// An operation was checked.
    Checked(Finding),
    /// An operation was measured.
    Measured(Row),
    /// Oneways were sent and counted.
    Sent(Sent),
}

impl Event {
    pub(crate) fn to_line(&self) -> String {
        let value = match self {
            Self::Step(what) => json!({ "step": what }),
            Self::Checked(finding) => json!({ "checked": finding.to_json() }),
            Self::Measured(row) => json!({ "measured": row.to_json() }),
            Self::Sent(sent) => json!({ "sent": sent.to_json() }),
        };
        format!("{value}\n")
    }

    /// The event of a line; `None` if the line is no event.
    pub(crate) fn from_line(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let (kind, content) = value.as_object()?.iter().next()?;
        match kind.as_str() {
            "step" => Some(Self::Step(content.as_str()?.to_owned())),
            "checked" => Finding::from_json(content).map(Self::Checked),
            "measured" => Row::from_json(content).map(Self::Measured),
            "sent" => Sent::from_json(content).map(Self::Sent),
            _ => None,
        }
    }
}

impl Finding {
    pub(crate) fn to_json(&self) -> Value {
        let (outcome, reason) = match &self.verdict {
            Verdict::Passed => ("passed", None),
            Verdict::Failed(reason) => ("failed", Some(reason)),
            Verdict::Skipped(reason) => ("skipped", Some(reason)),
        };
        json!({ "name": self.name, "outcome": outcome, "reason": reason })
    }

    fn from_json(value: &Value) -> Option<Self> {
        let reason = || value["reason"].as_str().unwrap_or_default().to_owned();
        Some(Self {
            name: value["name"].as_str()?.to_owned(),
            verdict: match value["outcome"].as_str()? {
                "passed" => Verdict::Passed,
                "failed" => Verdict::Failed(reason()),
                _ => Verdict::Skipped(reason()),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::timing::Timing;

    #[test]
    fn events_survive_the_way_between_processes() {
        let timing = |median| Timing {
            median,
            p99: 2 * median,
            rate: 0.5,
        };
        let found = |verdict| {
            Event::Checked(Finding {
                name: "noop".into(),
                verdict,
            })
        };
        for event in [
            Event::Step("noop\n".into()),
            found(Verdict::Passed),
            found(Verdict::Failed("why".into())),
            found(Verdict::Skipped("because".into())),
            Event::Measured(Row {
                call: "echo".into(),
                orbium: timing(3),
                raw: timing(2),
                ratio: 1.5,
                least_ratio: 1.0,
                greatest_ratio: 2.0,
            }),
            Event::Sent(Sent {
                call: "post".into(),
                sent: 7,
                rate: 0.5,
                received: vec![7, 6],
            }),
        ] {
            let line = event.to_line();
            assert_eq!(line.matches('\n').count(), 1);
            assert_eq!(Event::from_line(&line), Some(event));
        }
        assert_eq!(Event::from_line("READY"), None);
        assert_eq!(Event::from_line("{}"), None);
    }
}
