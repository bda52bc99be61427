// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that are measured while their threads wait.

use std::cell::Cell;
use std::time::Instant;

use orbium_giop::SystemException;

use super::{End, Measurements, Series};
use crate::{Operation, Orb};

/// A call under way: recorded when it is dropped.
pub(crate) struct Measured<'o> {
    all: &'o Measurements,
    series: &'o Series,
    begun: Instant,
    end: Cell<End>,
}

impl<'o> Measured<'o> {
    /// `None` unless metrics are on.
    pub(crate) fn begin(orb: &'o Orb, operation: &'static Operation) -> Option<Self> {
        let all = orb.core().measurements.get()?;
        let series = all.called(operation);
        series.begin();
        Some(Self {
            all,
            series,
            begun: Instant::now(),
            end: Cell::new(match operation.is_oneway() {
                true => End::Oneway,
                false => End::Results,
            }),
        })
    }

    /// It ends with a user exception.
    pub(crate) fn note_user_exception(&self) {
        self.end.set(End::UserException);
    }

    /// It ends with a system exception.
    pub(crate) fn note_failure(&self, exception: SystemException) {
        self.all.count_received(exception);
        self.end.set(End::SystemException);
    }
}

impl Drop for Measured<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        self.series.end(self.begun.elapsed(), self.end.get());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cargo test --release -p orbium-core --lib price -- --ignored --nocapture`
    #[test]
    #[ignore = "a measurement"]
    fn price_of_a_measured_call() {
        static OPERATION: Operation = Operation::of("IDL:A/B:1.0", "c");
        const CALLS: u32 = 5_000_000;
        let orb = Orb::builder().metrics().build().unwrap();
        let begun = Instant::now();
        for _ in 0..CALLS {
            drop(std::hint::black_box(Measured::begin(&orb, &OPERATION)));
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
