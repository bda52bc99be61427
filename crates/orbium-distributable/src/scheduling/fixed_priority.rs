// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fixed-priority scheduler.

use std::fmt;

use orbium::lane::Scheduling;
use orbium_sys::{NativeThread, RealTimeError};

use crate::scheduling::parameter::SchedulingParameter;
use crate::scheduling::scheduler::Scheduler;

type Mapping = dyn Fn(i16) -> Option<Scheduling> + Send + Sync;

/// The highest priority first (`FP_Scheduling::FP_Scheduler`), scheduled by the host: the priority
/// of a segment is mapped to a native one.
pub struct FixedPriority(Box<Mapping>);

impl FixedPriority {
    /// Native priorities by that mapping; for `None` the thread retains its priority.
    #[must_use]
    pub fn new(mapping: impl Fn(i16) -> Option<Scheduling> + Send + Sync + 'static) -> Self {
        Self(Box::new(mapping))
    }
}

impl Default for FixedPriority {
    /// SCHED_FIFO of the same number, from 1 to 99; others retain the native priority.
    fn default() -> Self {
        Self::new(|priority| {
            let native = (1..=99).contains(&priority);
            native.then(|| Scheduling::fifo(priority.into()))
        })
    }
}

impl Scheduler for FixedPriority {
    fn discipline(&self) -> &'static str {
        SchedulingParameter::FixedPriority { priority: 0 }.discipline()
    }

    fn run(
        &self,
        thread: NativeThread,
        parameter: &SchedulingParameter,
    ) -> Result<(), RealTimeError> {
        match parameter {
            SchedulingParameter::FixedPriority { priority } => {
                (self.0)(*priority).map_or(Ok(()), |native| thread.set_scheduling(native))
            }
            _ => Ok(()),
        }
    }

    fn withdraw(&self, _: NativeThread) {}
}

impl fmt::Debug for FixedPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FixedPriority")
    }
}
