// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oneways at the maximum rate, relative to a raw socket that moves the same octets. The clock
//! stops when the receiver has accounted for every element.

use crate::peer::built::Programs;
use crate::peer::closed_loop::{Length, Serving, Work};
use crate::peer::contender::Peer;
use crate::peer::server::Under;
use crate::report::bound::Bound;
use crate::report::figures::{Report, Row, fraction_of_raw};
use xtask::outcome::Outcome;

/// The load: the operation, the elements of a call, and the octets of its request without them.
#[derive(Clone, Copy)]
struct Line {
    figure: &'static str,
    operation: &'static str,
    elements: u32,
    /// Octets of an element, and before the first one.
    octets: (u64, u64),
    must: f64,
    aim: f64,
}

const fn octets(figure: &'static str, size: u32) -> Line {
    Line {
        figure,
        operation: "send_octets",
        elements: size,
        octets: (1, 76),
        must: 0.9,
        aim: 0.95,
    }
}

const fn structs(figure: &'static str, size: u32) -> Line {
    Line {
        figure,
        operation: "send_structs",
        elements: size / 24,
        // A struct takes 24 octets, and so does the first one with the length of the sequence.
        octets: (24, 72),
        must: 0.9,
        aim: 0.95,
    }
}

const LINES: &[Line] = &[
    octets("flood of octets, 1 KiB, fraction of raw octets", 1 << 10),
    octets("flood of octets, 4 KiB, fraction of raw octets", 4 << 10),
    octets("flood of octets, 16 KiB, fraction of raw octets", 16 << 10),
    structs("flood of BinStruct, 1 KiB, fraction of raw octets", 1 << 10),
    structs("flood of BinStruct, 4 KiB, fraction of raw octets", 4 << 10),
    structs(
        "flood of BinStruct, 16 KiB, fraction of raw octets",
        16 << 10,
    ),
    Line {
        must: 0.75,
        ..structs(
            "flood of BinStruct, 64 KiB buffers, fraction of raw octets",
            64 << 10,
        )
    },
];

/// Octets of oneways under SYNC_NONE that are sent together.
const BUFFERED: u32 = 64 << 10;

/// Approximate octets that are sent for one figure.
const VOLUME: u64 = 512 << 20;

/// Measures the floods with every peer.
pub(crate) fn measure(programs: &Programs, quick: bool, report: &mut Report) -> Outcome<()> {
    for line in LINES {
        eprintln!("{}", line.figure);
        measure_line(programs, *line, quick, report)?;
    }
    Ok(())
}

fn measure_line(programs: &Programs, line: Line, quick: bool, report: &mut Report) -> Outcome<()> {
    let (repetitions, divisor) = if quick { (3, 4) } else { (9, 1) };
    let octets = line.octets.1 + line.octets.0 * u64::from(line.elements);
    let work = Work::new(line.operation, line.elements, (octets, 0));
    let length = Length {
        // The cost of small messages depends on their number.
        calls: (VOLUME / octets).min(100_000) / divisor,
        timed: false,
    };
    let mut samples = vec![Vec::new(); programs.peers.len()];
    let mut buffered = Vec::new();
    for repetition in 0..repetitions {
        eprintln!("repetition {} of {repetitions}", repetition + 1);
        for turn in 0..programs.peers.len() {
            let peer = (turn + repetition) % programs.peers.len();
            let server = Serving::start(programs, programs.peers[peer], &Under::OneProcessor)?;
            samples[peer].push(server.call(&work, length, &Under::OneProcessor)?);
            if programs.peers[peer] == Peer::Orbium {
                let under = Under::OneProcessor;
                buffered.push(server.call_buffered(&work, length, BUFFERED, &under)?);
            }
        }
    }
    let row = Row::new(line.figure, Bound::AtLeast(line.must), line.aim);
    // The raw peer is the first.
    let fractions = samples.iter().map(|own| fraction_of_raw(own, &samples[0]));
    report
        .rows
        .push(row.with(programs.peers.iter().copied().zip(fractions)));
    let figure = format!("{}, SYNC_NONE, 64 KiB together", line.figure);
    let row = Row::new(figure, Bound::AtLeast(line.must), line.aim);
    let fraction = fraction_of_raw(&buffered, &samples[0]);
    report.rows.push(row.with([(Peer::Orbium, fraction)]));
    Ok(())
}
