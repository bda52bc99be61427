// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask soak`: repeats every fault and checks for leaks; or sends events while the programs
//! that process them are killed at random.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use xtask::outcome::Outcome;
use xtask::shell;

/// Default number of cycles of each fault.
const CYCLES: u64 = 100_000;
/// Default duration of random kills, in seconds.
const SECONDS: u64 = 600;
/// Default rate of each of three sources, in events per second.
const RATE: u64 = 1000;
/// Default maximum interval between two kills, in milliseconds; the minimum is a quarter of it.
const MAX_KILL_INTERVAL_MS: u64 = 800;

/// Runs the faults of `crates/orbium-rt/tests/soak`, which print a line each, or with the argument
/// `events` the random kills of `crates/orbium-cli/tests/suite/events_random_kills.rs`, which print
/// their seed.
///
/// # Errors
/// A fault leaves a leak, or affects another caller; an event is lost.
pub(crate) fn run(arguments: impl Iterator<Item = String>) -> Outcome<()> {
    let mut arguments = arguments.peekable();
    match arguments.next_if(|it| it == "events") {
        Some(_) => kills(arguments),
        None => faults(arguments),
    }
}

fn faults(mut arguments: impl Iterator<Item = String>) -> Outcome<()> {
    let (mut cycles, mut fault) = (CYCLES, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--cycles" => cycles = number(&argument, arguments.next())?,
            other if other.starts_with('-') => {
                return Err(format!("soak: unknown option {other}"));
            }
            name if fault.is_none() => fault = Some(name.to_owned()),
            more => return Err(format!("soak: one FAULT, and not {more:?} too")),
        }
    }
    let mut command = test("orbium-rt", "soak", "every_fault_as_often_as_asked");
    command.env("ORBIUM_SOAK_CYCLES", cycles.to_string());
    if let Some(fault) = fault {
        command.env("ORBIUM_SOAK_FAULT", fault);
    }
    shell::must(&mut command)
}

fn kills(mut arguments: impl Iterator<Item = String>) -> Outcome<()> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seed = since.map_or(1, |it| it.as_secs());
    let mut asked = [
        ("--seconds", "ORBIUM_SOAK_SECONDS", SECONDS),
        ("--seed", "ORBIUM_SOAK_SEED", seed),
        ("--rate", "ORBIUM_SOAK_RATE", RATE),
        ("--pause", "ORBIUM_SOAK_PAUSE", MAX_KILL_INTERVAL_MS),
        ("--partition", "ORBIUM_SOAK_PARTITION", 0),
    ];
    while let Some(argument) = arguments.next() {
        let named = asked.iter_mut().find(|(name, ..)| *name == argument);
        let (.., value) =
            named.ok_or_else(|| format!("soak events: unknown argument {argument}"))?;
        *value = number(&argument, arguments.next())?;
    }
    let name = "events_random_kills::random_kills_for_as_long_as_asked";
    let mut command = test("orbium-cli", "suite", name);
    for (_, variable, value) in asked {
        command.env(variable, value.to_string());
    }
    // Without the server the test would be skipped.
    command.env("ORBIUM_REQUIRE_PEERS", "1");
    shell::must(&mut command)
}

/// The value of an option.
fn number(option: &str, value: Option<String>) -> Outcome<u64> {
    let number = value.and_then(|it| it.parse().ok());
    number.ok_or_else(|| format!("soak: {option} takes a number"))
}

/// A run of one test that is ignored in ordinary runs.
fn test(package: &str, program: &str, name: &str) -> Command {
    let mut command = shell::cargo();
    command.args(["test", "--release", "-p", package, "--test", program]);
    command.args(["--", "--ignored", "--nocapture", "--exact", name]);
    command
}
