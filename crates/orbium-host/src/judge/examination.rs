// SPDX-License-Identifier: MIT OR Apache-2.0
//! The findings of a host as a table and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::facts::{Facts, Kernel};
use crate::finding::{Finding, Severity};
use crate::judge::{CHECKS, Check};

/// Columns of a line of text.
const WIDTH: usize = 80;
/// The column at which the reasons start.
const INDENT: usize = 10;

/// The findings of checks on a host.
///
/// ```
/// use orbium_host::{Examination, Facts, Severity, Tree};
/// use std::path::Path;
///
/// let facts = Facts::collect(&Tree::at(Path::new("/")));
/// let examination = Examination::of(&facts, |check| check.name == "preemption");
/// print!("{}", examination.text());
/// assert_eq!(examination.to_json()["checks"][0]["name"], "preemption");
/// assert!(examination.count(Severity::Problem) <= 1);
/// ```
#[derive(Clone, Debug)]
pub struct Examination {
    /// The kernel of the host.
    pub kernel: Kernel,
    /// All findings, each with its check.
    pub findings: Vec<(&'static Check, Finding)>,
}

impl Examination {
    /// Evaluates the selected checks for the facts.
    #[must_use]
    pub fn of(facts: &Facts, is_wanted: impl Fn(&Check) -> bool) -> Self {
        let wanted = CHECKS.iter().filter(|check| is_wanted(check));
        Self {
            kernel: facts.kernel.clone(),
            findings: wanted.map(|check| (check, check.judge(facts))).collect(),
        }
    }

    /// The number of findings of a severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        let is_of = |finding: &&(&Check, Finding)| finding.1.severity == severity;
        self.findings.iter().filter(is_of).count()
    }

    /// A line for each check, with reason and advice for problems, and a line of sums.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        if let Some(release) = &self.kernel.release {
            let _ = writeln!(out, "Linux {release}\n");
        }
        for (check, finding) in &self.findings {
            let severity = finding.severity.word();
            let _ = writeln!(out, "{severity:<9} {:<15} {}", check.name, finding.found);
            if !finding.remedy.is_empty() {
                wrap(&mut out, check.why);
                let _ = writeln!(out, "{:INDENT$}remedy: {}", "", finding.remedy);
            }
        }
        let _ = writeln!(
            out,
            "\n{}, {}, {} ok, {} unknown",
            counted(self.count(Severity::Problem), "problem"),
            counted(self.count(Severity::Note), "note"),
            self.count(Severity::Ok),
            self.count(Severity::Unknown),
        );
        out
    }

    /// The same as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let check = |(check, finding): &(&Check, Finding)| {
            let remedy = (!finding.remedy.is_empty()).then_some(&finding.remedy);
            json!({
                "name": check.name,
                "severity": finding.severity.word(),
                "found": finding.found,
                "why": check.why,
                "remedy": remedy,
            })
        };
        json!({
            "kernel": { "release": self.kernel.release, "version": self.kernel.version },
            "problems": self.count(Severity::Problem),
            "notes": self.count(Severity::Note),
            "ok": self.count(Severity::Ok),
            "unknown": self.count(Severity::Unknown),
            "checks": self.findings.iter().map(check).collect::<Vec<_>>(),
        })
    }
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Breaks a sentence between words.
fn wrap(out: &mut String, sentence: &str) {
    let mut column = 0;
    for word in sentence.split_whitespace() {
        if column == 0 {
            let _ = write!(out, "{:INDENT$}{word}", "");
            column = INDENT + word.len();
        } else if column + 1 + word.len() > WIDTH {
            let _ = write!(out, "\n{:INDENT$}{word}", "");
            column = INDENT + word.len();
        } else {
            let _ = write!(out, " {word}");
            column += 1 + word.len();
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    fn finding(severity: Severity, found: &str, remedy: &str) -> Finding {
        Finding {
            severity,
            found: found.to_owned(),
            remedy: remedy.to_owned(),
        }
    }

    #[test]
    fn remedies_follow_what_is_wrong() {
        let mut kernel = Facts::collect(&Tree::at("/nowhere".as_ref())).kernel;
        kernel.release = Some("6.1.0".to_owned());
        let findings = vec![
            (&CHECKS[0], finding(Severity::Problem, "bad", "do this")),
            (&CHECKS[1], finding(Severity::Ok, "good", "")),
        ];
        let examination = Examination { kernel, findings };
        assert_eq!(
            examination.text(),
            "Linux 6.1.0\n\n\
             problem   preemption      bad\n          \
             Until the kernel lets go of a CPU, the thread that should serve the\n          \
             request waits.\n          \
             remedy: do this\n\
             ok        rt-priority     good\n\n\
             1 problem, 0 notes, 1 ok, 0 unknown\n"
        );
        let report = examination.to_json();
        assert_eq!(report["problems"], 1);
        assert_eq!(report["checks"][0]["remedy"], "do this");
        assert!(report["checks"][1]["remedy"].is_null());
        assert!(report["kernel"]["version"].is_null());
    }
}
