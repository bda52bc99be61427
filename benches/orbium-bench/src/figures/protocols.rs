// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls over transports other than TCP, each relative to a raw peer that moves the same octets
//! over the same transport.

use super::counts;
use crate::peer::built::Programs;
use crate::peer::closed_loop::{Length, Sample, Serving, Work};
use crate::peer::contender::Peer;
use crate::peer::server::processors;
use crate::peer::way::{Folder, Over, Way};
use crate::report::bound::Bound;
use crate::report::figures::{Detail, Report, Row, over_raw};
use xtask::outcome::Outcome;
use xtask::shell;

/// The value to which a bound applies.
enum Held {
    /// The ratio of medians to those of the raw peer.
    OverRaw(f64),
    /// The median itself, in microseconds.
    Microseconds(f64),
}

/// A line of the table.
struct Line {
    figure: &'static str,
    over: Over,
    work: Work,
    calls: u64,
    held: Held,
}

const NOOP: Work = Work::new("noop", 0, (64, 24));

const LINES: &[Line] = &[
    Line {
        figure: "empty call over Unix sockets, over raw",
        over: Over::Unix,
        work: NOOP,
        calls: 30_000,
        held: Held::OverRaw(1.12),
    },
    Line {
        figure: "echo of 64 KiB octets over Unix sockets, over raw",
        over: Over::Unix,
        work: Work::new("echo_octets", 65_536, (76 + 65_536, 28 + 65_536)),
        calls: 8_000,
        held: Held::OverRaw(1.4),
    },
    Line {
        figure: "echo of 256 BinStruct over Unix sockets, over raw",
        over: Over::Unix,
        work: Work::new("echo_structs", 256, (72 + 6_144, 24 + 6_144)),
        calls: 12_000,
        held: Held::OverRaw(1.35),
    },
    Line {
        figure: "empty call over shared memory, over raw futexes",
        over: Over::Futex,
        work: NOOP,
        calls: 60_000,
        held: Held::OverRaw(1.4),
    },
    Line {
        figure: "empty call over shared memory, spinning, a processor a side, µs",
        over: Over::Spin,
        work: NOOP,
        calls: 200_000,
        held: Held::Microseconds(1.2),
    },
    Line {
        figure: "empty call over TLS 1.3, over rustls alone",
        over: Over::Tls,
        work: NOOP,
        calls: 30_000,
        held: Held::OverRaw(1.1),
    },
    Line {
        figure: "echo of 64 KiB octets over TLS 1.3, over rustls alone",
        over: Over::Tls,
        work: Work::new("echo_octets", 65_536, (76 + 65_536, 28 + 65_536)),
        calls: 4_000,
        held: Held::OverRaw(1.1),
    },
];

/// Stream protocols that must not allocate in a steady state.
const STEADY: [(&str, Over); 3] = [
    ("Unix sockets", Over::Unix),
    ("shared memory", Over::Futex),
    ("TLS", Over::Tls),
];

/// Measures every line with every peer that supports the transport.
///
/// # Errors
/// As [`super::run`].
pub(crate) fn measure(programs: &Programs, quick: bool, report: &mut Report) -> Outcome<()> {
    let folder = Folder::new()?;
    let (repetitions, divisor) = if quick { (3, 6) } else { (9, 1) };
    for line in LINES {
        if line.over == Over::Spin && processors().len() < 2 {
            report.left_out("spinning over shared memory: there is one processor only");
            continue;
        }
        eprintln!("{}", line.figure);
        let way = Way::over(line.over, &folder);
        let peers: Vec<Peer> = programs
            .peers
            .iter()
            .copied()
            .filter(|peer| *peer != Peer::Omni || way.omni_endpoint().is_some())
            .collect();
        let mut samples = vec![Vec::new(); peers.len()];
        for repetition in 0..repetitions {
            for turn in 0..peers.len() {
                let peer = (turn + repetition) % peers.len();
                let (under_server, under_client) = way.under();
                let server = Serving::start_over(programs, peers[peer], way, &under_server)?;
                let length = Length {
                    calls: line.calls / divisor,
                    timed: true,
                };
                samples[peer].push(server.call(&line.work, length, &under_client)?);
            }
        }
        summarise(line, &peers, &samples, report);
    }
    allocations(programs, &folder, quick, report)
}

fn summarise(line: &Line, peers: &[Peer], by_peer: &[Vec<Sample>], report: &mut Report) {
    // The raw peer is the first.
    let raw = &by_peer[0];
    let mut row = match line.held {
        Held::OverRaw(most) | Held::Microseconds(most) => {
            Row::bounded(line.figure, Bound::AtMost(most))
        }
    };
    for (peer, samples) in peers.iter().zip(by_peer) {
        let work = format!(
            "{} {}, {:?}",
            line.work.operation, line.work.size, line.over
        );
        let detail = Detail::new(work, *peer, samples, raw);
        let held = match line.held {
            Held::OverRaw(_) => over_raw(samples, raw),
            Held::Microseconds(_) => Some(detail.microseconds()),
        };
        row.set(*peer, held);
        report.details.push(detail);
    }
    report.rows.push(row);
}

fn allocations(
    programs: &Programs,
    folder: &Folder,
    quick: bool,
    report: &mut Report,
) -> Outcome<()> {
    if !shell::has("valgrind") {
        report.left_out("allocations over other transports: valgrind is not installed");
        return Ok(());
    }
    let (short, long) = if quick { (200, 700) } else { (1_000, 4_000) };
    for (name, over) in STEADY {
        eprintln!("allocations over {name}");
        let way = Way::over(over, folder);
        let profiles = |calls| counts::profiles(programs, Peer::Orbium, way, &NOOP, calls);
        let (client, server) = profiles(short)?;
        let (more_client, more_server) = profiles(long)?;
        for (side, less, more) in [
            ("client", client, more_client),
            ("server", server, more_server),
        ] {
            // A buffer that grows once in thousands of calls counts as steady.
            let figure = format!("allocations per call over {name}, empty call, {side}");
            let found = more.per_call(less, long - short).allocations;
            let row = Row::bounded(figure, Bound::AtMost(0.01));
            report.rows.push(row.with([(Peer::Orbium, Some(found))]));
        }
    }
    Ok(())
}
