// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium doctor`: unsuitable settings of this host for real time, with advice.
//!
//! `orbium-host` examines, evaluates and reports; this module contains the command line.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;

use orbium_host::{CHECKS, Check, Examination, Facts, Severity, Tree};

use crate::failure::Failure;
use crate::output;

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
    /// No thread is started at a real-time priority then.
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The names of checks.
pub(crate) fn names() -> PossibleValuesParser {
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
        facts = facts.with_trial();
    }
    let is_wanted =
        |check: &Check| args.only.is_empty() || args.only.iter().any(|name| name == check.name);
    let examination = Examination::of(&facts, is_wanted);
    let text = if args.json {
        output::json_text(&examination.to_json())
    } else {
        examination.text()
    };
    output::announce(&text)?;
    match examination.count(Severity::Problem) {
        0 => Ok(()),
        _ => Err(Failure::ProblemsFound),
    }
}
