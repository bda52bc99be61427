// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures that do not depend on the machine's load: instructions, allocations and system
//! calls per call, as the difference of two run lengths.

use std::path::Path;

use super::scale;
use crate::peer::built::Programs;
use crate::peer::closed_loop::{Length, Serving, Work};
use crate::peer::contender::Peer;
use crate::peer::server::Under;
use crate::peer::way::Way;
use crate::report::bound::Bound;
use crate::report::figures::{Report, Row};
use crate::statistics::callgrind::Profile;
use xtask::outcome::Outcome;
use xtask::shell;

/// A kind of work, with the bounds and aims of each side.
struct Line {
    call: &'static str,
    work: Work,
    /// The bound for each side, and the aim.
    instructions: Option<(Sides<f64>, f64)>,
    /// Whether a steady state must not use the allocator.
    allocates_nothing: bool,
}

const EMPTY: Work = Work::new("noop", 0, (64, 24));
const MANYS: Work = Work::new("echo_manys", 256, (72 + 2_054, 24 + 2_054));

const LINES: &[Line] = &[
    Line {
        call: "empty call",
        work: EMPTY,
        instructions: Some(((780.0, 670.0), 500.0)),
        allocates_nothing: true,
    },
    Line {
        call: "cube_long",
        work: Work::new("cube_long", 0, (76, 28)),
        instructions: None,
        allocates_nothing: true,
    },
    Line {
        call: "echo of 1 KiB octets",
        work: Work::new("echo_octets", 1024, (76 + 1024, 28 + 1024)),
        instructions: None,
        allocates_nothing: true,
    },
    Line {
        call: "echo of 256 BinStruct",
        work: Work::new("echo_structs", 256, (72 + 6_144, 24 + 6_144)),
        instructions: Some(((2_902.0, 2_200.0), 2_000.0)),
        allocates_nothing: false,
    },
    Line {
        call: "echo of 256 Many",
        work: MANYS,
        instructions: Some(((6_442.0, 6_900.0), 6_000.0)),
        allocates_nothing: false,
    },
];

/// The two sides of a call, the client first.
pub(crate) type Sides<T> = (T, T);

/// Instructions and allocations per call.
pub(crate) fn instructions(programs: &Programs, quick: bool, report: &mut Report) -> Outcome<()> {
    if !shell::has("valgrind") {
        report.left_out("instructions: valgrind is not installed");
        return Ok(());
    }
    for line in LINES {
        let mut found = Vec::new();
        for peer in programs.orbs() {
            eprintln!("{} of {}", line.call, peer.name());
            let cost = per_call(programs, (peer, Way::TCP), &line.work, quick)?;
            found.push((peer, cost));
        }
        let bounds = line.instructions.map(|((client, server), aim)| {
            let most = |most| (Bound::AtMost(most), aim);
            (most(client), most(server))
        });
        let of = |profile: Profile| profile.instructions;
        push_sides(report, "instructions", line.call, bounds, &found, of);
        if line.allocates_nothing {
            // A buffer that grows once in thousands of calls counts as steady.
            let of = |profile: Profile| profile.allocations;
            let none = (Bound::AtMost(0.01), 0.0);
            let bounds = Some((none, none));
            push_sides(report, "allocations", line.call, bounds, &found, of);
        }
    }
    messaging(programs, quick, report)?;
    scale::lanes(programs, quick, report)
}

/// The messaging protocols that only orbium supports: `native` avoids marshalling structs with
/// padding, and one with shorter headers costs no more than GIOP.
fn messaging(programs: &Programs, quick: bool, report: &mut Report) -> Outcome<()> {
    let count = |way, work| {
        let cost = per_call(programs, (Peer::Orbium, way), work, quick)?;
        Ok::<_, String>((cost.0.instructions, cost.1.instructions))
    };
    let native = count(Way::TCP.with_messaging("native"), &MANYS)?;
    let bound = (Bound::AtMost(3_000.0), 2_902.0);
    let call = "echo of 256 Many in native";
    let found = [(Peer::Orbium, native)];
    push_sides(
        report,
        "instructions",
        call,
        Some((bound, bound)),
        &found,
        |n| n,
    );
    let giop = count(Way::TCP, &EMPTY)?;
    for name in ["giop-lite", "fixed"] {
        eprintln!("empty call in {name}");
        let other = count(Way::TCP.with_messaging(name), &EMPTY)?;
        let figure = format!("instructions, both sides, empty call, {name} over GIOP");
        let ratio = (other.0 + other.1) / (giop.0 + giop.1);
        let row = Row::new(figure, Bound::AtMost(1.0), 0.99);
        report.rows.push(row.with([(Peer::Orbium, Some(ratio))]));
    }
    Ok(())
}

/// The cost of a call on each side: the difference of two lengths of a run.
fn per_call(
    programs: &Programs,
    (peer, way): (Peer, Way<'_>),
    work: &Work,
    quick: bool,
) -> Outcome<Sides<Profile>> {
    let (short, long) = if quick { (200, 700) } else { (1_000, 4_000) };
    let (client, server) = profiles(programs, peer, way, work, short)?;
    let (more_client, more_server) = profiles(programs, peer, way, work, long)?;
    let calls = long - short;
    Ok((
        more_client.per_call(client, calls),
        more_server.per_call(server, calls),
    ))
}

/// The profiles of both sides from start to end.
pub(crate) fn profiles(
    programs: &Programs,
    peer: Peer,
    way: Way<'_>,
    work: &Work,
    calls: u64,
) -> Outcome<Sides<Profile>> {
    let file = |side: &str| programs.scratch.join(format!("callgrind.{side}"));
    let (client, server) = (file("client"), file("server"));
    let under = Under::Callgrind(server.clone());
    run(
        programs,
        (peer, way),
        work,
        calls,
        &under,
        &Under::Callgrind(client.clone()),
    )?;
    Ok((Profile::read(&client)?, Profile::read(&server)?))
}

fn run(
    programs: &Programs,
    (peer, way): (Peer, Way<'_>),
    work: &Work,
    calls: u64,
    server: &Under,
    client: &Under,
) -> Outcome<()> {
    let serving = Serving::start_over(programs, peer, way, server)?;
    let length = Length {
        calls,
        timed: false,
    };
    serving.call(work, length, client)?;
    serving.end()
}

/// System calls per call.
pub(crate) fn syscalls(programs: &Programs, quick: bool, report: &mut Report) -> Outcome<()> {
    if !shell::has("strace") {
        report.left_out("syscalls: strace is not installed");
        return Ok(());
    }
    let (short, long) = if quick { (200, 1_200) } else { (1_000, 6_000) };
    let mut found = Vec::new();
    for peer in programs.orbs() {
        eprintln!("empty call of {}", peer.name());
        let (client, server) = traced(programs, peer, &EMPTY, short)?;
        let (more_client, more_server) = traced(programs, peer, &EMPTY, long)?;
        #[expect(clippy::cast_precision_loss)] // Far below 2⁵³.
        let calls = (long - short) as f64;
        let cost = (
            (more_client - client) / calls,
            (more_server - server) / calls,
        );
        found.push((peer, cost));
    }
    let bound = (Bound::AtMost(2.02), 2.0);
    push_sides(
        report,
        "system calls",
        "empty call",
        Some((bound, bound)),
        &found,
        |n: f64| n,
    );
    Ok(())
}

fn traced(programs: &Programs, peer: Peer, work: &Work, calls: u64) -> Outcome<Sides<f64>> {
    let file = |side: &str| programs.scratch.join(format!("strace.{side}"));
    let (client, server) = (file("client"), file("server"));
    let under = Under::Strace(server.clone());
    run(
        programs,
        (peer, Way::TCP),
        work,
        calls,
        &under,
        &Under::Strace(client.clone()),
    )?;
    Ok((count(&client)?, count(&server)?))
}

/// The sum in the last line of `strace -c`: `100.00 0.1 25 4012 3 total`.
fn count(file: &Path) -> Outcome<f64> {
    let text =
        std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    text.lines()
        .rev()
        .find(|line| line.ends_with(" total"))
        .and_then(|line| line.split_whitespace().nth(3)?.parse().ok())
        .ok_or_else(|| format!("{} has no total", file.display()))
}

/// Adds one row for each side of a measurement.
fn push_sides<T: Copy>(
    report: &mut Report,
    what: &str,
    call: &str,
    bounds: Option<Sides<(Bound, f64)>>,
    found: &[(Peer, Sides<T>)],
    of: impl Fn(T) -> f64,
) {
    let mut side = |name: &str, bound: Option<(Bound, f64)>, choose: fn(&Sides<T>) -> T| {
        let figure = format!("{what} per call, {call}, {name}");
        let row = match bound {
            Some((must, aim)) => Row::new(figure, must, aim),
            None => Row::unbounded(figure),
        };
        let values = found
            .iter()
            .map(|(peer, cost)| (*peer, Some(of(choose(cost)))));
        report.rows.push(row.with(values));
    };
    side("client", bounds.map(|it| it.0), |cost| cost.0);
    side("server", bounds.map(|it| it.1), |cost| cost.1);
}
