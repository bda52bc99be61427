// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oneways as fast as they go, over a raw socket that moves the same octets.
//! The clock stops when the receiver has accounted for every element.

use super::peer::{Length, Serving, Work};
use super::programs::Programs;
use super::report::{Bound, Report, Row, fraction_of_raw};
use super::server::Under;
use crate::outcome::Outcome;

/// As many structs of 24 octets as fit 64 KiB.
const STRUCTS: u32 = 65_536 / 24;

/// Measures the flood with every peer.
pub(super) fn measure(programs: &Programs, quick: bool, report: &mut Report) -> Outcome<()> {
    let (repetitions, calls) = if quick { (3, 2_000) } else { (9, 8_000) };
    // A struct takes 24 octets, and so does what is before the first with it.
    let octets = 72 + 24 * u64::from(STRUCTS);
    let work = Work::new("send_structs", STRUCTS, (octets, 0));
    let length = Length {
        calls,
        timed: false,
    };
    let mut samples = vec![Vec::new(); programs.peers.len()];
    for repetition in 0..repetitions {
        eprintln!("repetition {} of {repetitions}", repetition + 1);
        for turn in 0..programs.peers.len() {
            let peer = (turn + repetition) % programs.peers.len();
            let server = Serving::start(programs, programs.peers[peer], &Under::OneProcessor)?;
            samples[peer].push(server.call(&work, length, &Under::OneProcessor)?);
        }
    }
    let row = Row::new(
        "flood of BinStruct, 64 KiB buffers, fraction of raw octets",
        Bound::AtLeast(0.75),
        0.95,
    );
    // The raw peer is the first.
    let fractions = samples.iter().map(|own| fraction_of_raw(own, &samples[0]));
    report
        .rows
        .push(row.with(programs.peers.iter().copied().zip(fractions)));
    Ok(())
}
