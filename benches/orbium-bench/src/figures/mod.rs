// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command `figures`: orbium, a raw socket and omniORB on this machine.
//!
//! Client and server share one processor, so that software is measured and not the wake-up of
//! another processor. Every repetition starts new processes, and the peers alternate within it, so
//! that a slow period of the machine affects all of them; ratios are computed within a repetition.

pub(crate) mod collocated;
mod counts;
pub(crate) mod experiments;
mod flood;
mod latency;
mod outside;
mod pipelined;
mod protocols;
mod scale;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use orbium_cli::Failure;
use xtask::outcome::Outcome;

use crate::peer::built::Programs;
use crate::report::figures::Report;
use crate::report::file;

/// A group of figures that can be measured separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Figure {
    /// Closed loops of one client
    Latency,
    /// Oneways of 1 to 64 KiB
    Flood,
    /// Asynchronous calls, 512 outstanding over one connection
    Pipelined,
    /// Calls within one ORB
    Collocated,
    /// Instructions and allocations per call, by callgrind
    Instructions,
    /// System calls per call, by strace
    Syscalls,
    /// Instructions of a program outside this workspace
    Outside,
    /// Many objects and many operations
    Scale,
    /// Calls over Unix sockets, shared memory and TLS
    Protocols,
    /// inversion, threads and locks, with the peers built
    Experiments,
    /// All figures
    All,
}

#[derive(Args, Debug)]
pub(crate) struct FiguresArgs {
    /// Figures to measure [default: all]
    figures: Vec<Figure>,
    /// Fewer and shorter runs: a first look, not a result
    #[arg(long)]
    quick: bool,
    /// Fail if a figure misses its bound or cannot be measured
    #[arg(long)]
    check: bool,
    /// Put the tables and drawings of the experiments into docs/
    #[arg(long)]
    docs: bool,
    /// Write every figure also to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw bounded figures and latencies to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl FiguresArgs {
    fn figures(&self) -> Vec<Figure> {
        if self.figures.is_empty() || self.figures.contains(&Figure::All) {
            let all = Figure::value_variants().iter().copied();
            return all.filter(|figure| *figure != Figure::All).collect();
        }
        self.figures.clone()
    }
}

/// Measures, and prints the table.
///
/// # Errors
/// A program could not be built or did not run. With `--check` also a figure that misses its bound
/// or could not be measured.
pub(crate) fn run(args: &FiguresArgs) -> Result<(), Failure> {
    let report = measure(args).map_err(Failure::because)?;
    println!("{report}");
    if let Some(path) = &args.json {
        file::write(path, &report.to_json())?;
    }
    if let Some(path) = &args.svg {
        file::write(path, &report.to_svg()?)?;
    }
    let objections = report.objections();
    if args.check && !objections.is_empty() {
        return Err(Failure::because(objections.join("\n       ")));
    }
    Ok(())
}

fn measure(args: &FiguresArgs) -> Outcome<Report> {
    let figures = args.figures();
    let scale = [Figure::Scale, Figure::Instructions];
    let with_scale = figures.iter().any(|it| scale.contains(it));
    let programs = Programs::build(with_scale)?;
    let mut report = Report::new(args.quick);
    for figure in figures {
        eprintln!("== {}", format!("{figure:?}").to_lowercase());
        measure_one(figure, args, &programs, &mut report)?;
    }
    Ok(report)
}

fn measure_one(
    figure: Figure,
    args: &FiguresArgs,
    programs: &Programs,
    report: &mut Report,
) -> Outcome<()> {
    match figure {
        Figure::Latency => latency::measure(programs, args.quick, report),
        Figure::Flood => flood::measure(programs, args.quick, report),
        Figure::Pipelined => pipelined::measure(programs, args.quick, report),
        Figure::Collocated => collocated::measure(args.quick, report),
        Figure::Instructions => counts::instructions(programs, args.quick, report),
        Figure::Syscalls => counts::syscalls(programs, args.quick, report),
        Figure::Outside => outside::measure(programs, args.quick, report),
        Figure::Scale => scale::measure(programs, args.quick, report),
        Figure::Protocols => protocols::measure(programs, args.quick, report),
        Figure::Experiments => {
            let manner = experiments::Manner {
                quick: args.quick,
                publishes: args.docs,
            };
            experiments::measure(programs, manner, report)
        }
        Figure::All => Ok(()),
    }
}
