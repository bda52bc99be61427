// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium host`: plans, applies and undoes the changes that `orbium doctor` advises.
//!
//! A plan is a text for the administrator: a step for each setting, with its present and its new
//! value. Applying it writes a journal first, so that every step can be undone; changes that cannot
//! be undone are not steps, and are listed for the administrator.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, Subcommand};

use orbium_host::{Journal, Napi, Plan, PlanRequest, Refusal, Steer, Tree};

use crate::doctor::names;
use crate::failure::Failure;
use crate::output;

/// The journal of the host itself.
const JOURNAL: &str = "/var/lib/orbium/host-journal.toml";

#[derive(Debug, Args)]
pub(crate) struct HostArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print a plan: the settings that would change, and those left to the administrator
    Plan(PlanArgs),
    /// Apply a plan, with a journal of the previous settings
    Apply(ApplyArgs),
    /// Undo an applied plan, by its journal
    Undo(UndoArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Nothing is changed. Some settings only root can read.")]
struct PlanArgs {
    /// Change the settings of these checks of `orbium doctor` only
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = names())]
    only: Vec<String>,
    /// Let kernel threads receive for an interface (threaded NAPI), with SCHED_FIFO at a priority
    #[arg(long, value_name = "INTERFACE=PRIORITY", value_parser = Napi::from_str)]
    napi: Vec<Napi>,
    /// Steer the packets of a port to a receive queue of an interface (ntuple filters)
    #[arg(long, value_name = "INTERFACE:PORT=QUEUE", value_parser = Steer::from_str)]
    steer: Vec<Steer>,
    /// Raise the limits of a user, or of a @group
    #[arg(long, value_name = "USER", value_parser = user)]
    user: Option<String>,
    /// Write the plan to a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 the plan is in force, except for interrupts that the kernel does \
                  not move; these are listed. 1 nothing was changed, or what was changed is as \
                  before. 3 a step failed, and steps that could not be undone are left in the \
                  journal."
)]
struct ApplyArgs {
    /// The plan, as `orbium host plan` prints it; `-` is standard input
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 everything is as before, 3 steps are left in the journal: \
                        their settings were changed by others, or refused."
)]
struct UndoArgs {
    #[command(flatten)]
    place: Place,
}

/// The host to change.
#[derive(Debug, Args)]
struct Place {
    /// The journal
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Work on the copy of a host: `proc`, `sys`, `etc` and `var` below a directory
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

impl Place {
    fn tree(&self) -> Tree {
        Tree::at(self.root.as_deref().unwrap_or(Path::new("/")))
    }

    fn journal(&self) -> Journal {
        let file = match (&self.journal, &self.root) {
            (Some(file), _) => file.clone(),
            (None, Some(root)) => root.join(JOURNAL.trim_start_matches('/')),
            (None, None) => PathBuf::from(JOURNAL),
        };
        Journal::at(file)
    }
}

/// The name of a user, or of a group behind `@`.
fn user(text: &str) -> Result<String, String> {
    if orbium_host::is_user(text) {
        Ok(text.to_owned())
    } else {
        Err("not the name of a user, nor of a @group".to_owned())
    }
}

pub(crate) fn run(args: &HostArgs) -> Result<(), Failure> {
    match &args.command {
        Command::Plan(args) => print_plan(args),
        Command::Apply(args) => carry_out(args),
        Command::Undo(args) => take_back(args),
    }
}

fn print_plan(args: &PlanArgs) -> Result<(), Failure> {
    let request = PlanRequest {
        only: &args.only,
        napi: &args.napi,
        steer: &args.steer,
        user: args.user.as_deref(),
    };
    let plan = orbium_host::plan(&args.place.tree(), &request).map_err(Failure::because)?;
    let text = plan.text().map_err(Failure::because)?;
    match &args.output {
        None => output::print(&text),
        Some(file) => orbium_sys::write_whole(file, text.as_bytes())
            .map_err(|error| Failure::because(format!("{}: {error}", file.display()))),
    }
}

fn carry_out(args: &ApplyArgs) -> Result<(), Failure> {
    let plan = read(&args.plan)?;
    let applied = orbium_host::apply(&plan, &args.place.tree(), &args.place.journal());
    let applied = applied.map_err(|refusal| refused(&refusal))?;
    let mut text = String::new();
    for step in &applied.left {
        let _ = writeln!(text, "left    {step}");
    }
    let done = applied.done;
    let _ = writeln!(text, "{done} steps are done; orbium host undo undoes them");
    output::print(&text)
}

fn refused(refusal: &Refusal) -> Failure {
    match refusal {
        Refusal::Failed { left, .. } if !left.is_empty() => {
            output::error(&refusal.to_string());
            Failure::ProblemsFound
        }
        _ => Failure::because(refusal.to_string()),
    }
}

fn take_back(args: &UndoArgs) -> Result<(), Failure> {
    let report =
        orbium_host::undo(&args.place.tree(), &args.place.journal()).map_err(Failure::because)?;
    output::announce(&report.text())?;
    if report.left.is_empty() {
        Ok(())
    } else {
        Err(Failure::ProblemsFound)
    }
}

/// A plan from a file or from standard input.
fn read(file: &Path) -> Result<Plan, Failure> {
    let read = match file.to_str() {
        Some("-") => Plan::read(std::io::stdin()),
        _ => fs::File::open(file)
            .map_err(|error| error.to_string())
            .and_then(Plan::read),
    };
    read.map_err(|why| Failure::because(format!("{}: {why}", file.display())))
}
