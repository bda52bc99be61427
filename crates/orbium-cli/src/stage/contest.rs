// SPDX-License-Identifier: MIT OR Apache-2.0
//! Peers that are measured alternately, so that a slow period of the machine affects all of them.

use std::time::{Duration, Instant};

use super::timing::{Samples, Timing, median, rate};
use crate::failure::Failure;

/// Runs so many calls and passes the nanoseconds of each to the closure.
pub type Runner<'a> = Box<dyn FnMut(u64, &mut dyn FnMut(u64)) -> Result<(), Failure> + 'a>;

/// One of several peers that are measured alternately.
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
    /// Warms up until the number of calls in a slice of time is known.
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
