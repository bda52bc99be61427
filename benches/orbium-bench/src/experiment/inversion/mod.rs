// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium-bench inversion`: figures 24 and 25 of the paper, and the same with servants and clients
//! that saturate the machine.

mod args;
mod figures;
mod profile;
mod results;

use std::time::Duration;

use serde_json::{Value, json};

use crate::peer::architecture::Architecture;
use crate::peer::programs::Peers;
use crate::report::file::write;
use crate::report::results::Results;
use crate::stage::awake::Awake;
use crate::stage::clock::{stolen, stolen_since};
use crate::stage::network::link::Link;
use crate::stage::real_time::{HIGH, can_be_real_time};
use crate::stage::test_bed::{How, TestBed};
pub(crate) use args::InversionArgs;
use orbium_cli::Failure;
use orbium_cli::output;
use orbium_cli::stage::progress::Progress;
use results::{Findings, Scenario};

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

    /// Ends its processes, and returns its findings.
    fn end(self, notes: &mut Vec<String>) -> Findings {
        self.test_bed
            .end_noting(&self.found.architecture.name, notes);
        self.found
    }
}

pub(crate) fn run(args: &InversionArgs) -> Result<(), Failure> {
    if args.profile {
        return profile::run(args);
    }
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
        // All of them alternately, so that a slow period of the machine affects all.
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
    let all = results(&found, &notes);
    all.finish(&args.results, Some(&args.svg))?;
    all.publish(&args.docs, "inversion", args.results.quick)
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

/// The priorities of clients and servers, and the missing peers.
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
