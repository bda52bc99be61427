// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cost of a context switch between two threads of one processor.

use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{self, Thread};

use super::cost::Cost;
use super::{Calibration, CalibrationError};

/// Exchanges of a run, with two switches each.
const EXCHANGES_PER_RUN: u32 = 5;

const TURN_IDLE: u8 = 0;
const TURN_ASKED: u8 = 1;
const TURN_ENDED: u8 = 2;

impl Cost {
    /// The cost of a context switch: the calling thread and another one wake each other
    /// alternately, as each run of a scheduled thread begins with a wake-up and ends with a wait.
    /// The other thread inherits processors and scheduling class of the caller, which has to be
    /// bound to one processor.
    ///
    /// # Errors
    /// [`CalibrationError`].
    pub fn of_context_switch(calibration: &Calibration) -> Result<Self, CalibrationError> {
        let turn = AtomicU8::new(TURN_IDLE);
        let asker = thread::current();
        thread::scope(|scope| {
            let answering = thread::Builder::new().spawn_scoped(scope, || answer(&turn, &asker));
            let answering = answering.map_err(|error| CalibrationError::Thread(error.kind()))?;
            let cost = Self::measure(calibration, 2 * EXCHANGES_PER_RUN, || {
                for _ in 0..EXCHANGES_PER_RUN {
                    exchange(&turn, answering.thread());
                }
            });
            turn.store(TURN_ENDED, Ordering::Release);
            answering.thread().unpark();
            cost
        })
    }
}

/// Wakes the other thread, and waits for its wake-up.
fn exchange(turn: &AtomicU8, other: &Thread) {
    turn.store(TURN_ASKED, Ordering::Release);
    other.unpark();
    while turn.load(Ordering::Acquire) == TURN_ASKED {
        thread::park();
    }
}

fn answer(turn: &AtomicU8, asker: &Thread) {
    loop {
        match turn.load(Ordering::Acquire) {
            TURN_ENDED => return,
            TURN_ASKED => {
                turn.store(TURN_IDLE, Ordering::Release);
                asker.unpark();
            }
            _ => thread::park(),
        }
    }
}
