// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium-bench threads`: many threads, many priorities, many connections.

mod crowd;
mod fifty;
mod figure;
mod outcome;
mod priorities;
mod punctuality;
mod scaling;
mod wakeups;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::peer::programs::{PeerArgs, Peers};
use crate::report::file::write;
use crate::report::markdown::FIFTY;
use crate::report::page::drawing_of_fifty;
use crate::report::results::{DocsArgs, ResultArgs, Results};
use crate::stage::class::Class;
use crate::stage::clock::{stolen, stolen_since};
use crate::stage::real_time::{HIGH, can_be_real_time};
use orbium_cli::Failure;
use orbium_cli::output;
use outcome::Outcome;

#[derive(Debug, Args)]
pub(crate) struct ThreadsArgs {
    /// Parts to measure, all if none is named
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<Part>,
    /// Numbers of client threads [default: 1, 2, 4, 8, 16; in a quick run 1, 8]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = some)]
    threads: Vec<usize>,
    /// Calls of mixed priorities [default: 1000000; in a quick run 32000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    calls: Option<u64>,
    /// Connections that call once a second [default: 5000; in a quick run 1000]
    #[arg(long, value_name = "N", value_parser = some)]
    connections: Option<usize>,
    /// Scheduling classes of fifty priorities, all if none is named
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    class: Vec<Class>,
    /// Numbers of the fifty clients that call [default: 1, 5, 10, 20, 30, 40, 50; in a quick run 1, 50]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = of_fifty)]
    clients: Vec<usize>,
    /// Calls of the most urgent of fifty clients with each number of others, twenty a second
    /// [default: 200; in a quick run 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    urgent_calls: Option<u32>,
    /// File for the figure of scaling; that of fifty priorities is in a separate file,
    /// `…-fifty.svg`
    #[arg(long, value_name = "FILE", default_value = "orbium-threads.svg")]
    svg: PathBuf,
    #[command(flatten)]
    docs: DocsArgs,
    #[command(flatten)]
    results: ResultArgs,
    #[command(flatten)]
    peers: PeerArgs,
}

/// A number of threads or connections: at least 1.
fn some(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("none cannot be measured: write 1 or more".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("not a number".to_owned()),
    }
}

/// A number of the clients of fifty priorities.
fn of_fifty(text: &str) -> Result<usize, String> {
    let number = some(text)?;
    let all = HIGH.unsigned_abs() as usize;
    if number <= all {
        Ok(number)
    } else {
        Err(format!("there are {all} clients"))
    }
}

/// A part of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Calls per second of many client threads, as a fraction of raw sockets
    Scaling,
    /// Sixteen priorities at once: the order of completion, and the priorities served at
    Priorities,
    /// Fifty priorities on one processor: latency and jitter by the number of clients
    Fifty,
    /// The worst latency of a lane while all others are saturated
    Punctuality,
    /// Many connections that each call once a second
    Crowd,
}

impl ThreadsArgs {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    fn run(&self, part: Part, peers: &Peers) -> Result<Outcome, Failure> {
        match part {
            Part::Scaling => {
                let found = scaling::measure(&self.counts(), self.results.quick, peers)?;
                write(&self.svg, &figure::draw(&found)?)?;
                Ok(scaling::outcome(&found))
            }
            Part::Priorities => {
                let calls = if self.results.quick {
                    32_000
                } else {
                    1_000_000
                };
                priorities::measure(self.calls.unwrap_or(calls))
            }
            Part::Fifty => {
                let (found, notes) = fifty::measure(&self.fifty());
                write(&drawing_of_fifty(&self.svg), &fifty::draw(&found)?)?;
                Ok(fifty::outcome(&found, notes))
            }
            Part::Punctuality => punctuality::measure(self.results.quick),
            Part::Crowd => {
                let connections = if self.results.quick { 1_000 } else { 5_000 };
                crowd::measure(self.connections.unwrap_or(connections), self.results.quick)
            }
        }
    }

    fn fifty(&self) -> fifty::Plan {
        let quick = self.results.quick;
        let classes = match self.class.as_slice() {
            [] => Class::value_variants().to_vec(),
            own => own.to_vec(),
        };
        let clients = match (self.clients.as_slice(), quick) {
            ([], true) => vec![1, 50],
            ([], false) => vec![1, 5, 10, 20, 30, 40, 50],
            (own, _) => own.to_vec(),
        };
        fifty::Plan {
            classes,
            clients,
            calls: self.urgent_calls.unwrap_or(if quick { 20 } else { 200 }),
        }
    }

    fn counts(&self) -> Vec<usize> {
        match (self.threads.as_slice(), self.results.quick) {
            ([], true) => vec![1, 8],
            ([], false) => vec![1, 2, 4, 8, 16],
            (own, _) => own.to_vec(),
        }
    }
}

pub(crate) fn run(args: &ThreadsArgs) -> Result<(), Failure> {
    let peers = Peers::find(&args.peers);
    let mut all = Results::default();
    // The other parts measure orbium alone.
    if args.wants(Part::Scaling) {
        all.notes = peers.absent();
    }
    if let Err(reason) = can_be_real_time(HIGH) {
        let note = format!("Nothing runs at a real-time priority: {reason}");
        all.notes.push(note);
    }
    let begin = stolen();
    for part in Part::value_variants() {
        if !args.wants(*part) {
            continue;
        }
        let name = format!("{part:?}").to_ascii_lowercase();
        match args.run(*part, &peers) {
            Ok(found) => {
                output::print(&found.text)?;
                all.own[name] = found.json;
                all.rows.extend(found.rows);
                all.notes.extend(found.notes);
            }
            Err(failure) => {
                let note = format!("{name} is left out: {}", failure.sentence());
                all.notes.push(note);
            }
        }
        all.keep(&args.results)?;
    }
    all.notes.extend(stolen_since(begin));
    if args.wants(Part::Fifty) {
        let drawing = drawing_of_fifty(&args.svg);
        output::print(&format!("\n{FIFTY}: {}\n", drawing.display()))?;
    }
    let svg = args.wants(Part::Scaling).then_some(args.svg.as_path());
    all.finish(&args.results, svg)?;
    all.publish(&args.docs, "threads", args.results.quick)
}
