// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures of a program outside this workspace, with Cargo's default release profile: the time of a
//! clean build of `hello`, the cost of each stub, and the instructions of an empty call.

use std::time::Instant;

use crate::figures::scale;
use crate::peer::built::Programs;
use crate::report::bound::Bound;
use crate::report::figures::{Report, Row};
use xtask::outcome::Outcome;
use xtask::outside::{Package, stubs};
use xtask::shell;

/// Maximum seconds of a clean build of `hello` with two idle processors.
const BUILD: Bound = Bound::AtMost(25.0);

/// Maximum bytes that a stub adds to a stripped program.
const STUB: Bound = Bound::AtMost(16_384.0);

/// Maximum instructions of an empty call, of the client and of the server.
const CALL: [(&str, Bound); 2] = [
    ("client", Bound::AtMost(800.0)),
    ("server", Bound::AtMost(800.0)),
];

/// Measures the build, then the calls with the default features and with all.
pub(crate) fn measure(programs: &Programs, quick: bool, report: &mut Report) -> Outcome<()> {
    let hello = Package::copied("examples", "hello", &programs.scratch)?;
    let begin = Instant::now();
    hello.build(&[])?;
    let mut row = Row::bounded("clean release build of hello, s", BUILD);
    row.orbium = Some(begin.elapsed().as_secs_f64());
    report.rows.push(row);
    measure_stubs(programs, report)?;
    if !shell::has("valgrind") {
        report.left_out("instructions outside the workspace: valgrind is not installed");
        return Ok(());
    }
    let lengths = if quick { (500, 1_500) } else { (1_000, 11_000) };
    for (features, named) in [(&[][..], "default"), (&["orbium/full"][..], "all")] {
        let program = Package::copied("benches", "scale", &programs.scratch)?.build(features)?;
        let sides = scale::empty_call(&program, programs, lengths)?;
        for ((side, bound), profile) in CALL.into_iter().zip([sides.0, sides.1]) {
            let figure =
                format!("instructions per call, outside, {named} features, empty call, {side}");
            let mut row = Row::bounded(figure, bound);
            row.orbium = Some(profile.instructions);
            report.rows.push(row);
        }
    }
    Ok(())
}

/// The cost of a stub in a client: in its program, and in the time of its build.
fn measure_stubs(programs: &Programs, report: &mut Report) -> Outcome<()> {
    let stub = stubs::measure(&programs.scratch)?;
    let mut octets = Row::bounded("octets of a program per stub", STUB);
    octets.orbium = Some(stub.octets);
    let mut build = Row::unbounded("release build per stub, s");
    build.orbium = Some(stub.seconds);
    report.rows.extend([octets, build]);
    Ok(())
}
