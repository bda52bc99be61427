// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks of `cubit.idl`.

use std::thread;
use std::time::Duration;

use orbium::SystemException;

use super::planned::Needs::Nothing;
use super::planned::Planned;
use super::verdict::{Failure, Verdict, expect, failed, require};
use crate::cubit::{Cube, Many, Oneof, TooBigError};
use crate::{load, specimen};

pub(super) const ALL: &[Planned<Cube>] = &[
    ("cubit.noop", Nothing, |cube| Ok(cube.noop()?)),
    ("cubit.post", Nothing, post),
    ("cubit.calls", Nothing, calls),
    ("cubit.cube_octet", Nothing, |cube| {
        expect("6 cubed", &cube.cube_octet(6)?, &216)
    }),
    ("cubit.cube_octet_wraps", Nothing, |cube| {
        expect("7 cubed", &cube.cube_octet(7)?, &87)
    }),
    ("cubit.cube_short", Nothing, |cube| {
        expect("-31 cubed", &cube.cube_short(-31)?, &-29_791)
    }),
    ("cubit.cube_long", Nothing, |cube| {
        expect("1290 cubed", &cube.cube_long(1290)?, &2_146_689_000)
    }),
    ("cubit.cube_long_negative", Nothing, |cube| {
        expect("-3 cubed", &cube.cube_long(-3)?, &-27)
    }),
    ("cubit.too_big", Nothing, |cube| too_big(cube, 1291)),
    ("cubit.too_big_negative", Nothing, |cube| {
        too_big(cube, -1291)
    }),
    ("cubit.too_big_max", Nothing, |cube| too_big(cube, i32::MAX)),
    ("cubit.too_big_min", Nothing, |cube| too_big(cube, i32::MIN)),
    ("cubit.cube_many", Nothing, |cube| {
        let got = cube.cube_many(&many(6, -1290, 31))?;
        expect("the cube", &got, &many(216, -2_146_689_000, 29_791))
    }),
    ("cubit.cube_union_octet", Nothing, |cube| {
        cube_union(cube, &Oneof::O(5), &Oneof::O(125))
    }),
    ("cubit.cube_union_short", Nothing, |cube| {
        cube_union(cube, &Oneof::S(-9), &Oneof::S(-729))
    }),
    ("cubit.cube_union_long", Nothing, |cube| {
        cube_union(cube, &Oneof::L(1000), &Oneof::L(1_000_000_000))
    }),
    ("cubit.cube_union_default", Nothing, |cube| {
        cube_union_default(cube, 0)
    }),
    ("cubit.cube_union_default_kept", Nothing, |cube| {
        cube_union_default(cube, -77)
    }),
    ("cubit.cube_longs", Nothing, |cube| cube_longs(cube, 100)),
    ("cubit.cube_longs_empty", Nothing, |cube| {
        cube_longs(cube, 0)
    }),
    ("cubit.cube_longs_large", Nothing, |cube| {
        cube_longs(cube, 100_000)
    }),
    ("cubit.cube_longs_into", Nothing, cube_longs_into),
    ("cubit.echo_octets_0", Nothing, |cube| octets(cube, 0)),
    ("cubit.echo_octets_1", Nothing, |cube| octets(cube, 1)),
    ("cubit.echo_octets_1023", Nothing, |cube| octets(cube, 1023)),
    ("cubit.echo_octets_8192", Nothing, |cube| octets(cube, 8192)),
    ("cubit.echo_octets_65536", Nothing, |cube| {
        octets(cube, 65_536)
    }),
    ("cubit.echo_octets_5242880", Nothing, |cube| {
        octets(cube, 5 << 20)
    }),
    ("cubit.echo_longs_0", Nothing, |cube| longs(cube, 0)),
    ("cubit.echo_longs_1", Nothing, |cube| longs(cube, 1)),
    ("cubit.echo_longs_1000", Nothing, |cube| longs(cube, 1000)),
    ("cubit.echo_longs_300000", Nothing, |cube| {
        longs(cube, 300_000)
    }),
    ("cubit.echo_manys_0", Nothing, |cube| manys(cube, 0)),
    ("cubit.echo_manys_1", Nothing, |cube| manys(cube, 1)),
    ("cubit.echo_manys_3", Nothing, |cube| manys(cube, 3)),
    ("cubit.echo_manys_1000", Nothing, |cube| manys(cube, 1000)),
    ("cubit.echo_manys_100000", Nothing, |cube| {
        manys(cube, 100_000)
    }),
    ("cubit.echo_into", Nothing, echo_into),
];

const fn many(o: u8, l: i32, s: i16) -> Many {
    Many { o, l, s }
}

/// Each query of the attribute is a request as well; a server with many threads may serve a post
/// after the query that followed it.
fn post(cube: &Cube) -> Verdict {
    const POSTS: u64 = 5;
    let start = cube.calls()?;
    for v in 0..5 {
        cube.post(v)?;
    }
    let mut seen = 0;
    for looks in 1..2500 {
        seen = cube.calls()? - start - looks;
        if seen >= POSTS {
            break;
        }
        thread::sleep(Duration::from_millis(2));
    }
    expect("the number of posts served", &seen, &POSTS)
}

fn calls(cube: &Cube) -> Verdict {
    let start = cube.calls()?;
    cube.noop()?;
    cube.cube_octet(1)?;
    let served = cube.calls()? - start;
    expect("the number of requests served", &served, &3)
}

fn too_big(cube: &Cube, v: i32) -> Verdict {
    match cube.cube_long(v) {
        Err(TooBigError::TooBig(exception)) => {
            expect("the limit", &exception.limit, &1290)?;
            require(!exception.why.is_empty(), "why is empty")
        }
        Err(other) => Err(other.into()),
        Ok(value) => Err(failed(format!("{value} was returned, TooBig not raised"))),
    }
}

fn cube_union(cube: &Cube, sent: &Oneof, want: &Oneof) -> Verdict {
    expect("the cube", &cube.cube_union(sent)?, want)
}

fn cube_union_default(cube: &Cube, discriminator: i32) -> Verdict {
    let arm = |value| Oneof::M {
        discriminator,
        value,
    };
    cube_union(cube, &arm(many(3, 4, 5)), &arm(many(27, 64, 125)))
}

/// Numbers with cubes that fit, of both signs.
fn roots(size: i32) -> Vec<i32> {
    let sign = |i| if i % 2 == 0 { 1 } else { -1 };
    (0..size).map(|i| i % 1291 * sign(i)).collect()
}

fn cube_longs(cube: &Cube, size: i32) -> Verdict {
    let sent = roots(size);
    let want: Vec<i32> = sent.iter().map(|v| v.pow(3)).collect();
    let got = cube.cube_longs(&sent)?;
    require(got == want, "a cube is wrong")
}

/// The previous content of the vector is replaced.
fn cube_longs_into(cube: &Cube) -> Verdict {
    let mut cubes = vec![99; 10];
    cube.cube_longs_into(&[2, -3], &mut cubes)?;
    expect("the cubes", &cubes, &vec![8, -27])
}

fn octets(cube: &Cube, size: usize) -> Verdict {
    let answer = load::echo(size, specimen::octet, |v| cube.echo_octets(v));
    answer.map_err(Failure::Failed)
}

fn longs(cube: &Cube, size: usize) -> Verdict {
    let answer = load::echo(size, specimen::long, |v| cube.echo_longs(v));
    answer.map_err(Failure::Failed)
}

fn manys(cube: &Cube, size: usize) -> Verdict {
    let answer = load::echo(size, specimen::many, |v| cube.echo_manys(v));
    answer.map_err(Failure::Failed)
}

/// One vector, into which is read repeatedly: longer, shorter, empty.
fn echo_into(cube: &Cube) -> Verdict {
    fn each<E: PartialEq + std::fmt::Debug>(
        at: fn(usize) -> E,
        call: impl Fn(&[E], &mut Vec<E>) -> Result<(), SystemException>,
    ) -> Verdict {
        let mut got = Vec::new();
        for size in [3, 1000, 7, 0, 2] {
            let sent: Vec<E> = (0..size).map(at).collect();
            call(&sent, &mut got)?;
            expect("the echo", &got, &sent)?;
        }
        Ok(())
    }
    each(specimen::octet, |v, out| cube.echo_octets_into(v, out))?;
    each(specimen::long, |v, out| cube.echo_longs_into(v, out))?;
    each(specimen::many, |v, out| cube.echo_manys_into(v, out))
}
