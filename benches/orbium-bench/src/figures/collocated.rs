// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls within one ORB of this process: nanoseconds per call.

use std::fmt;
use std::hint::black_box;
use std::time::Instant;

use clap::Args;
use orbium::{Config, Orb, config::Collocation};
use orbium_cli::Failure;
use orbium_demo::serve;
use xtask::outcome::Outcome;

use crate::peer::contender::Peer;
use crate::report::bound::Bound;
use crate::report::figures::{Report, Row};
use crate::statistics::ratios::median;

#[derive(Args, Debug)]
pub(crate) struct CollocatedArgs {
    /// Calls of each repetition: few, so that most are not interrupted
    #[arg(long, default_value_t = 5_000)]
    calls: u32,
}

/// A line of the table: the kind of collocation, with its bound and aim.
type Line = (Collocation, &'static str, Option<(f64, f64)>);

const LINES: [Line; 3] = [
    (
        Collocation::ThroughPoa,
        "through the POA",
        Some((100.0, 50.0)),
    ),
    (Collocation::Direct, "direct", Some((20.0, 10.0))),
    (Collocation::Marshalled, "marshalled", None),
];

/// Nanoseconds of an empty call and of a call with a long, each the median of 99 repetitions.
fn measured(collocation: Collocation, calls: u32) -> Outcome<[f64; 2]> {
    let orb = Orb::new(Config {
        collocation,
        ..Config::default()
    });
    let orb = orb.map_err(|error| error.to_string())?;
    let served = serve(&orb).map_err(|error| error.to_string())?;
    let cube = &served.cube;
    let empty = timed(calls, || cube.noop())?;
    let long = timed(calls, || {
        let cubed = cube.cube_long(black_box(3));
        cubed.map(|cubed| {
            black_box(cubed);
        })
    })?;
    orb.shutdown(true).map_err(|error| error.to_string())?;
    Ok([empty, long])
}

/// Nanoseconds of a call, the median of 99 repetitions, in a program without other work, as
/// omniORB's.
fn timed<E: fmt::Display>(calls: u32, call: impl Fn() -> Result<(), E>) -> Outcome<f64> {
    let mut each = Vec::new();
    for _ in 0..99 {
        let begun = Instant::now();
        let called = (0..calls).try_for_each(|_| call());
        each.push(begun.elapsed().as_nanos() as f64 / f64::from(calls));
        called.map_err(|error| error.to_string())?;
    }
    median(&each).ok_or_else(|| "nothing was measured".to_owned())
}

/// Measures each kind, and enters it in the report.
pub(crate) fn measure(quick: bool, report: &mut Report) -> Outcome<()> {
    let calls = if quick { 500 } else { 5_000 };
    for (collocation, name, bounds) in LINES {
        let [empty, _] = measured(collocation, calls)?;
        let figure = format!("collocated empty call, {name}, ns");
        let mut row = match bounds {
            Some((must, aim)) => Row::new(figure, Bound::AtMost(must), aim),
            None => Row::unbounded(figure),
        };
        row.set(Peer::Orbium, Some(empty));
        report.rows.push(row);
    }
    Ok(())
}

/// Measures each kind, and prints it.
///
/// # Errors
/// A call failed.
pub(crate) fn run(args: &CollocatedArgs) -> Result<(), Failure> {
    for (collocation, name, _) in LINES {
        let [empty, long] = measured(collocation, args.calls).map_err(Failure::because)?;
        println!("{name:16} noop {empty:7.1} ns   cube_long {long:7.1} ns");
    }
    Ok(())
}
