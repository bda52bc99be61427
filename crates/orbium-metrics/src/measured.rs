// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measurement of synchronous calls.

use std::cell::Cell;
use std::time::Instant;

use orbium_giop::SystemException;
use orbium_invocation::Operation;

use crate::measurements::Measurements;
use crate::series::{End, Series};

/// A call in progress: recorded when it is dropped.
#[derive(Debug)]
pub struct Measured<'o> {
    all: &'o Measurements,
    series: &'o Series,
    begun: Instant,
    /// `None` if it is not counted.
    end: Cell<Option<End>>,
}

impl<'o> Measured<'o> {
    /// Begins a call of that operation: it ends with results, unless another end is noted.
    #[must_use]
    pub fn begin(all: &'o Measurements, operation: &'static Operation) -> Self {
        let series = all.called(operation);
        series.begin();
        Self {
            all,
            series,
            begun: Instant::now(),
            end: Cell::new(Some(if operation.is_oneway() {
                End::Oneway
            } else {
                End::Results
            })),
        }
    }

    /// Records that it ends with a user exception.
    pub fn note_user_exception(&self) {
        self.end.set(Some(End::UserException));
    }

    /// Records that it ends with a system exception.
    pub fn note_failure(&self, exception: SystemException) {
        self.all.count_received(exception);
        self.end.set(Some(End::SystemException));
    }

    /// Withdraws its count: it is made again, and counted then.
    pub fn withdraw(&self) {
        self.end.set(None);
    }
}

impl Drop for Measured<'_> {
    fn drop(&mut self) {
        match self.end.get() {
            Some(end) => self.series.end(self.begun.elapsed(), end),
            None => self.series.take_back(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cargo test --release -p orbium-metrics --lib price -- --ignored --nocapture`
    #[test]
    #[ignore = "a measurement"]
    fn price_of_a_measured_call() {
        static OPERATION: Operation = Operation::of("IDL:A/B:1.0", "c");
        const CALLS: u32 = 5_000_000;
        let all = Measurements::default();
        let begun = Instant::now();
        for _ in 0..CALLS {
            let call = Measured::begin(&all, &OPERATION);
            drop(std::hint::black_box(call));
        }
        println!("a call: {:?}", begun.elapsed() / CALLS);
        let begun = Instant::now();
        for _ in 0..CALLS {
            std::hint::black_box(Instant::now());
        }
        println!(
            "of it each look at the clock: {:?}",
            begun.elapsed() / CALLS
        );
    }
}
