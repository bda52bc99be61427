// SPDX-License-Identifier: MIT OR Apache-2.0
//! The processes that call the air frame.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use orbium::{Orb, SystemException};
use orbium_scheduler::{Overload, PeriodicTask, Statistics, at_priority_of};

use crate::Failure;
use crate::arguments::SENSORS;
use crate::avionics::{AirFrame, Mode};
use crate::schedule::{self, SCHEDULE};

/// Calls an operation in each period until standard input ends, then prints what was measured.
pub(crate) fn run(operation: usize, air_frame: &str) -> Result<(), Failure> {
    let orb = Orb::builder().build()?;
    let air_frame: AirFrame = orb.resolve(air_frame)?;
    let failures = Arc::new(AtomicU64::new(0));
    let failed = Arc::clone(&failures);
    let task = PeriodicTask::scheduled(&SCHEDULE, operation)?
        .soft(true)
        .overload(Overload::Skip)
        .start(move |job| {
            let number = u32::try_from(job.number()).unwrap_or(u32::MAX);
            if call(&air_frame, operation, number).is_err() {
                failed.fetch_add(1, Ordering::Relaxed);
            }
        })?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    let statistics = task.stop()?;
    print(operation, &statistics, failures.load(Ordering::Relaxed));
    orb.shutdown(true)?;
    Ok(())
}

/// What the HUD showed last, as the number of a mode.
static SHOWN: AtomicU32 = AtomicU32::new(Mode::Navigating as u32);

fn call(air_frame: &AirFrame, operation: usize, number: u32) -> Result<(), SystemException> {
    match operation {
        schedule::AVIONICS_AIRFRAME_INS => air_frame.ins(number),
        schedule::AVIONICS_AIRFRAME_ADC => air_frame.adc(number),
        schedule::AVIONICS_AIRFRAME_GPS => air_frame.gps(number),
        schedule::AVIONICS_AIRFRAME_HUD => {
            let display = air_frame.hud(number)?;
            let mode = display.current_mode as u32;
            if SHOWN.swap(mode, Ordering::Relaxed) != mode {
                println!(
                    "mode: {:?} after {} frames",
                    display.current_mode, display.frames
                );
            }
            Ok(())
        }
        _ => air_frame.bit(number),
    }
}

/// Calls the least urgent operation without pause until standard input ends.
pub(crate) fn load(air_frame: &str) -> Result<(), Failure> {
    let orb = Orb::builder().build()?;
    let air_frame: AirFrame = orb.resolve(air_frame)?;
    // It ends with the process.
    std::thread::spawn(move || {
        let least = schedule::AVIONICS_AIRFRAME_BIT;
        at_priority_of(&SCHEDULE, least, || while air_frame.bit(0).is_ok() {})
    });
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// The same periods in threads without an ORB, each of which only wakes up.
pub(crate) fn bare(seconds: u64) -> Result<(), Failure> {
    let mut tasks = Vec::new();
    for (_, operation) in SENSORS {
        let task = PeriodicTask::scheduled(&SCHEDULE, operation)?;
        let task = task.soft(true).overload(Overload::Skip);
        tasks.push((operation, task.start(|_| ())?));
    }
    std::thread::sleep(Duration::from_secs(seconds));
    for (operation, task) in tasks {
        print(operation, &task.stop()?, 0);
    }
    Ok(())
}

/// A row of the table.
fn print(operation: usize, statistics: &Statistics, failures: u64) {
    let name = SENSORS.iter().find(|(_, it)| *it == operation);
    let name = name.map_or("", |(name, _)| name);
    let micros = |time: Duration| time.as_micros();
    println!(
        "{name:<6} {:>6} {:>6} {:>8} {:>8} {:>12} {:>12} {:>12}",
        statistics.runs,
        statistics.late,
        statistics.skipped,
        failures,
        micros(statistics.jitter.quantile(0.5)),
        micros(statistics.jitter.max()),
        micros(statistics.response.max()),
    );
}

/// What heads the rows.
pub(crate) fn heading() -> String {
    format!(
        "{:<6} {:>6} {:>6} {:>8} {:>8} {:>12} {:>12} {:>12}",
        "", "runs", "late", "skipped", "failed", "jitter p50", "jitter max", "response max"
    )
}
