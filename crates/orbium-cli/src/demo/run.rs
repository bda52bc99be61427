// SPDX-License-Identifier: MIT OR Apache-2.0
//! The demonstration: server, raw peer and client, checked and measured.

use std::path::{Path, PathBuf};

use clap::Args;

use super::child::Process;
use super::client::CASES;
use super::event::Event;
use super::progress::Progress;
use super::report::{Finding, Report, Section, Verdict};
use super::{pin, plot};
use crate::failure::Failure;
use crate::output;

/// A protocol to call over, and where a server listens for it.
struct Protocol {
    name: &'static str,
    endpoint: &'static str,
}

/// Every protocol there is. What is added here is checked, measured, printed
/// and drawn.
const PROTOCOLS: &[Protocol] = &[Protocol {
    name: "IIOP",
    endpoint: "iiop://127.0.0.1:0",
}];

// No documentation comment: it would become the help of the whole command.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Measure for a few seconds only
    #[arg(long)]
    quick: bool,
    /// Where to draw the plot
    #[arg(long, value_name = "FILE", default_value = "orbium-demo.svg")]
    svg: PathBuf,
    /// Write everything found to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// How long to measure.
#[derive(Clone, Copy)]
struct Effort {
    rounds: usize,
    /// Milliseconds.
    slice: usize,
}

impl Effort {
    const QUICK: Self = Self {
        rounds: 5,
        slice: 20,
    };
    const WHOLE: Self = Self {
        rounds: 15,
        slice: 40,
    };
}

pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    let effort = if args.quick {
        Effort::QUICK
    } else {
        Effort::WHOLE
    };
    for path in [Some(&args.svg), args.json.as_ref()].into_iter().flatten() {
        check_folder(path)?;
    }
    let report = find_out(effort)?;
    output::print(&report.to_text())?;
    write(&args.svg, &plot::draw(&report.sections))?;
    output::print(&format!("\nThe plot is in {}.\n", args.svg.display()))?;
    if let Some(path) = &args.json {
        write(path, &format!("{:#}\n", report.to_json()))?;
    }
    match report.failures() {
        0 => Ok(()),
        1 => Err(Failure::because("a check failed, see above")),
        n => Err(Failure::because(format!("{n} checks failed, see above"))),
    }
}

/// What can be known before half a minute of measuring.
fn check_folder(path: &Path) -> Result<(), Failure> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(Failure::because(format!(
            "cannot write `{}`: there is no such folder",
            path.display()
        ))),
        _ => Ok(()),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|error| Failure::because(format!("cannot write `{}`: {error}", path.display())))
}

fn find_out(effort: Effort) -> Result<Report, Failure> {
    let mut report = Report::default();
    let mut places = vec![None];
    match pin::choose() {
        Some(cpu) => places.insert(0, Some(cpu)),
        None => report.notes.push(
            "Not measured with both processes pinned to one CPU, which this system does not offer."
                .into(),
        ),
    }
    let steps = 1 + places.len() * (1 + CASES.len() * effort.rounds);
    let mut progress = Progress::new(PROTOCOLS.len() * steps);
    for protocol in PROTOCOLS {
        let mut checks = Vec::new();
        for (turn, place) in places.iter().enumerate() {
            let stage = Stage {
                protocol,
                cpu: *place,
                effort,
                is_first: turn == 0,
            };
            let rows = stage.play(&mut progress, &mut checks)?;
            report.sections.push(rows);
        }
        report.checks.push((protocol.name, checks));
    }
    Ok(report)
}

/// One server, one raw peer and one client, all in one place.
struct Stage<'a> {
    protocol: &'a Protocol,
    cpu: Option<usize>,
    effort: Effort,
    /// The first one also checks.
    is_first: bool,
}

impl Stage<'_> {
    fn play(&self, progress: &mut Progress, checks: &mut Vec<Finding>) -> Result<Section, Failure> {
        let place = if self.cpu.is_some() { "pinned" } else { "free" };
        progress.step(&format!("{}, {place}: starting", self.protocol.name));
        let mut server = self.start(
            "server",
            &[
                "demo",
                "serve",
                "--until-input-ends",
                "--endpoint",
                self.protocol.endpoint,
            ],
        )?;
        let references = server.lines_until_ready()?;
        let mut raw = self.start("raw peer", &["demo", "raw", "serve", "--until-input-ends"])?;
        let raw_address = raw.lines_until_ready()?.concat();
        let mut client = self.start_client(&references, &raw_address)?;
        let mut rows = Vec::new();
        while let Some(line) = client.line()? {
            match Event::from_line(&line) {
                Some(Event::Step(what)) => {
                    progress.step(&format!("{}, {place}: {what}", self.protocol.name));
                }
                Some(Event::Checked(finding)) => checks.push(finding),
                Some(Event::Measured(row)) => rows.push(row),
                None => {
                    return Err(Failure::because(format!(
                        "the client process said `{line}`, which means nothing"
                    )));
                }
            }
        }
        client.end()?;
        raw.end()?;
        if self.is_first {
            // The client has shut it down, and by that it has to end.
            let ended = server.join();
            checks.push(Finding {
                name: "the server ends after shutdown()".into(),
                verdict: match ended {
                    Ok(()) => Verdict::Passed,
                    Err(failure) => Verdict::Failed(failure.sentence().to_owned()),
                },
            });
        } else {
            server.end()?;
        }
        Ok(Section {
            protocol: self.protocol.name,
            cpu: self.cpu,
            rows,
        })
    }

    fn start(&self, what: &'static str, arguments: &[&str]) -> Result<Process, Failure> {
        let mut arguments: Vec<_> = arguments.iter().map(|&text| text.to_owned()).collect();
        if let Some(cpu) = self.cpu {
            arguments.extend(["--pin".to_owned(), cpu.to_string()]);
        }
        Process::start(what, &arguments)
    }

    fn start_client(&self, references: &[String], raw: &str) -> Result<Process, Failure> {
        let rounds = self.effort.rounds.to_string();
        let slice = self.effort.slice.to_string();
        let mut arguments = vec!["demo", "client", "--raw", raw];
        arguments.extend(["--rounds", &rounds, "--slice", &slice]);
        for (key, option) in [
            ("Cube IOR:", "--cube"),
            ("Receiver IOR:", "--receiver"),
            ("Peer IOR:", "--peer"),
        ] {
            let line = references.iter().find(|line| line.starts_with(key));
            let reference = line.and_then(|line| line.split_once(' '));
            let Some((_, reference)) = reference else {
                return Err(Failure::because("the server process gave no reference"));
            };
            arguments.extend([option, reference]);
        }
        if self.is_first {
            arguments.extend(["--check", "--shutdown"]);
        }
        self.start("client", &arguments)
    }
}
