// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium-bench threads`: many threads, many priorities, many connections.

mod crowd;
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
use crate::report::results::{ResultArgs, Results};
use crate::stage::clock::{stolen, stolen_since};
use crate::stage::real_time::{HIGH, can_be_real_time};
use orbium_cli::Failure;
use orbium_cli::output;
use outcome::Outcome;

#[derive(Debug, Args)]
pub(crate) struct ThreadsArgs {
    /// Which parts, all if none is named
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
    /// Where to draw the figure
    #[arg(long, value_name = "FILE", default_value = "orbium-threads.svg")]
    svg: PathBuf,
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

/// A part of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Calls per second of many client threads, as a fraction of raw sockets
    Scaling,
    /// Sixteen priorities at once: the order of completion, and the priorities served at
    Priorities,
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
            Part::Punctuality => punctuality::measure(self.results.quick),
            Part::Crowd => {
                let connections = if self.results.quick { 1_000 } else { 5_000 };
                crowd::measure(self.connections.unwrap_or(connections), self.results.quick)
            }
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
    let mut all = Results {
        notes: peers.absent(),
        ..Results::default()
    };
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
    let svg = args.wants(Part::Scaling).then_some(args.svg.as_path());
    all.finish(&args.results, svg)
}
