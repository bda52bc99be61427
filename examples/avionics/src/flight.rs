// SPDX-License-Identifier: MIT OR Apache-2.0
//! The channel of the air frame, and what is run for its events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use orbium_event::{
    Channel, ChannelConfig, DEADLINE_TIMEOUT, Dispatching, Pattern, Publication, Publisher,
    SharedEvent, Subscription, time_t,
};
use orbium_scheduler::Mode as Run;

use crate::Failure;
use crate::arguments::Sensor;
use crate::avionics::Mode;
use crate::measured::{Measured, Row};
use crate::schedule::{
    AVIONICS_FLIGHT_AIRSPEED, AVIONICS_FLIGHT_NAVIGATE, AVIONICS_FLIGHT_STEER,
    AVIONICS_SENSORS_ADC, AVIONICS_SENSORS_GPS, AVIONICS_SENSORS_INS, SCHEDULE,
};
use crate::work::{OPERATIONS, Work};

/// Without all three sensors for so long, which is three periods of the GPS, the mode degrades.
const PATIENCE: Duration = Duration::from_millis(600);

const SOURCE: i32 = 1;

impl Sensor {
    /// The type of its events.
    pub(crate) const fn event_type(self) -> i32 {
        match self {
            Self::Ins => 16,
            Self::Adc => 17,
            Self::Gps => 18,
        }
    }

    /// The operation that pushes them.
    pub(crate) const fn operation(self) -> usize {
        match self {
            Self::Ins => AVIONICS_SENSORS_INS,
            Self::Adc => AVIONICS_SENSORS_ADC,
            Self::Gps => AVIONICS_SENSORS_GPS,
        }
    }

    pub(crate) const fn publication(self) -> Publication {
        Publication {
            rt_info: handle(self.operation()),
            ..Publication::of(self.event_type(), SOURCE)
        }
    }

    const fn pattern(self) -> Pattern {
        Pattern::of(self.event_type(), SOURCE)
    }
}

/// The handle of an operation of the table, as channels have it.
const fn handle(operation: usize) -> i32 {
    operation as i32 + 1
}

/// What the air frame knows of its flight.
#[derive(Debug)]
pub(crate) struct Flight {
    frames: AtomicU32,
    positions: AtomicU64,
    is_degraded: AtomicBool,
    steer: Measured,
    airspeed: Measured,
    navigate: Measured,
}

impl Flight {
    pub(crate) fn new() -> Self {
        let [steer, airspeed, navigate, ..] = OPERATIONS.map(|it| Measured::new(it.period));
        Self {
            frames: AtomicU32::new(0),
            positions: AtomicU64::new(0),
            is_degraded: AtomicBool::new(false),
            steer,
            airspeed,
            navigate,
        }
    }

    pub(crate) fn mode(&self) -> Mode {
        if self.is_degraded.load(Ordering::Relaxed) {
            Mode::Degraded
        } else {
            Mode::Navigating
        }
    }

    /// Conjunctions of all three sensors so far.
    pub(crate) fn frames(&self) -> u32 {
        self.frames.load(Ordering::Relaxed)
    }

    /// Events of the GPS so far: each is to complete a conjunction.
    pub(crate) fn positions(&self) -> u64 {
        self.positions.load(Ordering::Relaxed)
    }

    pub(crate) fn rows(&self) -> [Row; 3] {
        [
            self.steer.row("steer"),
            self.airspeed.row("airspeed"),
            self.navigate.row("navigate"),
        ]
    }
}

/// The channel with its consumers, which are dropped with it.
pub(crate) struct FlightEvents {
    pub(crate) channel: Channel,
    subscriptions: Vec<Subscription>,
    /// Stand for the sensors' processes until the program is scheduled: those connect later.
    stand_ins: Vec<Publisher>,
}

impl FlightEvents {
    /// The channel of a run, and what the air frame subscribes to.
    pub(crate) fn connect(run: &Run, flight: &Arc<Flight>, work: Work) -> Result<Self, Failure> {
        let channel = Channel::new(ChannelConfig {
            dispatching: Dispatching::in_mode(run, &SCHEDULE),
            soft: true,
            ..ChannelConfig::default()
        });
        let mut stand_ins = Vec::new();
        for sensor in [Sensor::Ins, Sensor::Adc, Sensor::Gps] {
            stand_ins.push(channel.connect_scheduled_supplier(&[sensor.publication()])?);
        }
        let mut events = Self {
            channel,
            subscriptions: Vec::new(),
            stand_ins,
        };
        events.subscribe(flight, work)?;
        Ok(events)
    }

    fn subscribe(&mut self, flight: &Arc<Flight>, work: Work) -> Result<(), Failure> {
        let of = Arc::clone(flight);
        let steer = move |events: &[SharedEvent]| {
            work.run(AVIONICS_FLIGHT_STEER);
            of.steer.add(age(events));
        };
        self.add(&Sensor::Ins.pattern(), handle(AVIONICS_FLIGHT_STEER), steer)?;

        let of = Arc::clone(flight);
        let airspeed = move |events: &[SharedEvent]| {
            work.run(AVIONICS_FLIGHT_AIRSPEED);
            of.airspeed.add(age(events));
        };
        let (adc, by) = (Sensor::Adc.pattern(), handle(AVIONICS_FLIGHT_AIRSPEED));
        self.add(&adc, by, airspeed)?;

        let of = Arc::clone(flight);
        let navigate = move |events: &[SharedEvent]| {
            work.run(AVIONICS_FLIGHT_NAVIGATE);
            of.navigate.add(age(events));
            of.frames.fetch_add(1, Ordering::Relaxed);
        };
        let (all, by) = (all_sensors(), handle(AVIONICS_FLIGHT_NAVIGATE));
        self.add(&all, by, navigate)?;

        let of = Arc::clone(flight);
        let count = move |events: &[SharedEvent]| {
            of.positions
                .fetch_add(events.len() as u64, Ordering::Relaxed);
        };
        self.add(&Sensor::Gps.pattern(), 0, count)?;
        self.watch(flight)
    }

    /// The mode, by a deadline timeout: no deadline of the schedule depends on it, so it has no RT_Info.
    fn watch(&mut self, flight: &Arc<Flight>) -> Result<(), Failure> {
        let watched = Pattern::Disjunction(vec![all_sensors(), Pattern::Deadline(PATIENCE)]);
        let of = Arc::clone(flight);
        let mode = move |events: &[SharedEvent]| {
            let missed = events.iter().any(|it| it.header.r#type == DEADLINE_TIMEOUT);
            of.is_degraded.store(missed, Ordering::Relaxed);
        };
        self.add(&watched, 0, mode)
    }

    fn add(
        &mut self,
        pattern: &Pattern,
        rt_info: i32,
        sink: impl Fn(&[SharedEvent]) + Send + Sync + 'static,
    ) -> Result<(), Failure> {
        let subscription = self.channel.subscribe_scheduled(pattern, rt_info, sink)?;
        self.subscriptions.push(subscription);
        Ok(())
    }

    /// Ends what stood for the sensors: the program is scheduled.
    pub(crate) fn scheduled(&mut self) {
        self.stand_ins.clear();
    }
}

fn all_sensors() -> Pattern {
    let sensors = [Sensor::Ins, Sensor::Adc, Sensor::Gps];
    Pattern::Conjunction(sensors.map(Sensor::pattern).to_vec())
}

/// How long ago the last of these events was made.
fn age(events: &[SharedEvent]) -> Duration {
    let made = events.iter().map(|it| it.header.creation_time).max();
    let ticks = time_t(SystemTime::now()).saturating_sub(made.unwrap_or(0));
    Duration::from_nanos(ticks.saturating_mul(100))
}
