// SPDX-License-Identifier: MIT OR Apache-2.0
//! `cargo xtask soak`: every fault again and again, and what is left of it.

use xtask::outcome::Outcome;
use xtask::shell;

/// Cycles of each fault unless it is said.
const CYCLES: u64 = 100_000;

/// Runs the faults of `crates/orbium-rt/tests/soak`, which print a line each.
///
/// # Errors
/// Something is left of a fault, or another caller was touched.
pub(crate) fn run(mut arguments: impl Iterator<Item = String>) -> Outcome<()> {
    let (mut cycles, mut fault) = (CYCLES, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--cycles" => {
                let number = arguments.next().and_then(|it| it.parse().ok());
                cycles = number.ok_or("soak: --cycles takes a number")?;
            }
            other if other.starts_with('-') => {
                return Err(format!("soak: unknown option {other}"));
            }
            name if fault.is_none() => fault = Some(name.to_owned()),
            more => return Err(format!("soak: one FAULT, and not {more:?} too")),
        }
    }
    let mut command = shell::cargo();
    command.args(["test", "--release", "-p", "orbium-rt", "--test", "soak"]);
    command.args(["--", "--ignored", "--nocapture", "--exact"]);
    command.arg("every_fault_as_often_as_asked");
    command.env("ORBIUM_SOAK_CYCLES", cycles.to_string());
    if let Some(fault) = fault {
        command.env("ORBIUM_SOAK_FAULT", fault);
    }
    shell::must(&mut command)
}
