// SPDX-License-Identifier: MIT OR Apache-2.0
//! Growth of the cost of a call with the number of objects and of operations, and the cost of
//! a lane.

use std::path::Path;
use std::process::Stdio;

use crate::peer::built::Programs;
use crate::peer::contender::Peer;
use crate::peer::server::{Server, Under};
use crate::report::bound::Bound;
use crate::report::figures::{Report, Row};
use crate::statistics::callgrind::Profile;
use xtask::outcome::Outcome;
use xtask::shell;

/// The served objects.
#[derive(Clone, Copy)]
struct Served {
    interface: &'static str,
    objects: u32,
}

const SMALL: Served = Served {
    interface: "narrow",
    objects: 1,
};
const MANY_OBJECTS: Served = Served {
    interface: "narrow",
    objects: 100_000,
};
const MANY_OPERATIONS: Served = Served {
    interface: "wide",
    objects: 1,
};

const LANES: Served = Served {
    interface: "lanes",
    objects: 4,
};

/// The maximum ratio: constant but for three percent.
const BOUND: Bound = Bound::AtMost(1.03);

/// Measures small and large servers, and compares them.
pub(crate) fn measure(programs: &Programs, quick: bool, report: &mut Report) -> Outcome<()> {
    if !shell::has("valgrind") {
        report.left_out("scale: valgrind is not installed");
        return Ok(());
    }
    // Multiples of 500, so that every operation is called equally often. With many objects the
    // start takes a varying number of instructions (hash tables are seeded at random), so the run
    // has to be long in comparison.
    let lengths = if quick { (500, 5_500) } else { (500, 40_500) };
    let small = cost(programs, SMALL, lengths)?;
    let objects = cost(programs, MANY_OBJECTS, lengths)?;
    let operations = cost(programs, MANY_OPERATIONS, lengths)?;

    let mut compare = |figure: &str, large: Profile, small: Profile| {
        let ratio = large.instructions / small.instructions;
        let row = Row::new(figure, BOUND, 1.0);
        report.rows.push(row.with([(Peer::Orbium, Some(ratio))]));
    };
    compare(
        "100,000 objects over 1, instructions, server",
        objects.1,
        small.1,
    );
    compare(
        "500 operations over 5, instructions, client",
        operations.0,
        small.0,
    );
    compare(
        "500 operations over 5, instructions, server",
        operations.1,
        small.1,
    );
    Ok(())
}

/// Compares calls to an object served by one of four lanes, with a thread per connection, with
/// those to one that the ORB itself serves with the same strategy.
pub(crate) fn lanes(programs: &Programs, quick: bool, report: &mut Report) -> Outcome<()> {
    let lengths = if quick { (500, 2_500) } else { (500, 10_500) };
    let plain = cost(programs, SMALL, lengths)?;
    let lanes = cost(programs, LANES, lengths)?;
    for (side, lanes, plain) in [("client", lanes.0, plain.0), ("server", lanes.1, plain.1)] {
        let figure = format!("lanes over thread per connection, instructions, {side}");
        let mut row = Row::new(figure, BOUND, 1.0);
        row.orbium = Some(lanes.instructions / plain.instructions);
        report.rows.push(row);
    }
    Ok(())
}

/// The cost of an empty call with another build of the program: of the client and of the server.
pub(crate) fn empty_call(
    program: &Path,
    programs: &Programs,
    lengths: (u64, u64),
) -> Outcome<(Profile, Profile)> {
    cost_with(program, programs, SMALL, lengths)
}

/// The cost per call, of the client and of the server.
fn cost(programs: &Programs, served: Served, lengths: (u64, u64)) -> Outcome<(Profile, Profile)> {
    cost_with(&programs.scale, programs, served, lengths)
}

fn cost_with(
    program: &Path,
    programs: &Programs,
    served: Served,
    (short, long): (u64, u64),
) -> Outcome<(Profile, Profile)> {
    eprintln!("{} with {} objects", served.interface, served.objects);
    let (client, server) = profiles(program, programs, served, short)?;
    let (more_client, more_server) = profiles(program, programs, served, long)?;
    let calls = long - short;
    Ok((
        more_client.per_call(client, calls),
        more_server.per_call(server, calls),
    ))
}

fn profiles(
    program: &Path,
    programs: &Programs,
    served: Served,
    calls: u64,
) -> Outcome<(Profile, Profile)> {
    let file = |name: &str| programs.scratch.join(name);
    let (client, server) = (file("scale.client"), file("scale.server"));
    let reference = file("scale.ior");
    let mut command = Under::Callgrind(server.clone()).command(program);
    command
        .args(["serve", served.interface, &served.objects.to_string()])
        .arg(&reference);
    let serving = Server::ready_by_file(&mut command, &reference)?;
    let mut command = Under::Callgrind(client.clone()).command(program);
    command
        .args(["call", served.interface, &calls.to_string()])
        .arg(&reference)
        .stdin(Stdio::null());
    shell::must(&mut command)?;
    serving.end()?;
    Ok((Profile::read(&client)?, Profile::read(&server)?))
}
