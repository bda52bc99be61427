// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers that are measured in turns, so that a slow spell of the machine meets
//! them all.

use std::time::{Duration, Instant};

use super::timing::{Samples, Timing, median, rate};
use crate::failure::Failure;

/// Runs so many calls and gives each one's nanoseconds away.
pub type Runner<'a> = Box<dyn FnMut(u64, &mut dyn FnMut(u64)) -> Result<(), Failure> + 'a>;

/// One of several peers that take turns.
pub struct Contestant<'a> {
    run: Runner<'a>,
    /// Calls in one slice of time.
    calls: u64,
    all: Samples,
    /// The median latency of each turn, in nanoseconds.
    pub medians: Vec<f64>,
    /// Calls per second of each turn.
    pub rates: Vec<f64>,
}

impl<'a> Contestant<'a> {
    /// Warms up until it is clear how many calls a slice of time holds.
    pub fn new(mut run: Runner<'a>, slice: Duration) -> Result<Self, Failure> {
        let mut calls = 8;
        loop {
            let start = Instant::now();
            run(calls, &mut |_| ())?;
            let elapsed = start.elapsed();
            if elapsed * 4 >= slice {
                let in_slice = rate(calls, elapsed) * slice.as_secs_f64();
                calls = (in_slice as u64).max(8);
                break;
            }
            calls *= 2;
        }
        Ok(Self {
            run,
            calls,
            all: Samples::default(),
            medians: Vec::new(),
            rates: Vec::new(),
        })
    }

    /// Runs for a slice of time.
    pub fn take_turn(&mut self) -> Result<(), Failure> {
        let mut samples = Samples::default();
        let start = Instant::now();
        (self.run)(self.calls, &mut |nanoseconds| samples.push(nanoseconds))?;
        self.rates.push(rate(self.calls, start.elapsed()));
        self.medians.push(samples.percentile(0.5) as f64);
        self.all.extend(&samples);
        Ok(())
    }

    /// The figures of all turns.
    #[must_use]
    pub fn timing(&self) -> Timing {
        Timing {
            median: self.all.percentile(0.5),
            p99: self.all.percentile(0.99),
            rate: median(&self.rates),
        }
    }
}
