// SPDX-License-Identifier: MIT OR Apache-2.0
//! The air frame: what the sensors call.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use orbium::{Call, DeferredReply, SystemException};
use orbium_scheduler::{Dispatcher, Job, Overload, SchedulerError};

use crate::avionics::{AirFrameServant, Display, Mode};
use crate::schedule::{AVIONICS_AIRFRAME_BIT, SCHEDULE};

/// A position that is older than this degrades the mode: three periods of the GPS.
const STALE: Duration = Duration::from_millis(600);

/// What the air frame has received, and what runs its built-in test.
#[derive(Debug)]
pub(crate) struct AirFrame {
    state: Mutex<State>,
    dispatcher: Dispatcher,
}

#[derive(Debug)]
struct State {
    /// Whether INS, ADC and GPS have come since the last frame.
    arrived: [bool; 3],
    frames: u32,
    last_position: Instant,
}

impl AirFrame {
    pub(crate) fn new() -> Result<Self, SchedulerError> {
        let dispatcher = Dispatcher::builder(&SCHEDULE)
            .soft(true)
            .overload(AVIONICS_AIRFRAME_BIT, Overload::Skip)
            .start()?;
        let state = Mutex::new(State {
            arrived: [false; 3],
            frames: 0,
            last_position: Instant::now(),
        });
        Ok(Self { state, dispatcher })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A frame is the conjunction of all three.
    fn arrive(&self, sensor: usize) {
        let mut state = self.state();
        state.arrived[sensor] = true;
        if state.arrived == [true; 3] {
            state.arrived = [false; 3];
            state.frames += 1;
        }
    }

    pub(crate) fn frames(&self) -> u32 {
        self.state().frames
    }
}

impl AirFrameServant for AirFrame {
    fn ins(&self, _: &Call<'_>, _: u32) -> Result<(), SystemException> {
        self.arrive(0);
        Ok(())
    }

    fn adc(&self, _: &Call<'_>, _: u32) -> Result<(), SystemException> {
        self.arrive(1);
        Ok(())
    }

    fn gps(&self, _: &Call<'_>, _: u32) -> Result<(), SystemException> {
        self.state().last_position = Instant::now();
        self.arrive(2);
        Ok(())
    }

    fn hud(&self, _: &Call<'_>, _: u32) -> Result<Display, SystemException> {
        let state = self.state();
        let current_mode = match state.last_position.elapsed() > STALE {
            true => Mode::Degraded,
            false => Mode::Navigating,
        };
        Ok(Display {
            current_mode,
            frames: state.frames,
        })
    }

    /// The lane's thread is free for the next request at once. A reply that is dropped, because the
    /// queue is full or the deadline has passed, is NO_RESPONSE.
    fn bit(&self, _: &Call<'_>, _: u32, reply: DeferredReply<()>) {
        let answer = move |_: &Job<'_>| {
            // A caller that is gone has no use for the error.
            let _ = reply.ok(());
        };
        let _ = self.dispatcher.submit(AVIONICS_AIRFRAME_BIT, answer);
    }
}
