// SPDX-License-Identifier: MIT OR Apache-2.0
//! Objects of the air frame.

use std::sync::Arc;

use orbium::{Call, DeferredReply, SystemException};
use orbium_scheduler::{Dispatcher, Job, Overload, SchedulerError};

use crate::avionics::{BuiltInTestServant, Display, HeadUpServant, MaintenanceServant};
use crate::flight::Flight;
use crate::schedule::{AVIONICS_BUILTINTEST_BIT, AVIONICS_HEADUP_HUD, SCHEDULE};
use crate::work::Work;

/// What pilots see.
pub(crate) struct HeadUp {
    pub(crate) flight: Arc<Flight>,
    pub(crate) work: Work,
}

impl HeadUpServant for HeadUp {
    fn hud(&self, _: &Call<'_>, _: u32) -> Result<Display, SystemException> {
        self.work.run(AVIONICS_HEADUP_HUD);
        Ok(Display {
            current_mode: self.flight.mode(),
            frames: self.flight.frames(),
        })
    }
}

/// The built-in test, by a dispatch queue.
pub(crate) struct BuiltInTest {
    dispatcher: Dispatcher,
    work: Work,
}

impl BuiltInTest {
    pub(crate) fn new(work: Work) -> Result<Self, SchedulerError> {
        let dispatcher = Dispatcher::builder(&SCHEDULE)
            .soft(true)
            .overload(AVIONICS_BUILTINTEST_BIT, Overload::Skip)
            .start()?;
        Ok(Self { dispatcher, work })
    }
}

impl BuiltInTestServant for BuiltInTest {
    /// The lane's thread is free for the next request at once. A reply that is dropped, because the
    /// queue is full or the deadline has passed, is NO_RESPONSE.
    fn bit(&self, _: &Call<'_>, _: u32, reply: DeferredReply<()>) {
        let work = self.work;
        let answer = move |_: &Job<'_>| {
            work.run(AVIONICS_BUILTINTEST_BIT);
            // A caller that is gone has no use for the error.
            let _ = reply.ok(());
        };
        let _ = self.dispatcher.submit(AVIONICS_BUILTINTEST_BIT, answer);
    }
}

/// What is recorded beside the flight.
pub(crate) struct Maintenance;

impl MaintenanceServant for Maintenance {
    fn record(&self, _: &Call<'_>, _: u32) -> Result<(), SystemException> {
        Ok(())
    }
}
