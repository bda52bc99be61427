// SPDX-License-Identifier: MIT OR Apache-2.0
//! One high-priority client and many low-priority ones, each at its rate.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use orbium::ObjectRef;
use serde_json::{Value, json};

use super::caller::{Call, cube_call};
use super::class::Class;
use super::real_time::HIGH;
use orbium_cli::Failure;

/// The period of the high-priority client: 20 Hz.
pub(crate) const HIGH_PERIOD: Duration = Duration::from_millis(50);
/// The period of a low-priority client: 10 Hz.
pub(super) const LOW_PERIOD: Duration = Duration::from_millis(100);

/// The called objects, and the clients.
pub(crate) struct Pacing<'a> {
    pub(crate) high: &'a ObjectRef,
    pub(crate) low: &'a ObjectRef,
    /// Number of low-priority clients.
    pub(crate) low_clients: usize,
    /// The scheduling class of the high-priority client.
    pub(crate) class: Class,
    /// Whether they call at the maximum rate.
    pub(crate) saturating: bool,
    pub(crate) time: Duration,
}

/// The measurements of a thread: nanoseconds of calls, and failed calls.
#[derive(Default)]
pub(super) struct Found {
    pub(super) nanoseconds: Vec<u64>,
    /// The same from when each call was due: including the time in which others had the processor.
    pub(super) since_due: Vec<u64>,
    pub(super) failed: u64,
    /// The reason why the thread does not have its planned scheduling.
    pub(super) refused: Option<String>,
}

impl Pacing<'_> {
    /// Runs all clients at once.
    pub(crate) fn run(&self) -> Result<Value, Failure> {
        let barrier = Barrier::new(self.low_clients + 1);
        let ends = AtomicBool::new(false);
        let low_period = if self.saturating {
            Duration::ZERO
        } else {
            LOW_PERIOD
        };
        let (high_call, low_call) = (cube_call(self.high)?, cube_call(self.low)?);
        // A separate call for each client; the connections are opened by concurrent calls.
        let mut low_calls = vec![low_call];
        for _ in 1..self.low_clients {
            low_calls.push(cube_call(self.low)?);
        }
        low_calls.truncate(self.low_clients);
        let (class, time, barrier, ends) = (self.class, self.time, &barrier, &ends);
        let high_client = move || {
            let refused = class.apply(HIGH).err();
            let found = urgent(high_call, time, barrier, Instant::now, ends);
            Found { refused, ..found }
        };
        let low_client = |call| {
            let more = || !ends.load(Ordering::Relaxed);
            move || periodic(call, low_period, barrier, Instant::now, more)
        };
        let (high, low) = thread::scope(|scope| {
            let high = scope.spawn(high_client);
            let low: Vec<_> = low_calls
                .into_iter()
                .map(|call| scope.spawn(low_client(call)))
                .collect();
            let low = low
                .into_iter()
                .map(|client| client.join().unwrap_or_default());
            let low: Vec<Found> = low.collect();
            (high.join().unwrap_or_default(), low)
        });
        let failed = high.failed + low.iter().map(|found| found.failed).sum::<u64>();
        let low = low.into_iter().flat_map(|found| found.nanoseconds);
        Ok(json!({
            "high": high.nanoseconds,
            "low": low.collect::<Vec<_>>(),
            "failed": failed,
            "refused": high.refused,
        }))
    }
}

/// Calls at 20 Hz from the first moment on, as often as fits into the time, and then ends the other
/// clients.
pub(super) fn urgent(
    call: Call,
    time: Duration,
    barrier: &Barrier,
    first: impl FnOnce() -> Instant,
    ends: &AtomicBool,
) -> Found {
    let mut left = (time.as_nanos() / HIGH_PERIOD.as_nanos()).max(1);
    let more = || {
        left -= 1;
        left > 0
    };
    let found = periodic(call, HIGH_PERIOD, barrier, first, more);
    ends.store(true, Ordering::Relaxed);
    found
}

/// Calls once per period from the first moment on, on time unless a call takes longer, while there
/// are more to make.
pub(super) fn periodic(
    mut call: Call,
    period: Duration,
    barrier: &Barrier,
    first: impl FnOnce() -> Instant,
    mut more: impl FnMut() -> bool,
) -> Found {
    let mut found = Found::default();
    // Concurrently, so that all connections are opened.
    barrier.wait();
    for _ in 0..2 {
        found.failed += u64::from(call().is_err());
    }
    barrier.wait();
    let mut next = first();
    thread::sleep(next.saturating_duration_since(Instant::now()));
    loop {
        let begin = Instant::now();
        match call() {
            Ok(()) => {
                let end = Instant::now();
                let since = |point| {
                    let taken = end.saturating_duration_since(point).as_nanos();
                    u64::try_from(taken).unwrap_or(u64::MAX)
                };
                found.nanoseconds.push(since(begin));
                found.since_due.push(since(next));
            }
            Err(_) => found.failed += 1,
        }
        if !more() {
            return found;
        }
        next += period;
        let now = Instant::now();
        match next.checked_duration_since(now) {
            Some(left) => thread::sleep(left),
            // Already late: missed periods are skipped.
            None => next = now,
        }
    }
}
