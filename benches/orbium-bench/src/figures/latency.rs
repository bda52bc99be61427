// SPDX-License-Identifier: MIT OR Apache-2.0
//! Round trips, relative to a raw socket that moves the same octets.

use crate::peer::built::Programs;
use crate::peer::closed_loop::{Length, Sample, Serving, Work};
use crate::peer::server::Under;
use crate::report::bound::Bound;
use crate::report::figures::{Detail, Report, Row, over_raw};
use xtask::outcome::Outcome;

/// A line of the table.
struct Line {
    figure: &'static str,
    work: Work,
    calls: u64,
    must: f64,
    aim: f64,
}

const LINES: &[Line] = &[
    Line {
        figure: "empty call, latency over raw",
        work: Work::new("noop", 0, (64, 24)),
        calls: 30_000,
        must: 1.10,
        aim: 1.05,
    },
    Line {
        figure: "echo of 1 KiB octets, over raw",
        work: Work::new("echo_octets", 1024, (76 + 1024, 28 + 1024)),
        calls: 30_000,
        must: 1.12,
        aim: 1.05,
    },
    Line {
        figure: "echo of 64 KiB octets, over raw",
        work: Work::new("echo_octets", 65_536, (76 + 65_536, 28 + 65_536)),
        calls: 8_000,
        must: 1.35,
        aim: 1.15,
    },
    Line {
        figure: "echo of 256 BinStruct, over raw",
        work: Work::new("echo_structs", 256, (72 + 6_144, 24 + 6_144)),
        calls: 12_000,
        must: 1.25,
        aim: 1.10,
    },
];

/// Measures every line with every peer.
pub(crate) fn measure(programs: &Programs, quick: bool, report: &mut Report) -> Outcome<()> {
    let (repetitions, divisor) = if quick { (3, 6) } else { (9, 1) };
    // By line, then by peer.
    let mut samples = vec![vec![Vec::new(); programs.peers.len()]; LINES.len()];
    for repetition in 0..repetitions {
        eprintln!("repetition {} of {repetitions}", repetition + 1);
        for turn in 0..programs.peers.len() {
            let peer = (turn + repetition) % programs.peers.len();
            let server = Serving::start(programs, programs.peers[peer], &Under::OneProcessor)?;
            for (line, samples) in LINES.iter().zip(&mut samples) {
                let length = Length {
                    calls: line.calls / divisor,
                    timed: true,
                };
                samples[peer].push(server.call(&line.work, length, &Under::OneProcessor)?);
            }
        }
    }
    for (line, by_peer) in LINES.iter().zip(&samples) {
        summarise(programs, line, by_peer, report);
    }
    Ok(())
}

fn summarise(programs: &Programs, line: &Line, by_peer: &[Vec<Sample>], report: &mut Report) {
    // The raw socket is the first peer.
    let raw = &by_peer[0];
    let mut row = Row::new(line.figure, Bound::AtMost(line.must), line.aim);
    for (peer, samples) in programs.peers.iter().zip(by_peer) {
        row.set(*peer, over_raw(samples, raw));
        let work = format!("{} {}", line.work.operation, line.work.size);
        report.details.push(Detail::new(work, *peer, samples, raw));
    }
    report.rows.push(row);
}
