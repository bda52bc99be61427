// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command line of the experiment.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::results::Scenario;
use crate::peer::architecture::{Architecture, architectures};
use crate::peer::programs::{PeerArgs, Peers};
use crate::report::results::{DocsArgs, ResultArgs};
use crate::stage::network::link;
use crate::stage::pacing::HIGH_PERIOD;
use orbium_cli::{Failure, ping};

#[derive(Debug, Args)]
pub(crate) struct InversionArgs {
    /// Numbers of low-priority clients [default: 0, 5, … 50; in a quick run 0, 50]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    clients: Vec<usize>,
    /// Calls of the high-priority client with each number of others, twenty a second; the paper has
    /// 4,000 [default: 400; in a quick run as many as fit]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    calls: Option<u32>,
    /// Seconds of the measurement of each number with each architecture, in place of calls
    #[arg(long, value_name = "SECONDS", value_parser = ping::seconds, conflicts_with = "calls")]
    pub(super) seconds: Option<Duration>,
    /// Measure only the architectures with this text in their names; may be repeated
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Keep every processor busy at the lowest priority, so that none sleeps (SCHED_IDLE; requires
    /// the program chrt)
    #[arg(long)]
    pub(super) awake: bool,
    /// Run server and clients on separate hosts (network name spaces) with a link of this rate
    /// between them, such as 155mbit (requires privileges, ip and tc)
    #[arg(long, value_name = "RATE", value_parser = link::rate)]
    pub(super) link: Option<String>,
    /// Measure the processor time of ten clients that call without a pause instead, on both sides
    /// (figures 26 to 29; requires perf and its privileges) [default: 4 s of each architecture]
    #[arg(long, conflicts_with_all = ["clients", "calls", "awake", "link"])]
    pub(super) profile: bool,
    /// File for the figures
    #[arg(long, value_name = "FILE", default_value = "orbium-inversion.svg")]
    pub(super) svg: PathBuf,
    #[command(flatten)]
    pub(super) docs: DocsArgs,
    #[command(flatten)]
    pub(super) results: ResultArgs,
    #[command(flatten)]
    pub(super) peers: PeerArgs,
}

/// Duration of a quick run of all architectures together.
const QUICK: Duration = Duration::from_secs(20);
/// High-priority calls with a number of low-priority clients, in a full run.
const CALLS: u32 = 400;

impl InversionArgs {
    fn points(&self) -> Vec<usize> {
        match (self.clients.as_slice(), self.results.quick) {
            ([], true) => vec![0, 50],
            ([], false) => (0..=50).step_by(5).collect(),
            (own, _) => own.to_vec(),
        }
    }

    /// Each number of low-priority clients, with the duration of its measurement for each of so
    /// many architectures.
    pub(super) fn plan(&self, architectures: usize) -> Vec<(usize, Duration)> {
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

    /// The selected architectures.
    pub(super) fn chosen(&self, peers: &Peers) -> Result<Vec<Architecture>, Failure> {
        let mut all = architectures(peers);
        let wanted = |own: &Architecture| self.only.iter().any(|text| own.name.contains(text));
        all.retain(|own| self.only.is_empty() || wanted(own));
        if all.is_empty() {
            Err(Failure::because(
                "no architecture has such a text in its name",
            ))
        } else {
            Ok(all)
        }
    }
}
