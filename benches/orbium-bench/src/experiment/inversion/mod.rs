// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium-bench inversion`: figures 24 and 25 of the paper, and the same with
//! servants and clients that saturate the machine.

mod figures;
mod found;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::peer::architecture::{Architecture, architectures};
use crate::peer::programs::{PeerArgs, Peers};
use crate::report::file::write;
use crate::report::results::{ResultArgs, Results};
use crate::stage::clock::{stolen, stolen_since};
use crate::stage::real_time::{HIGH, can_be_real_time};
use crate::stage::stand::{How, Stand};
use found::{Found, Scenario};
use orbium_cli::Failure;
use orbium_cli::stage::progress::Progress;
use orbium_cli::{output, ping};

#[derive(Debug, Args)]
pub(crate) struct InversionArgs {
    /// Numbers of low-priority clients [default: 0, 5, … 50; in a quick run 0, 50]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    clients: Vec<usize>,
    /// Seconds that each number is measured with each architecture [default: 1.5
    /// the first and the last, which are compared, and 0.5 the others]
    #[arg(long, value_name = "SECONDS", value_parser = ping::seconds)]
    seconds: Option<Duration>,
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
/// Of a number of clients in a whole run: what is compared takes longer.
const COMPARED: Duration = Duration::from_millis(1500);
const BETWEEN: Duration = Duration::from_millis(500);

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
        let ends = [points.iter().min(), points.iter().max()];
        let time = |clients: &usize| match self.seconds {
            Some(own) => own,
            None if self.results.quick => {
                QUICK / u32::try_from(measurements.max(1)).unwrap_or(u32::MAX)
            }
            None if ends.contains(&Some(clients)) => COMPARED,
            None => BETWEEN,
        };
        points
            .iter()
            .map(|clients| (*clients, time(clients)))
            .collect()
    }
}

/// An architecture that is being measured.
struct Contender {
    found: Found,
    stand: Stand,
}

pub(crate) fn run(args: &InversionArgs) -> Result<(), Failure> {
    let peers = Peers::find(&args.peers);
    let all = architectures(&peers);
    let plan = args.plan(all.len());
    let mut notes = notes(&peers);
    let begin = stolen();
    let mut progress = Progress::new(all.len() * (plan.len() + 1));
    let mut contenders = Vec::new();
    for architecture in &all {
        progress.step(&format!("starting {}", architecture.name));
        match Stand::start(architecture, &peers, How::default()) {
            Ok(stand) => contenders.push(Contender {
                found: Found::new(architecture),
                stand,
            }),
            Err(failure) => notes.push(lost(architecture, &failure)),
        }
    }
    for (clients, time) in plan {
        // All of them in turns, so that a slow spell of the machine meets all.
        contenders.retain_mut(|Contender { found, stand }| {
            let name = found.architecture.name.clone();
            progress.step(&format!("{clients} low-priority clients: {name}"));
            let measured = Scenario::ALL
                .iter()
                .try_for_each(|scenario| found.measure(stand, *scenario, clients, time));
            measured
                .inspect_err(|failure| notes.push(lost(&found.architecture, failure)))
                .is_ok()
        });
        let found: Vec<_> = contenders.iter().map(|one| one.found.clone()).collect();
        write(&args.svg, &figures::draw(&found)?)?;
        results(&found, &notes).keep(&args.results)?;
    }
    progress.clear();
    let mut found = Vec::new();
    for Contender { found: one, stand } in contenders {
        let name = &one.architecture.name;
        let own = stand
            .announced("note")
            .map(|note| format!("{name}: {note}"));
        notes.extend(own);
        if let Err(failure) = stand.end() {
            notes.push(format!("{name}, at its end: {}", failure.sentence()));
        }
        found.push(one);
    }
    notes.extend(stolen_since(begin));
    output::print(&format!("{}\n", found::to_text(&found)))?;
    results(&found, &notes).finish(&args.results, Some(&args.svg))
}

fn results(found: &[Found], notes: &[String]) -> Results {
    let real_time = can_be_real_time(HIGH).is_ok();
    Results {
        rows: found::rows(found, real_time),
        notes: notes.to_vec(),
        own: json!({
            "real_time": real_time,
            "architectures": found.iter().map(Found::to_json).collect::<Value>(),
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
