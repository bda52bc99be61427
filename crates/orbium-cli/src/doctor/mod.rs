// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium doctor`: what this host lacks for real time, and what mends it.
//!
//! Facts are read from files beneath a root ([`Facts`]), and judged without
//! looking at the host again ([`judge`]).

pub(crate) mod finding;
pub(crate) mod judge;
mod report;

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;

use crate::failure::Failure;
use crate::host::facts::Facts;
use crate::host::tree::Tree;
use crate::output;
use finding::{Finding, Severity};
use judge::{CHECKS, Check};

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 no problem was found, 1 the host could not be examined, \
                        2 the command line is wrong, 3 problems were found. Notes are no \
                        problems, nor is what the host does not tell."
)]
pub(crate) struct DoctorArgs {
    /// Check these alone
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = names())]
    only: Vec<String>,
    /// Examine the copy of a host: `proc`, `sys` and `etc` beneath a directory
    ///
    /// Nothing is tried then.
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(CHECKS.iter().map(|check| check.name))
}

pub(crate) fn run(args: &DoctorArgs) -> Result<(), Failure> {
    let root = args.root.as_deref().unwrap_or(Path::new("/"));
    let tree = Tree::at(root);
    if !tree.has("/proc") && !tree.has("/sys") {
        return Err(Failure::because(format!(
            "neither proc nor sys is in {}: only Linux can be examined",
            root.display()
        )));
    }
    let mut facts = Facts::collect(&tree);
    if args.root.is_none() {
        facts.fifo = try_fifo();
    }
    let is_wanted =
        |check: &&Check| args.only.is_empty() || args.only.iter().any(|name| name == check.name);
    let findings: Vec<(&Check, Finding)> = CHECKS
        .iter()
        .filter(is_wanted)
        .map(|check| (check, (check.judge)(&facts)))
        .collect();
    if args.json {
        output::print_json(&report::json(&facts.kernel, &findings))?;
    } else {
        output::print(&report::text(&facts.kernel, &findings))?;
    }
    match report::count(&findings, Severity::Problem) {
        0 => Ok(()),
        _ => Err(Failure::ProblemsFound),
    }
}

/// Whether a thread of ours is given SCHED_FIFO.
#[cfg(target_os = "linux")]
fn try_fifo() -> Option<Result<(), String>> {
    use orbium_sys::{RealTimeError, Scheduling};

    let tried = Scheduling::fifo(1).try_out();
    Some(tried.map_err(|error| match error {
        RealTimeError::PriorityNotPermitted(_) => "not permitted".to_owned(),
        other => other.to_string(),
    }))
}

/// Nothing to try.
#[cfg(not(target_os = "linux"))]
fn try_fifo() -> Option<Result<(), String>> {
    None
}

#[cfg(test)]
mod tests {
    use super::{DoctorArgs, run};
    use crate::failure::Failure;
    use crate::host::fake::FakeHost;

    fn examine(host: &FakeHost, only: &str) -> Result<(), Failure> {
        run(&DoctorArgs {
            only: vec![only.to_owned()],
            root: Some(host.root().to_owned()),
            json: false,
        })
    }

    #[test]
    fn problems_are_a_failure_and_notes_are_none() {
        let host = FakeHost::with(&[
            ("/proc/sys/kernel/version", "#1 SMP"),
            ("/proc/self/timerslack_ns", "50000"),
        ]);
        assert!(matches!(
            examine(&host, "preemption"),
            Err(Failure::ProblemsFound)
        ));
        assert!(examine(&host, "timer-slack").is_ok());
        assert!(examine(&host, "swap").is_ok());
    }
}
