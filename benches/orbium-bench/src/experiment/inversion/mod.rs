// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium-bench inversion`: figures 24 and 25 of the paper, and the same with
//! servants and clients that saturate the machine.

mod figures;
mod results;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::peer::architecture::{Architecture, architectures};
use crate::peer::programs::{PeerArgs, Peers};
use crate::report::file::write;
use crate::report::results::{ResultArgs, Results};
use crate::stage::awake::Awake;
use crate::stage::clock::{stolen, stolen_since};
use crate::stage::network::link::{self, Link};
use crate::stage::pacing::HIGH_PERIOD;
use crate::stage::real_time::{HIGH, can_be_real_time};
use crate::stage::test_bed::{How, TestBed};
use orbium_cli::Failure;
use orbium_cli::stage::progress::Progress;
use orbium_cli::{output, ping};
use results::{Findings, Scenario};

#[derive(Debug, Args)]
pub(crate) struct InversionArgs {
    /// Numbers of low-priority clients [default: 0, 5, … 50; in a quick run 0, 50]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    clients: Vec<usize>,
    /// Calls that the high-priority client makes with each number of others, twenty a second; the
    /// paper has 4,000 [default: 400; in a quick run what fits]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    calls: Option<u32>,
    /// Seconds that each number is measured with each architecture, in place of calls
    #[arg(long, value_name = "SECONDS", value_parser = ping::seconds, conflicts_with = "calls")]
    seconds: Option<Duration>,
    /// Measure only the architectures with such a text in their names; may be repeated
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Keep every processor busy at the lowest priority, so that none has to wake up (SCHED_IDLE;
    /// takes the program chrt)
    #[arg(long)]
    awake: bool,
    /// Run server and clients on hosts of their own (network name spaces) with a link of such a
    /// rate between them, such as 155mbit (takes privileges, ip and tc)
    #[arg(long, value_name = "RATE", value_parser = link::rate)]
    link: Option<String>,
    /// Where to draw the figures
    #[arg(long, value_name = "FILE", default_value = "orbium-inversion.svg")]
    svg: PathBuf,
    #[command(flatten)]
    results: ResultArgs,
    #[command(flatten)]
    peers: PeerArgs,
}

/// Of a quick run, all architectures together.
const QUICK: Duration = Duration::from_secs(20);
/// High-priority calls with a number of low-priority clients, in a whole run.
const CALLS: u32 = 400;

impl InversionArgs {
    fn points(&self) -> Vec<usize> {
        match (self.clients.as_slice(), self.results.quick) {
            ([], true) => vec![0, 50],
            ([], false) => (0..=50).step_by(5).collect(),
            (own, _) => own.to_vec(),
        }
    }

    /// Each number of low-priority clients, and how long each of so many
    /// architectures is measured with it.
    fn plan(&self, architectures: usize) -> Vec<(usize, Duration)> {
        let points = self.points();
        let measurements = architectures * points.len() * Scenario::ALL.len();
        let time = match (self.seconds, self.calls) {
            (Some(own), _) => own,
            (None, Some(calls)) => HIGH_PERIOD * calls,
            (None, None) if self.results.quick => {
                QUICK / u32::try_from(measurements.max(1)).unwrap_or(u32::MAX)
            }
            (None, None) => HIGH_PERIOD * CALLS,
        };
        points.into_iter().map(|clients| (clients, time)).collect()
    }

    /// Those that are to be measured.
    fn chosen(&self, peers: &Peers) -> Result<Vec<Architecture>, Failure> {
        let mut all = architectures(peers);
        let wanted = |own: &Architecture| self.only.iter().any(|text| own.name.contains(text));
        all.retain(|own| self.only.is_empty() || wanted(own));
        match all.is_empty() {
            true => Err(Failure::because(
                "no architecture has such a text in its name",
            )),
            false => Ok(all),
        }
    }
}

const AWAKE: &str =
    "A thread on each processor that gives way to all others (SCHED_IDLE) kept it from resting.";

fn over_a_link(rate: &str) -> String {
    format!(
        "Server and clients were on hosts of their own (network name spaces) with {rate} between \
         them."
    )
}

/// An architecture that is being measured.
struct Contender {
    found: Findings,
    test_bed: TestBed,
}

impl Contender {
    fn start(
        architecture: &Architecture,
        peers: &Peers,
        link: Option<&Link>,
    ) -> Result<Self, Failure> {
        let how = How {
            link,
            ..How::default()
        };
        Ok(Self {
            test_bed: TestBed::start(architecture, peers, how)?,
            found: Findings::new(architecture),
        })
    }

    fn measure(&mut self, clients: usize, time: Duration) -> Result<(), Failure> {
        let (found, test_bed) = (&mut self.found, &mut self.test_bed);
        let mut scenarios = Scenario::ALL.iter();
        scenarios.try_for_each(|scenario| found.measure(test_bed, *scenario, clients, time))
    }

    /// Ends its processes; what was found.
    fn end(self, notes: &mut Vec<String>) -> Findings {
        let name = &self.found.architecture.name;
        let own = self.test_bed.announced("note");
        notes.extend(own.map(|note| format!("{name}: {note}")));
        if let Err(failure) = self.test_bed.end() {
            notes.push(format!("{name}, at its end: {}", failure.sentence()));
        }
        self.found
    }
}

pub(crate) fn run(args: &InversionArgs) -> Result<(), Failure> {
    let peers = Peers::find(&args.peers);
    let all = args.chosen(&peers)?;
    let plan = args.plan(all.len());
    let mut notes = notes(&peers);
    let link = args.link.as_deref().map(Link::new).transpose()?;
    notes.extend(args.link.as_deref().map(over_a_link));
    let awake = args.awake.then(Awake::start).transpose()?;
    notes.extend(args.awake.then(|| AWAKE.to_owned()));
    let begin = stolen();
    let mut progress = Progress::new(all.len() * (plan.len() + 1));
    let mut contenders = Vec::new();
    for architecture in &all {
        progress.step(&format!("starting {}", architecture.name));
        match Contender::start(architecture, &peers, link.as_ref()) {
            Ok(contender) => contenders.push(contender),
            Err(failure) => notes.push(lost(architecture, &failure)),
        }
    }
    for (clients, time) in plan {
        // All of them in turns, so that a slow spell of the machine meets all.
        contenders.retain_mut(|contender| {
            let name = &contender.found.architecture.name;
            progress.step(&format!("{clients} low-priority clients: {name}"));
            let measured = contender.measure(clients, time);
            measured
                .inspect_err(|failure| notes.push(lost(&contender.found.architecture, failure)))
                .is_ok()
        });
        let found: Vec<_> = contenders.iter().map(|one| one.found.clone()).collect();
        write(&args.svg, &figures::draw(&found)?)?;
        results(&found, &notes).keep(&args.results)?;
    }
    progress.clear();
    awake.map(Awake::end).transpose()?;
    let end = |contender: Contender| contender.end(&mut notes);
    let found: Vec<_> = contenders.into_iter().map(end).collect();
    notes.extend(stolen_since(begin));
    output::print(&format!("{}\n", results::to_text(&found)))?;
    results(&found, &notes).finish(&args.results, Some(&args.svg))
}

fn results(found: &[Findings], notes: &[String]) -> Results {
    let real_time = can_be_real_time(HIGH).is_ok();
    Results {
        rows: results::rows(found, real_time),
        notes: notes.to_vec(),
        own: json!({
            "real_time": real_time,
            "architectures": found.iter().map(Findings::to_json).collect::<Value>(),
        }),
    }
}

/// At which priorities everything ran, and which peers are missing.
fn notes(peers: &Peers) -> Vec<String> {
    let first = match can_be_real_time(HIGH) {
        Ok(()) => format!(
            "The high-priority clients and the high-priority lane run under SCHED_FIFO at {HIGH}, \
             all others under SCHED_OTHER. What has no lanes serves both alike; Java has no \
             real-time threads."
        ),
        Err(reason) => format!(
            "Nothing runs at a real-time priority, so inversion is to be expected: {reason}"
        ),
    };
    std::iter::once(first).chain(peers.absent()).collect()
}

fn lost(architecture: &Architecture, failure: &Failure) -> String {
    format!("{} is left out: {}", architecture.name, failure.sentence())
}
