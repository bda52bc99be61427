// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many callers at once: the calls of eight threads of one client in a second,
//! over those of eight raw connections. Nothing is pinned.

use super::peer::{Peer, Serving, Work};
use super::programs::Programs;
use super::report::{Bound, Report, Row};
use super::server::Under;
use super::statistics::median_ratio;
use crate::Outcome;

/// Threads of the client.
const THREADS: u16 = 8;

/// Measures the throughput with every peer.
pub(super) fn measure(programs: &Programs, quick: bool, report: &mut Report) -> Outcome<()> {
    let (repetitions, calls) = if quick { (3, 5_000) } else { (9, 30_000) };
    let work = Work::new("noop", 0, (64, 24));
    let mut totals = vec![Vec::new(); programs.peers.len()];
    for repetition in 0..repetitions {
        eprintln!("repetition {} of {repetitions}", repetition + 1);
        for turn in 0..programs.peers.len() {
            let peer = (turn + repetition) % programs.peers.len();
            let server = Serving::start(programs, programs.peers[peer], &Under::Nothing)?;
            totals[peer].push(server.call_together(&work, calls, THREADS)?.total);
        }
    }
    let mut row = Row::new(
        "empty calls of eight threads, fraction of raw sockets",
        Bound::AtLeast(0.75),
        0.90,
    );
    for (peer, total) in programs.peers.iter().zip(&totals) {
        // As many calls in more time.
        let fraction = median_ratio(&totals[0], total);
        match peer {
            Peer::Raw => {}
            Peer::Orbium => row.orbium = fraction,
            Peer::Omni => row.omni = fraction,
        }
    }
    report.rows.push(row);
    Ok(())
}
