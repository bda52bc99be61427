// SPDX-License-Identifier: MIT OR Apache-2.0
//! The asynchronous checks of `cubit.idl`.

use super::forms::{answer, each_form};
use crate::check::planned::Needs::Nothing;
use crate::check::planned::Planned;
use crate::check::verdict::{Verdict, expect, failed, require};
use crate::cubit::{Cube, Many, Oneof, TooBigError};
use crate::specimen;

pub(in crate::check) const ALL: &[Planned<Cube>] = &[
    ("async.noop", Nothing, |c| answer(&(), || c.noop_async())),
    ("async.calls", Nothing, calls),
    ("async.cube_octet", Nothing, |c| {
        answer(&216, || c.cube_octet_async(6))
    }),
    ("async.cube_short", Nothing, |c| {
        answer(&-29_791, || c.cube_short_async(-31))
    }),
    ("async.cube_long", Nothing, |c| {
        answer(&2_146_689_000, || c.cube_long_async(1290))
    }),
    ("async.too_big", Nothing, too_big),
    ("async.cube_many", Nothing, |c| {
        let (sent, want) = (
            Many { o: 2, l: -3, s: 4 },
            Many {
                o: 8,
                l: -27,
                s: 64,
            },
        );
        answer(&want, || c.cube_many_async(&sent))
    }),
    ("async.cube_union", Nothing, |c| {
        answer(&Oneof::S(-729), || c.cube_union_async(&Oneof::S(-9)))
    }),
    ("async.cube_longs", Nothing, |c| {
        answer(&vec![1, -8, 27], || c.cube_longs_async(&[1, -2, 3]))
    }),
    ("async.echo_octets", Nothing, |c| {
        let sent: Vec<_> = (0..1023).map(specimen::octet).collect();
        answer(&sent, || c.echo_octets_async(&sent))
    }),
    ("async.echo_octets_large", Nothing, |c| {
        let sent: Vec<_> = (0..1 << 20).map(specimen::octet).collect();
        each_form(
            || c.echo_octets_async(&sent),
            |got| require(got? == sent, "the octets differ"),
        )
    }),
    ("async.echo_longs", Nothing, |c| {
        let sent: Vec<_> = (0..1000).map(specimen::long).collect();
        answer(&sent, || c.echo_longs_async(&sent))
    }),
    ("async.echo_manys", Nothing, |c| {
        let sent: Vec<_> = (0..100).map(specimen::many).collect();
        answer(&sent, || c.echo_manys_async(&sent))
    }),
];

/// Each query of the counter is a request too.
fn calls(cube: &Cube) -> Verdict {
    let start = cube.calls()?;
    let served = cube.calls_async().wait()? - start;
    expect("the number of requests served", &served, &1)
}

fn too_big(cube: &Cube) -> Verdict {
    each_form(
        || cube.cube_long_async(-1291),
        |got| match got {
            Err(TooBigError::TooBig(exception)) => expect("the limit", &exception.limit, &1290),
            Err(other) => Err(other.into()),
            Ok(value) => Err(failed(format!("{value} was returned, TooBig not raised"))),
        },
    )
}
