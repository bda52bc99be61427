// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask bench`: orbium compared with a raw socket and omniORB on this machine.
//!
//! Client and server share one processor, so that what is measured is software
//! and not the wake-up of another processor. Every repetition starts fresh
//! processes, and the peers take turns within it, so that a slow spell of the
//! machine meets them all; ratios are taken within a repetition.

mod callgrind;
mod counts;
mod experiments;
mod flood;
mod latency;
mod peer;
mod pipelined;
mod programs;
mod protocols;
mod report;
mod scale;
mod server;
mod statistics;
mod way;

use std::path::PathBuf;

use programs::Programs;
use report::Report;

use crate::outcome::Outcome;

/// What can be measured on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Figure {
    Latency,
    Flood,
    Pipelined,
    Instructions,
    Syscalls,
    Scale,
    Protocols,
    Experiments,
}

impl Figure {
    const ALL: [Self; 8] = [
        Self::Latency,
        Self::Flood,
        Self::Pipelined,
        Self::Instructions,
        Self::Syscalls,
        Self::Scale,
        Self::Protocols,
        Self::Experiments,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Flood => "flood",
            Self::Pipelined => "pipelined",
            Self::Instructions => "instructions",
            Self::Syscalls => "syscalls",
            Self::Scale => "scale",
            Self::Protocols => "protocols",
            Self::Experiments => "experiments",
        }
    }
}

struct Options {
    figures: Vec<Figure>,
    quick: bool,
    check: bool,
    docs: bool,
    json: Option<PathBuf>,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Outcome<Self> {
        let mut options = Self {
            figures: Vec::new(),
            quick: false,
            check: false,
            docs: false,
            json: None,
        };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--quick" => options.quick = true,
                "--check" => options.check = true,
                "--docs" => options.docs = true,
                "--json" => {
                    let file = arguments.next().ok_or("bench: --json needs a file")?;
                    options.json = Some(file.into());
                }
                "all" => options.figures.extend(Figure::ALL),
                name => {
                    let figure = Figure::ALL.into_iter().find(|figure| figure.name() == name);
                    options
                        .figures
                        .push(figure.ok_or_else(|| format!("bench: there is no figure {name}"))?);
                }
            }
        }
        if options.figures.is_empty() {
            options.figures.extend(Figure::ALL);
        }
        Ok(options)
    }
}

/// Measures, and prints the table.
///
/// # Errors
/// Something could not be built or did not run. A figure that misses its bound,
/// or that could not be measured, stands in the table, and is an error if it was
/// asked to check them.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Outcome<()> {
    let options = Options::parse(arguments)?;
    let scale = [Figure::Scale, Figure::Instructions];
    let with_scale = options.figures.iter().any(|it| scale.contains(it));
    let programs = Programs::build(with_scale)?;
    let mut report = Report::new(options.quick);
    for figure in &options.figures {
        eprintln!("== {}", figure.name());
        match figure {
            Figure::Latency => latency::measure(&programs, options.quick, &mut report)?,
            Figure::Flood => flood::measure(&programs, options.quick, &mut report)?,
            Figure::Pipelined => pipelined::measure(&programs, options.quick, &mut report)?,
            Figure::Instructions => counts::instructions(&programs, options.quick, &mut report)?,
            Figure::Syscalls => counts::syscalls(&programs, options.quick, &mut report)?,
            Figure::Scale => scale::measure(&programs, options.quick, &mut report)?,
            Figure::Protocols => protocols::measure(&programs, options.quick, &mut report)?,
            Figure::Experiments => {
                let manner = experiments::Manner {
                    quick: options.quick,
                    publishes: options.docs,
                };
                experiments::measure(&programs, manner, &mut report)?;
            }
        }
    }
    println!("{report}");
    if let Some(file) = &options.json {
        std::fs::write(file, report.to_json())
            .map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let objections = report.objections();
    if options.check && !objections.is_empty() {
        return Err(format!("bench: {}", objections.join("\n       ")));
    }
    Ok(())
}
