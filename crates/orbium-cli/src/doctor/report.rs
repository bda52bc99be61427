// SPDX-License-Identifier: MIT OR Apache-2.0
//! The findings as a table and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use orbium_host::{Check, Finding, Kernel, Severity};

/// Columns of a line of text.
const WIDTH: usize = 80;
/// Where the reasons start.
const INDENT: usize = 10;

/// All findings, each with its check.
pub(super) type Findings = [(&'static Check, Finding)];

/// How many are of a severity.
pub(super) fn count(findings: &Findings, severity: Severity) -> usize {
    let is_wanted = |finding: &&(&Check, Finding)| finding.1.severity == severity;
    findings.iter().filter(is_wanted).count()
}

/// A line for each check, with reason and remedy where something is wrong, and
/// a line of sums.
pub(super) fn text(kernel: &Kernel, findings: &Findings) -> String {
    let mut out = String::new();
    if let Some(release) = &kernel.release {
        let _ = writeln!(out, "Linux {release}\n");
    }
    for (check, finding) in findings {
        let severity = finding.severity.word();
        let _ = writeln!(out, "{severity:<9} {:<15} {}", check.name, finding.found);
        if !finding.mend.is_empty() {
            wrap(&mut out, check.why);
            let _ = writeln!(out, "{:INDENT$}mend: {}", "", finding.mend);
        }
    }
    let _ = writeln!(
        out,
        "\n{}, {}, {} ok, {} unknown",
        counted(count(findings, Severity::Problem), "problem"),
        counted(count(findings, Severity::Note), "note"),
        count(findings, Severity::Ok),
        count(findings, Severity::Unknown),
    );
    out
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

/// The same for programs.
pub(super) fn json(kernel: &Kernel, findings: &Findings) -> Value {
    let checks: Vec<_> = findings
        .iter()
        .map(|(check, finding)| {
            let mend = (!finding.mend.is_empty()).then_some(&finding.mend);
            json!({
                "name": check.name,
                "severity": finding.severity.word(),
                "found": finding.found,
                "why": check.why,
                "mend": mend,
            })
        })
        .collect();
    json!({
        "kernel": { "release": kernel.release, "version": kernel.version },
        "problems": count(findings, Severity::Problem),
        "notes": count(findings, Severity::Note),
        "ok": count(findings, Severity::Ok),
        "unknown": count(findings, Severity::Unknown),
        "checks": checks,
    })
}

#[cfg(test)]
mod tests {
    use orbium_host::{CHECKS, Facts, Finding, Severity, Tree};

    use super::{json, text};

    fn finding(severity: Severity, found: &str, mend: &str) -> Finding {
        Finding {
            severity,
            found: found.to_owned(),
            mend: mend.to_owned(),
        }
    }

    #[test]
    fn remedies_follow_what_is_wrong() {
        let mut kernel = Facts::collect(&Tree::at("/nowhere".as_ref())).kernel;
        kernel.release = Some("6.1.0".to_owned());
        let findings = [
            (&CHECKS[0], finding(Severity::Problem, "bad", "do this")),
            (&CHECKS[1], finding(Severity::Ok, "good", "")),
        ];
        assert_eq!(
            text(&kernel, &findings),
            "Linux 6.1.0\n\n\
             problem   preemption      bad\n          \
             Until the kernel lets go of a CPU, the thread that should serve the\n          \
             request waits.\n          \
             mend: do this\n\
             ok        rt-priority     good\n\n\
             1 problem, 0 notes, 1 ok, 0 unknown\n"
        );
        let report = json(&kernel, &findings);
        assert_eq!(report["problems"], 1);
        assert_eq!(report["checks"][0]["mend"], "do this");
        assert!(report["checks"][1]["mend"].is_null());
        assert!(report["kernel"]["version"].is_null());
    }
}
