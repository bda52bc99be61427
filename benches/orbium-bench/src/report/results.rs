// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results of an experiment: a table, notes, a drawing and JSON. The files are also written during
//! an experiment, so that an aborted one leaves its results so far.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::figures::heading;
use super::page;
use super::row::{self, Row};
use crate::report::file::write;
use orbium_cli::Failure;
use orbium_cli::output;

/// Options of all experiments.
#[derive(Args, Debug)]
pub(crate) struct ResultArgs {
    /// Run for less than 40 seconds: a first look
    #[arg(long)]
    pub(crate) quick: bool,
    /// Write all results to this file, as JSON; until the end, the results so far
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Whether the tables are written into the page on priority inversion.
#[derive(Args, Debug)]
pub(crate) struct DocsArgs {
    /// Write the measured tables into docs/priority-inversion.md, in place of the old ones
    #[arg(long)]
    docs: bool,
}

/// The findings of an experiment.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) rows: Vec<Row>,
    pub(crate) notes: Vec<String>,
    /// The data of this experiment, an object.
    pub(crate) own: Value,
}

impl Results {
    /// Writes the results so far.
    pub(crate) fn keep(&self, args: &ResultArgs) -> Result<(), Failure> {
        self.write(args, false)
    }

    /// Prints the figures, the notes and the path of the drawing, and writes JSON.
    pub(crate) fn finish(&self, args: &ResultArgs, svg: Option<&Path>) -> Result<(), Failure> {
        output::print(&format!("\n{}\n", row::to_text(&self.rows)))?;
        for note in &self.notes {
            output::print(&format!("{note}\n"))?;
        }
        if let Some(svg) = svg {
            output::print(&format!("\nThe figures are in {}.\n", svg.display()))?;
        }
        self.write(args, true)
    }

    /// Writes the tables of an experiment into the page on performance, if that was requested.
    pub(crate) fn publish(
        &self,
        args: &DocsArgs,
        experiment: &str,
        quick: bool,
    ) -> Result<(), Failure> {
        if !args.docs {
            return Ok(());
        }
        let mut all = self.own.clone();
        all["notes"] = json!(self.notes);
        let heading = heading(quick);
        page::put_tables(experiment, &all, &heading).map_err(Failure::because)
    }

    fn write(&self, args: &ResultArgs, is_whole: bool) -> Result<(), Failure> {
        let Some(path) = &args.json else {
            return Ok(());
        };
        let mut all = self.own.clone();
        all["orbium"] = json!(env!("CARGO_PKG_VERSION"));
        all["quick"] = json!(args.quick);
        all["whole"] = json!(is_whole);
        all["rows"] = self.rows.iter().map(Row::to_json).collect();
        all["notes"] = json!(self.notes);
        write(path, &format!("{all:#}\n"))
    }
}
