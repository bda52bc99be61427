// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sensors at four rates whose events meet in a channel, scheduled by a configuration run.
//!
//! INS (20 Hz), ADC (10) and GPS (5) are processes that push events to the air frame's channel, over
//! shared memory, and BIT (1) and HUD (10) processes that call it over IIOP. Each rate group has a port
//! and a lane of its own: 10020, 10010, 10005, 10001. The air frame steers by each event of the INS, and
//! navigates by one of all three: a conjunction. Threads without an ORB do the same work on
//! another processor: what is late there is the host's.
//!
//! `ORBIUM_SCHED=configure=src/schedule.rs avionics` writes the schedule and ends; `avionics --help`
//! says what a run can be like.

mod air_frame;
mod arguments;
mod bare;
mod flight;
mod measured;
mod picture;
mod process;
mod program;
mod rate_groups;
#[allow(dead_code)]
mod schedule;
mod sensor;
mod view;
mod work;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Role};

orbium::include_idl!("avionics");

/// Whatever can go wrong here ends the process with its message.
type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.role {
        None => program::run(&arguments),
        Some(Role::Bare(settings)) => bare::run(settings),
        Some(Role::Push { sensor, channel }) => sensor::push(*sensor, channel),
        Some(Role::Call { caller, object }) => sensor::call(*caller, object),
        Some(Role::Load { class, object }) => sensor::load(*class, object),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("avionics: {error}");
            ExitCode::FAILURE
        }
    }
}
