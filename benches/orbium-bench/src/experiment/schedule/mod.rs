// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium-bench schedule`: deadlines missed against utilization by strategy, in a simulator and by
//! threads of this host; cost of the analysis and the look-up of many RT_Infos.

mod analysis;
mod figure;
mod live;
pub(crate) mod lookup;
mod results;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use orbium_cli::{Failure, output, ping};
use orbium_sched::{Options, Preemption, overload};
use serde_json::Value;

use crate::report::file::write;
use crate::report::results::{ResultArgs, Results};
use results::{Findings, refused};

#[derive(Debug, Args)]
pub(crate) struct ScheduleArgs {
    /// Parts to measure; by default all for which this host has privileges
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    only: Vec<Part>,
    /// Utilizations [default: 0.1, 0.2, … 1.3]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = utilization)]
    utilizations: Vec<f64>,
    /// The first seed of the random task sets
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Number of simulated task sets of each utilization [default: 50; in a quick run 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    sets: Option<u64>,
    /// Seconds for which threads of this host run for each utilization and strategy [default: 2; in
    /// a quick run 0.2]
    #[arg(long, value_name = "SECONDS", value_parser = ping::seconds)]
    seconds: Option<Duration>,
    /// File for the figures
    #[arg(long, value_name = "FILE", default_value = "orbium-schedule.svg")]
    svg: PathBuf,
    #[command(flatten)]
    results: ResultArgs,
}

/// A utilization: above 0, at most 10.
fn utilization(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if number > 0.0 && number <= 10.0 => Ok(number),
        _ => Err("a utilization is above 0 and at most 10".to_owned()),
    }
}

/// A part of the experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Deadlines missed in a simulator, with preemption within queues: the same on every host
    Simulated,
    /// Deadlines missed by real-time threads of this host, on one processor
    Live,
    /// The time that the analysis of 10,000 RT_Infos takes
    Analysis,
    /// Instructions of a look-up among 10 and among 10,000 RT_Infos
    Lookup,
}

impl ScheduleArgs {
    fn utilizations(&self) -> Vec<f64> {
        match self.utilizations.as_slice() {
            [] => (1..=13).map(|tenths| f64::from(tenths) / 10.0).collect(),
            own => own.to_vec(),
        }
    }

    fn seeds(&self) -> std::ops::Range<u64> {
        let sets = if self.results.quick { 5 } else { 50 };
        self.seed..self.seed.saturating_add(self.sets.unwrap_or(sets))
    }

    fn seconds(&self) -> Duration {
        let time = if self.results.quick { 200 } else { 2_000 };
        self.seconds.unwrap_or(Duration::from_millis(time))
    }

    fn run(&self, part: Part, all: &mut Results) -> Result<Option<Findings>, Failure> {
        match part {
            Part::Simulated => {
                let measure = |strategy, utilization| {
                    let options = Options {
                        preemption: Preemption::Preemptive,
                        ..Options::new(strategy)
                    };
                    let misses = overload::simulated_misses(&options, utilization, self.seeds());
                    misses.map_err(|it| refused(&it))
                };
                let found = Findings::measure("simulated", &self.utilizations(), measure)?;
                all.rows.extend(found.rows());
                Ok(Some(found))
            }
            Part::Live => {
                let (found, notes) =
                    live::measure(&self.utilizations(), self.seed, self.seconds())?;
                all.notes.extend(notes);
                Ok(Some(found))
            }
            Part::Analysis => analysis::measure(all).map(|()| None),
            Part::Lookup => lookup::measure(all).map(|()| None),
        }
    }
}

pub(crate) fn run(args: &ScheduleArgs) -> Result<(), Failure> {
    let mut all = Results {
        own: Value::Object(serde_json::Map::new()),
        ..Results::default()
    };
    let mut drawn = Vec::new();
    for part in Part::value_variants() {
        if !args.only.is_empty() && !args.only.contains(part) {
            continue;
        }
        match args.run(*part, &mut all) {
            Ok(Some(found)) => {
                all.own[found.name] = found.to_json();
                drawn.push(found);
            }
            Ok(None) => {}
            // A part that was selected by name has to be possible.
            Err(failure) if args.only.contains(part) => return Err(failure),
            Err(failure) => {
                let name = format!("{part:?}").to_ascii_lowercase();
                let note = format!("{name} is left out: {}", failure.sentence());
                all.notes.push(note);
            }
        }
        all.keep(&args.results)?;
    }
    for found in &drawn {
        output::print(&found.to_text())?;
    }
    if !drawn.is_empty() {
        write(&args.svg, &figure::draw(&drawn)?)?;
    }
    let svg = (!drawn.is_empty()).then_some(args.svg.as_path());
    all.finish(&args.results, svg)
}
