// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cost of a thread wake-up: the part of a latency that no ORB can save.

use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{self, Thread};
use std::time::Instant;

use serde_json::{Value, json};

use super::place::Place;
use crate::failure::Failure;
use crate::stage::pin;
use crate::stage::timing::{Samples, latency};

/// Round trips that are measured.
const ROUNDS: usize = 2_000;

/// Median times, in nanoseconds, from waking a blocked thread until it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WakeUp {
    /// The thread runs on another CPU.
    pub(crate) across: u64,
    /// It runs on the same one.
    pub(crate) within: u64,
}

impl WakeUp {
    /// Measures both, if a placement has a CPU for each side.
    pub(crate) fn measure(places: &[Place]) -> Result<Option<Self>, Failure> {
        for place in places {
            if let Place::Split { client, server } = *place {
                return Ok(Some(Self {
                    across: between(client, server)?,
                    within: between(client, client)?,
                }));
            }
        }
        Ok(None)
    }

    /// The note behind the title of the table.
    pub(crate) fn note(self) -> String {
        format!("a wake-up across: {}", latency(self.across))
    }

    /// The text that explains the figures.
    pub(crate) fn explanation(self) -> String {
        format!(
            "With a processor each, a message wakes a thread on the other one: that takes {} on this \
             host\n({} on the same processor), and a call does it twice unless its receivers spin.\n",
            latency(self.across),
            latency(self.within)
        )
    }

    pub(crate) fn to_json(self) -> Value {
        json!({ "across_ns": self.across, "within_ns": self.within })
    }
}

const IDLE: u8 = 0;
const ASKED: u8 = 1;
const ENDED: u8 = 2;

/// Half the time in which a thread on one CPU wakes one on another and is woken by it.
fn between(here: usize, there: usize) -> Result<u64, Failure> {
    let turn = AtomicU8::new(IDLE);
    thread::scope(|scope| {
        let asking = scope.spawn(|| {
            pin::thread_to(here)?;
            let asker = thread::current();
            thread::scope(|scope| {
                let answering = scope.spawn(|| answer(there, &turn, &asker));
                let samples = ask(&turn, answering.thread());
                answering.join().map_err(panicked)?.map(|()| samples)
            })
        });
        let samples = asking.join().map_err(panicked)??;
        Ok(samples.percentile(0.5) / 2)
    })
}

fn ask(turn: &AtomicU8, other: &Thread) -> Samples {
    let mut samples = Samples::default();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        turn.store(ASKED, Ordering::Release);
        other.unpark();
        while turn.load(Ordering::Acquire) == ASKED {
            thread::park();
        }
        samples.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    turn.store(ENDED, Ordering::Release);
    other.unpark();
    samples
}

fn answer(cpu: usize, turn: &AtomicU8, asker: &Thread) -> Result<(), Failure> {
    let pinned = pin::thread_to(cpu);
    loop {
        match turn.load(Ordering::Acquire) {
            ENDED => return pinned,
            ASKED => {
                turn.store(IDLE, Ordering::Release);
                asker.unpark();
            }
            _ => thread::park(),
        }
    }
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> Failure {
    Failure::because("a thread panicked")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_up_takes_time_on_every_host() {
        let (places, note) = Place::all();
        let measured = WakeUp::measure(&places).unwrap();
        assert_eq!(measured.is_some(), note.is_none());
        if let Some(wake_up) = measured {
            assert!(wake_up.across > 0 && wake_up.within > 0, "{wake_up:?}");
            assert!(wake_up.note().starts_with("a wake-up across: "));
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_is_an_error() {
        if pin::choose().is_some() {
            assert!(between(0, usize::MAX).is_err());
        }
    }
}
