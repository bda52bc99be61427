// SPDX-License-Identifier: MIT OR Apache-2.0
//! Workload of the operations: they take the processor for as long as the schedule grants
//! them.

use std::hint;
use std::time::Duration;

use orbium_sys::NativeThread;

use crate::schedule::{
    AVIONICS_BUILTINTEST_BIT, AVIONICS_FLIGHT_AIRSPEED, AVIONICS_FLIGHT_AIRSPEED_DISPATCH,
    AVIONICS_FLIGHT_NAVIGATE, AVIONICS_FLIGHT_NAVIGATE_DISPATCH, AVIONICS_FLIGHT_STEER,
    AVIONICS_FLIGHT_STEER_DISPATCH, AVIONICS_HEADUP_HUD, AVIONICS_SENSORS_ADC,
    AVIONICS_SENSORS_GPS, AVIONICS_SENSORS_INS, SCHEDULE,
};

/// An operation that the air frame runs.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    /// In the schedule.
    pub(crate) index: usize,
    /// Which is its deadline, too.
    pub(crate) period: Duration,
}

/// All of them. The schedule derives the periods of the first three from those of the sensors.
pub(crate) const OPERATIONS: [Operation; 5] = [
    operation("steer", AVIONICS_FLIGHT_STEER, 50),
    operation("airspeed", AVIONICS_FLIGHT_AIRSPEED, 100),
    operation("navigate", AVIONICS_FLIGHT_NAVIGATE, 200),
    operation("HUD", AVIONICS_HEADUP_HUD, 100),
    operation("BIT", AVIONICS_BUILTINTEST_BIT, 1_000),
];

const fn operation(name: &'static str, index: usize, milliseconds: u64) -> Operation {
    Operation {
        name,
        index,
        period: Duration::from_millis(milliseconds),
    }
}

/// What else the schedule has, and its period in milliseconds: the sensors, and the dispatching of their
/// events. It takes whatever the ORB and the channel take, within these worst cases.
const AROUND_OPERATIONS: [(usize, u64); 6] = [
    (AVIONICS_SENSORS_INS, 50),
    (AVIONICS_SENSORS_ADC, 100),
    (AVIONICS_SENSORS_GPS, 200),
    (AVIONICS_FLIGHT_STEER_DISPATCH, 50),
    (AVIONICS_FLIGHT_AIRSPEED_DISPATCH, 100),
    (AVIONICS_FLIGHT_NAVIGATE_DISPATCH, 200),
];

/// The execution times of operations, as a share of the worst case that the schedule has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    scale: f64,
}

impl Work {
    /// Work by which the whole schedule takes this share of one processor.
    pub(crate) fn of(utilization: f64) -> Self {
        let scheduled = scheduled_utilization();
        // In a configuration run nothing is scheduled, nor runs.
        let scale = if scheduled > 0.0 {
            utilization / scheduled
        } else {
            0.0
        };
        Self { scale }
    }

    /// Takes processor time in place of an operation.
    pub(crate) fn run(self, operation: usize) {
        let time = SCHEDULE.entries[operation].worst_case.as_duration();
        spend(time.mul_f64(self.scale));
    }
}

/// What all operations of the schedule take of a processor in the worst case.
fn scheduled_utilization() -> f64 {
    let around = AROUND_OPERATIONS
        .into_iter()
        .map(|(index, milliseconds)| (index, Duration::from_millis(milliseconds)));
    OPERATIONS
        .iter()
        .map(|it| (it.index, it.period))
        .chain(around)
        .map(|(index, period)| share(index, period))
        .sum()
}

/// What an operation of the schedule takes of a processor in the worst case.
fn share(index: usize, period: Duration) -> f64 {
    // In a configuration run the table is empty.
    let entry = SCHEDULE.entries.get(index);
    let time = entry.map_or(Duration::ZERO, |it| it.worst_case.as_duration());
    time.as_secs_f64() / period.as_secs_f64()
}

/// Takes that much time of a processor, however often the thread is preempted.
fn spend(time: Duration) {
    let thread = NativeThread::current();
    let Ok(begin) = thread.processor_time() else {
        return;
    };
    while thread
        .processor_time()
        .is_ok_and(|now| now.saturating_sub(begin) < time)
    {
        for _ in 0..200 {
            hint::spin_loop();
        }
    }
}
