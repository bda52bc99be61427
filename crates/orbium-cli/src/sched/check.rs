// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium sched check`: computes the schedule of requirements, and shows their errors.

use std::path::{Path, PathBuf};

use clap::Args;
use orbium_ridl::Requirements;
use orbium_sched::gantt::Chart;
use orbium_sched::{
    Criticality, Options, Overhead, Preemption, Repository, Schedule, Strategy, Time, call_tree,
    dot, source, summary,
};

use crate::failure::Failure;
use crate::idl::idl_files::FileArgs;
use crate::output;
use crate::sched::info_tables;

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// IDL files with `@rt` and `@calls` that make one program, or one table of RT_Infos (a file
    /// that does not end in `.idl`)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    idl: FileArgs,
    #[command(flatten)]
    analysis: AnalysisArgs,
    /// Columns of the chart; 0 leaves it out
    #[arg(long, value_name = "COLUMNS", default_value = "72")]
    width: usize,
    /// Write the chart as SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the graph of calls and data for Graphviz
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Write the schedule as Rust source, for programs to look priorities up in, if every deadline
    /// holds that the strategy guarantees
    #[arg(long, value_name = "FILE")]
    rust: Option<PathBuf>,
}

/// Parameters of the analysis.
#[derive(Debug, Args)]
pub(crate) struct AnalysisArgs {
    /// Scheduling strategy: rms, edf, mlf, muf or rms+mlf
    #[arg(long, value_name = "NAME", default_value = "rms")]
    strategy: Strategy,
    /// Whether runs of a queue by deadline or laxity preempt each other: non-preemptive, as in dispatchers
    /// and event channels, or preemptive
    #[arg(long, value_name = "KIND", default_value = "non-preemptive")]
    preemption: Preemption,
    /// Native priority of the least urgent queue
    #[arg(
        long,
        value_name = "NUMBER",
        default_value = "1",
        allow_negative_numbers = true
    )]
    min_priority: i32,
    /// Native priority of the most urgent queue
    #[arg(
        long,
        value_name = "NUMBER",
        default_value = "99",
        allow_negative_numbers = true
    )]
    max_priority: i32,
    /// Least criticality of the critical set
    #[arg(long, value_name = "CRITICALITY", default_value = "HIGH")]
    critical: Criticality,
    /// Read these costs from a file of `orbium sched calibrate`; the three options replace single
    /// ones
    #[arg(long, value_name = "FILE")]
    overhead: Option<PathBuf>,
    /// Cost of a call in the ORB, such as "20 us" [default: none]
    #[arg(long, value_name = "TIME")]
    call: Option<Time>,
    /// Cost of a context switch [default: none]
    #[arg(long, value_name = "TIME")]
    context_switch: Option<Time>,
    /// Longest time for which a less urgent queue can block [default: none]
    #[arg(long, value_name = "TIME")]
    blocking: Option<Time>,
}

impl AnalysisArgs {
    pub(crate) fn options(&self) -> Result<Options, Failure> {
        let of_file = self
            .overhead
            .as_deref()
            .map(info_tables::overhead)
            .transpose()?;
        let of_file = of_file.unwrap_or_default();
        Ok(Options {
            strategy: self.strategy,
            preemption: self.preemption,
            min_priority: self.min_priority,
            max_priority: self.max_priority,
            critical: self.critical,
            overhead: Overhead {
                call: self.call.unwrap_or(of_file.call),
                context_switch: self.context_switch.unwrap_or(of_file.context_switch),
                blocking: self.blocking.unwrap_or(of_file.blocking),
            },
        })
    }
}

pub(crate) fn run(args: &CheckArgs) -> Result<(), Failure> {
    let requirements = requirements(args)?;
    let options = args.analysis.options()?;
    let (repository, schedule) = info_tables::computed(&requirements, &options)?;
    let chart = Chart::new(&repository, &schedule, Chart::MAX_STEPS);
    save(args, &repository, &schedule, &chart)?;
    let mut text = summary(&repository, &schedule);
    text.push_str(&format!("\n{}", call_tree(&repository, &schedule)));
    if args.width > 0 {
        text.push_str(&format!("\n{}", chart.to_text(args.width)));
    }
    output::announce(&text)?;
    if schedule.is_sound() {
        Ok(())
    } else {
        Err(Failure::Shown)
    }
}

fn requirements(args: &CheckArgs) -> Result<Requirements, Failure> {
    let is_idl = |path: &PathBuf| path.extension().is_some_and(|it| it == "idl");
    match &args.files[..] {
        [file] if !is_idl(file) => info_tables::read(file),
        files if files.iter().all(is_idl) => Ok(Requirements::of(&args.idl.model(files)?)),
        _ => Err(Failure::wrong_usage(
            "a table is checked alone: it is the one file that does not end in `.idl`",
        )),
    }
}

fn save(
    args: &CheckArgs,
    repository: &Repository,
    schedule: &Schedule,
    chart: &Chart,
) -> Result<(), Failure> {
    if let Some(path) = &args.svg {
        write(path, &chart.to_svg())?;
    }
    if let Some(path) = &args.dot {
        write(path, &dot(repository, schedule))?;
    }
    // As in a configuration run, a schedule that does not hold replaces no other.
    if let Some(path) = &args.rust
        && schedule.is_sound()
    {
        let source = source(repository, schedule);
        write(
            path,
            &source.map_err(|it| Failure::because(it.to_string()))?,
        )?;
    }
    Ok(())
}

pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let shown = path.display();
    let unwritable = |error| Failure::because(format!("cannot write `{shown}`: {error}"));
    orbium_sys::write_whole(path, text.as_bytes()).map_err(unwritable)
}
