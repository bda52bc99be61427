// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rate groups: each has a lane, with a port and a shared memory endpoint of its own.

use orbium::{Orb, lane::Lane, poa::Policies};
use orbium_sched::{SchedError, Table};
use orbium_scheduler::ScheduledLanes;

use crate::Failure;
use crate::schedule::{
    AVIONICS_BUILTINTEST_BIT, AVIONICS_SENSORS_ADC, AVIONICS_SENSORS_GPS, AVIONICS_SENSORS_INS,
};

/// The rate of a group in Hz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rate {
    Twenty,
    Ten,
    Five,
    One,
}

impl Rate {
    const ALL: [Self; 4] = [Self::Twenty, Self::Ten, Self::Five, Self::One];

    pub(crate) const fn hertz(self) -> u16 {
        match self {
            Self::Twenty => 20,
            Self::Ten => 10,
            Self::Five => 5,
            Self::One => 1,
        }
    }

    /// An operation of the group.
    const fn operation(self) -> usize {
        match self {
            Self::Twenty => AVIONICS_SENSORS_INS,
            Self::Ten => AVIONICS_SENSORS_ADC,
            Self::Five => AVIONICS_SENSORS_GPS,
            Self::One => AVIONICS_BUILTINTEST_BIT,
        }
    }

    /// The queue of the schedule that serves the group.
    fn queue(self, table: &Table) -> Result<usize, Failure> {
        let entry = table.entry(self.operation())?;
        let queue = table.queue_of(entry).map(|(queue, _)| queue);
        Ok(queue.ok_or_else(|| SchedError::UnknownTask(entry.name.to_owned()))?)
    }
}

/// The lanes of the rate groups.
pub(crate) struct RateGroups(Vec<(Rate, Lane)>);

impl RateGroups {
    /// A lane for each group: port `ports` plus its rate, or a free one if `ports` is 0.
    pub(crate) fn start(
        orb: &Orb,
        table: &'static Table,
        ports: u16,
        processor: usize,
    ) -> Result<Self, Failure> {
        let mut lanes = ScheduledLanes::new(table)
            .soft(true)
            .processors(vec![processor]);
        for rate in Rate::ALL {
            let queue = rate.queue(table)?;
            let port = if ports == 0 { 0 } else { ports + rate.hertz() };
            let memory = format!("shmiop://@avionics-{}-{}", std::process::id(), rate.hertz());
            lanes = lanes
                .endpoint(queue, memory.parse()?)
                .endpoint(queue, format!("iiop://127.0.0.1:{port}").parse()?);
        }
        let mut started: Vec<Option<Lane>> = lanes.start(orb)?.into_iter().map(Some).collect();
        let mut groups = Vec::new();
        for rate in Rate::ALL {
            let lane = started.get_mut(rate.queue(table)?).and_then(Option::take);
            let lane = lane.ok_or_else(|| format!("{} Hz shares its queue", rate.hertz()))?;
            groups.push((rate, lane));
        }
        Ok(Self(groups))
    }

    /// The policies of an adapter whose objects are served by a group.
    pub(crate) fn policies(&self, rate: Rate) -> Policies {
        let of_rate = self.0.iter().filter(|(of, _)| *of == rate);
        Policies {
            lanes: of_rate.map(|(_, lane)| lane.clone()).collect(),
            ..Policies::default()
        }
    }

    /// A line for each group: its rate and what the host grants it.
    pub(crate) fn summary(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(rate, lane)| {
            let hertz = rate.hertz();
            match lane.scheduling() {
                Some(scheduling) => format!("{hertz:>2} Hz: {scheduling}"),
                None => format!("{hertz:>2} Hz: the host refuses a native priority"),
            }
        })
    }
}
