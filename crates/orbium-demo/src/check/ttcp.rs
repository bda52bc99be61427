// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks of `ttcp.idl`: floods, counted and summed on both sides.

use super::planned::Needs::Nothing;
use super::planned::Planned;
use super::verdict::{Failure, Verdict, expect};
use crate::load::{self, Load};
use crate::specimen;
use crate::ttcp::{Receiver, Tally};

/// More than one buffer of any size, for all types.
const ELEMENTS: usize = 5000;

pub(super) const ALL: &[Planned<Receiver>] = &[
    ("ttcp.send_shorts", Nothing, |r| flood(r, Load::SendShorts)),
    ("ttcp.send_chars", Nothing, |r| flood(r, Load::SendChars)),
    ("ttcp.send_longs", Nothing, |r| flood(r, Load::SendLongs)),
    ("ttcp.send_octets", Nothing, |r| flood(r, Load::SendOctets)),
    ("ttcp.send_doubles", Nothing, |r| {
        flood(r, Load::SendDoubles)
    }),
    ("ttcp.send_structs", Nothing, |r| {
        flood(r, Load::SendStructs)
    }),
    ("ttcp.send_empty", Nothing, |r| {
        verify(r, Load::SendStructs, 0)
    }),
    ("ttcp.start_clears", Nothing, |r| {
        r.send_octets(&[1, 2, 3])?;
        r.start_timer()?;
        expect("the tally", &r.stop_timer()?, &Tally::default())
    }),
    ("ttcp.echo_structs_0", Nothing, |r| structs(r, 0)),
    ("ttcp.echo_structs_1", Nothing, |r| structs(r, 1)),
    ("ttcp.echo_structs_2", Nothing, |r| structs(r, 2)),
    ("ttcp.echo_structs_1000", Nothing, |r| structs(r, 1000)),
    ("ttcp.echo_structs_50000", Nothing, |r| structs(r, 50_000)),
];

fn flood(receiver: &Receiver, load: Load) -> Verdict {
    verify(receiver, load, ELEMENTS)
}

fn verify(receiver: &Receiver, load: Load, size: usize) -> Verdict {
    let answer = load.verify(&receiver.clone().into(), size);
    answer.map_err(Failure::Failed)
}

fn structs(receiver: &Receiver, size: usize) -> Verdict {
    let answer = load::echo(size, specimen::bin_struct, |v| receiver.echo_structs(v));
    answer.map_err(Failure::Failed)
}
