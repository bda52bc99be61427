// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium bench inversion`: figures 24 and 25 of the paper, and the same with
//! servants and clients that saturate the machine.

mod figures;
mod found;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use super::experiment::{
    Architecture, HIGH, How, PeerArgs, Peers, Stand, architectures, can_be_real_time,
};
use super::protocols::write;
use super::row;
use crate::demo::progress::Progress;
use crate::failure::Failure;
use crate::output;
use found::{Found, Scenario};

#[derive(Debug, Args)]
pub(crate) struct InversionArgs {
    /// Measure for half a minute only: without and with 50 low-priority clients
    #[arg(long)]
    quick: bool,
    /// Numbers of low-priority clients [default: 0, 5, … 50]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    clients: Vec<usize>,
    /// Seconds that each number is measured with each architecture [default: 3]
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
    /// Where to draw the figures
    #[arg(long, value_name = "FILE", default_value = "orbium-inversion.svg")]
    svg: PathBuf,
    /// Write everything found to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    peers: PeerArgs,
}

/// Of a quick run, all architectures together.
const QUICK: Duration = Duration::from_secs(20);
const WHOLE: Duration = Duration::from_secs(3);

impl InversionArgs {
    fn points(&self) -> Vec<usize> {
        match (self.clients.as_slice(), self.quick) {
            ([], true) => vec![0, 50],
            ([], false) => (0..=50).step_by(5).collect(),
            (own, _) => own.to_vec(),
        }
    }

    /// How long each of so many measurements takes.
    fn time(&self, measurements: usize) -> Result<Duration, Failure> {
        match self.seconds {
            Some(seconds) => Duration::try_from_secs_f64(seconds)
                .map_err(|error| Failure::wrong_usage(format!("--seconds: {error}"))),
            None if self.quick => Ok(QUICK / u32::try_from(measurements.max(1)).unwrap_or(1)),
            None => Ok(WHOLE),
        }
    }
}

pub(crate) fn run(args: &InversionArgs) -> Result<(), Failure> {
    let peers = Peers::find(&args.peers);
    let all = architectures(&peers);
    let points = args.points();
    let time = args.time(all.len() * points.len() * Scenario::ALL.len())?;
    let mut notes = notes(&peers);
    let mut progress = Progress::new(all.len() * (points.len() + 1));
    let mut stands = Vec::new();
    for architecture in &all {
        progress.step(&format!("starting {}", architecture.name));
        let stand = Stand::start(architecture, &peers, How::default());
        match stand {
            Ok(stand) => stands.push((Found::new(architecture), stand)),
            Err(failure) => notes.push(lost(architecture, &failure)),
        }
    }
    for clients in &points {
        // All of them in turns, so that a slow spell of the machine meets all.
        stands.retain_mut(|(found, stand)| {
            progress.step(&format!(
                "{clients} low-priority clients: {}",
                found.architecture.name
            ));
            let measured = Scenario::ALL
                .iter()
                .try_for_each(|scenario| found.measure(stand, *scenario, *clients, time));
            match measured {
                Ok(()) => true,
                Err(failure) => {
                    notes.push(lost(&found.architecture, &failure));
                    false
                }
            }
        });
    }
    progress.clear();
    let mut found = Vec::new();
    for (one, stand) in stands {
        let told = stand
            .told("note")
            .map(|note| format!("{}: {note}", one.architecture.name));
        notes.extend(told);
        stand.end()?;
        found.push(one);
    }
    tell(args, &found, &notes, time)
}

fn tell(
    args: &InversionArgs,
    found: &[Found],
    notes: &[String],
    time: Duration,
) -> Result<(), Failure> {
    let real_time = can_be_real_time(HIGH).is_ok();
    let rows = found::rows(found, real_time);
    let text = found::to_text(found);
    output::print(&format!("{text}\n{}\n", row::to_text(&rows)))?;
    for note in notes {
        output::print(&format!("{note}\n"))?;
    }
    write(&args.svg, &figures::draw(found))?;
    output::print(&format!("\nThe figures are in {}.\n", args.svg.display()))?;
    if let Some(path) = &args.json {
        let whole = json!({
            "orbium": env!("CARGO_PKG_VERSION"),
            "quick": args.quick,
            "seconds": time.as_secs_f64(),
            "real_time": real_time,
            "architectures": found.iter().map(Found::to_json).collect::<Value>(),
            "rows": rows.iter().map(row::Row::to_json).collect::<Value>(),
            "notes": notes,
        });
        write(path, &format!("{whole:#}\n"))?;
    }
    Ok(())
}

/// At which priorities everything ran, and who is not there.
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
