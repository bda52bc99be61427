// SPDX-License-Identifier: MIT OR Apache-2.0
//! The processes around the air frame.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use orbium::{Orb, protocol::ProtocolPolicy};
use orbium_event::rtec::rtec_event_channel_admin::EventChannel;
use orbium_event::{connect_scheduled_supplier, new_event};
use orbium_scheduler::{Job, Overload, PeriodicTask, Statistics};

use crate::Failure;
use crate::arguments::{Caller, Load, Sensor};
use crate::avionics::{BuiltInTest, HeadUp, Maintenance, Mode};
use crate::measured::Row;
use crate::schedule::{AVIONICS_BUILTINTEST_BIT, AVIONICS_HEADUP_HUD, SCHEDULE};

/// Pushes an event in each period, over shared memory.
pub(crate) fn push(sensor: Sensor, channel: &str) -> Result<(), Failure> {
    let orb = Orb::builder().build()?;
    let channel: EventChannel = orb.resolve(channel)?;
    let supplier = connect_scheduled_supplier(&channel, &[sensor.publication()])?;
    let mut event = new_event(sensor.event_type(), sensor.publication().source);
    let name = format!("{sensor:?}").to_uppercase();
    periodically(&name, sensor.operation(), move |_| {
        event.header.creation_time = orbium_event::time_t(std::time::SystemTime::now());
        supplier.push(std::slice::from_ref(&event)).is_ok()
    })?;
    Ok(orb.shutdown(true)?)
}

/// Calls an operation in each period, over IIOP.
pub(crate) fn call(caller: Caller, object: &str) -> Result<(), Failure> {
    let iiop = ProtocolPolicy::new(["iiop"]);
    let orb = Orb::builder().client_protocols(iiop).build()?;
    let number = |job: &Job<'_>| u32::try_from(job.number()).unwrap_or(u32::MAX);
    match caller {
        Caller::Hud => {
            let head_up: HeadUp = orb.resolve(object)?;
            let mut shown = Mode::Navigating;
            periodically("HUD", AVIONICS_HEADUP_HUD, move |job| {
                let display = head_up.hud(number(job));
                if let Ok(display) = &display
                    && std::mem::replace(&mut shown, display.current_mode) != display.current_mode
                {
                    let (mode, frames) = (display.current_mode, display.frames);
                    println!("mode: {mode:?} after {frames} frames");
                }
                display.is_ok()
            })?;
        }
        Caller::Bit => {
            let test: BuiltInTest = orb.resolve(object)?;
            periodically("BIT", AVIONICS_BUILTINTEST_BIT, move |job| {
                test.bit(number(job)).is_ok()
            })?;
        }
    }
    Ok(orb.shutdown(true)?)
}

/// Runs `work` in each period of an operation until standard input ends. Prints the measurements so
/// far for each line of the input, and at the end.
fn periodically(
    name: &str,
    operation: usize,
    mut work: impl FnMut(&Job<'_>) -> bool + Send + 'static,
) -> Result<(), Failure> {
    let failures = Arc::new(AtomicU64::new(0));
    let failed = Arc::clone(&failures);
    let task = PeriodicTask::scheduled(&SCHEDULE, operation)?
        .soft(true)
        .overload(Overload::Skip)
        .start(move |job| {
            if !work(job) {
                failed.fetch_add(1, Ordering::Relaxed);
            }
        })?;
    let print = |statistics: &Statistics| {
        let failures = failures.load(Ordering::Relaxed);
        println!("{}", Row::of_task(name, statistics, failures));
    };
    for line in std::io::stdin().lines() {
        line?;
        print(&task.statistics());
    }
    print(&task.stop()?);
    Ok(())
}

/// Calls without pause until standard input ends, below all priorities of the schedule.
pub(crate) fn load(class: Load, object: &str) -> Result<(), Failure> {
    let orb = Orb::builder().build()?;
    let maintenance: Maintenance = orb.resolve(object)?;
    // It ends with the process.
    std::thread::spawn(move || {
        class.apply();
        while maintenance.record(0).is_ok() {}
    });
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
