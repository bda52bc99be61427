// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sensors at four rates, scheduled by a configuration run:
//! `avionics [--seconds N] [--fault] [--load] [--bare] [--svg FILE]`.
//!
//! The air frame serves each rate group by a lane of its own. INS (20 Hz), ADC (10), GPS (5), HUD
//! (10) and BIT (1) are processes that call it, each at the priority of its operation. `--fault`
//! ends the GPS half way, and the HUD sees the mode change. `--load` adds clients that call BIT's
//! lane without pause. `--bare` runs the same periods in threads without an ORB: what is late there
//! is the host's. `--svg` writes the schedule as a Gantt chart.
//!
//! `ORBIUM_SCHED=configure=src/schedule.rs avionics` writes the table and ends.

mod air_frame;
mod arguments;
mod program;
#[allow(dead_code)]
mod schedule;
mod sensor;

use std::process::ExitCode;

use arguments::{Arguments, Role};

orbium::include_idl!("avionics");

/// Whatever can go wrong here ends the process with its message.
type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let done = Arguments::parse(std::env::args().skip(1)).and_then(|it| match it.role {
        Role::Program => program::run(&it),
        Role::Bare => sensor::bare(it.seconds),
        Role::Sensor {
            operation,
            ref air_frame,
        } => sensor::run(operation, air_frame),
        Role::Load { ref air_frame } => sensor::load(air_frame),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("avionics: {error}");
            ExitCode::FAILURE
        }
    }
}
