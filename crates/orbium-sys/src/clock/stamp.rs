// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time stamps that take three instructions: the processor's counter, converted to time only on
//! demand.
//!
//! They are for explanations ("after 1.2 ms"), and avoid reading the clock when no time has passed.
//! On a host with counters that differ between processors a span may be wrong, so no deadline
//! depends on one alone.
#![cfg_attr(
    all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)),
    expect(
        unsafe_code,
        reason = "no safe crate reads the counter in three instructions"
    )
)]

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A time stamp, in units of the processor's counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    // Kept as two halves: the processor returns two, and joining them would cost every caller
    // two instructions.
    low: u32,
    high: u32,
}

/// Counts to a tick, as a power of two: usually one to a few seconds. On this architecture a tick
/// is the upper half, which is read anyway.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const TICK: u32 = 32;
/// From 67 ms (a counter of 1 GHz) to 3 s (24 MHz).
#[cfg(all(target_arch = "aarch64", not(miri)))]
const TICK: u32 = 26;
/// Nanoseconds: a second.
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
const TICK: u32 = 30;

/// Two readings of both clocks give the rate of the counter. The first is taken when the first ORB
/// is created.
static FIRST: OnceLock<(Instant, u64)> = OnceLock::new();

impl Stamp {
    /// The earliest moment.
    pub const EARLIEST: Self = Self { low: 0, high: 0 };

    /// Now.
    #[inline(always)]
    #[must_use]
    pub fn now() -> Self {
        let (low, high) = counter();
        Self { low, high }
    }

    /// Takes the first reading of both clocks, unless it was taken before. Spans computed before
    /// that are zero.
    pub fn calibrate() {
        first();
    }

    /// The time since the stamp.
    #[cold]
    #[must_use]
    pub fn elapsed(self) -> Duration {
        Self::now().since(self)
    }

    /// The time since `earlier`; zero if it was not earlier.
    #[cold]
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        let (instant, count) = first();
        let time = instant.elapsed().as_nanos();
        let counted = u128::from(Self::now().count().saturating_sub(count));
        if counted == 0 {
            return Duration::ZERO;
        }
        let span = self.count().saturating_sub(earlier.count());
        let nanos = u128::from(span) * time / counted;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The approximate number of counts in a span of time.
    #[cold]
    #[must_use]
    pub fn counts_in(span: Duration) -> u64 {
        let (instant, count) = first();
        let time = instant.elapsed().as_nanos().max(1);
        let counted = u128::from(Self::now().count().saturating_sub(count));
        u64::try_from(span.as_nanos() * counted / time).unwrap_or(u64::MAX)
    }

    /// Whether it was later than `earlier`, by the counter: also if the span between them is less
    /// than a nanosecond.
    #[must_use]
    pub fn is_after(self, earlier: Self) -> bool {
        self.count() > earlier.count()
    }

    /// The tick of the stamp: a number that changes every 2^32 counts of the processor on x86-64
    /// (1.4 s at 3 GHz), and in a similar time elsewhere.
    #[inline(always)]
    #[must_use]
    pub fn tick(self) -> u32 {
        ((self.count() >> TICK) & 0xFFFF_FFFF) as u32
    }

    /// Whether at least a sixteenth of a tick lies between any time of the tick `earlier` and this
    /// one. Always true after a tick and a sixteenth.
    #[must_use]
    pub fn is_long_after(self, earlier: u32) -> bool {
        match self.tick().wrapping_sub(earlier) {
            0 => false,
            1 => self.count() << (64 - TICK) >> (64 - 4) != 0,
            _ => true,
        }
    }

    /// Whether more than a 2048th of a tick, 0.7 ms at 3 GHz, lies between `earlier` and this. True
    /// if the counter lags behind that of another processor.
    #[inline(always)]
    #[must_use]
    pub fn is_moments_after(self, earlier: Self) -> bool {
        self.count().wrapping_sub(earlier.count()) >> (TICK - 11) != 0
    }

    /// The value of the counter. Spans of it are compared with [`Stamp::counts_in`].
    #[inline(always)]
    #[must_use]
    pub fn count(self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }
}

fn first() -> (Instant, u64) {
    *FIRST.get_or_init(|| (Instant::now(), Stamp::now().count()))
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn counter() -> (u32, u32) {
    let (low, high);
    // SAFETY: `rdtsc` reads a counter into two registers, and touches nothing else. Every
    // processor of this architecture has it.
    unsafe {
        core::arch::asm!(
            "rdtsc",
            out("eax") low,
            out("edx") high,
            options(nomem, nostack, preserves_flags),
        );
    }
    (low, high)
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline(always)]
fn counter() -> (u32, u32) {
    let count: u64;
    // SAFETY: the virtual counter may be read by programs on every system that runs
    // them at all, and reading it touches nothing else.
    unsafe {
        core::arch::asm!(
            "mrs {}, cntvct_el0",
            out(reg) count,
            options(nomem, nostack, preserves_flags),
        );
    }
    halves(count)
}

#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn counter() -> (u32, u32) {
    static BASE: OnceLock<Instant> = OnceLock::new();
    let nanos = BASE.get_or_init(Instant::now).elapsed().as_nanos();
    halves(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(any(miri, not(target_arch = "x86_64")))]
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "halves")]
fn halves(count: u64) -> (u32, u32) {
    (count as u32, (count >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_about_as_long_as_the_clock_says() {
        Stamp::calibrate();
        let (stamp, instant) = (Stamp::now(), Instant::now());
        std::thread::sleep(Duration::from_millis(30));
        let (counted, clock) = (stamp.elapsed(), instant.elapsed());
        assert!(
            counted >= Duration::from_millis(15),
            "{counted:?}, {clock:?}"
        );
        assert!(counted <= clock * 2, "{counted:?}, {clock:?}");
    }

    #[test]
    fn counts_are_those_of_the_time_that_passes() {
        Stamp::calibrate();
        std::thread::sleep(Duration::from_millis(20));
        let (stamp, instant) = (Stamp::now(), Instant::now());
        std::thread::sleep(Duration::from_millis(30));
        let (counted, passed) = (Stamp::now().count() - stamp.count(), instant.elapsed());
        let expected = Stamp::counts_in(passed);
        assert!(
            counted / 2 <= expected && expected / 2 <= counted,
            "{counted}, {expected}"
        );
    }

    fn at(count: u64) -> Stamp {
        Stamp {
            low: (count & 0xFFFF_FFFF) as u32,
            high: (count >> 32) as u32,
        }
    }

    #[test]
    fn a_pause_is_long_from_a_sixteenth_of_a_tick_on() {
        let (tick, sixteenth) = (1_u64 << TICK, 1_u64 << (TICK - 4));
        assert_eq!((at(5 * tick).tick(), at(6 * tick - 1).tick()), (5, 5));
        assert!(!at(6 * tick - 1).is_long_after(5));
        assert!(!at(6 * tick).is_long_after(5));
        assert!(!at(6 * tick + sixteenth - 1).is_long_after(5));
        assert!(at(6 * tick + sixteenth).is_long_after(5));
        assert!(at(7 * tick - 1).is_long_after(5));
        assert!(at(7 * tick).is_long_after(5));
        // A counter of another processor may lag behind.
        assert!(at(4 * tick).is_long_after(5));
        assert!(!at(sixteenth - 1).is_long_after(u32::MAX));
    }

    #[test]
    fn a_moment_is_a_part_of_a_tick_and_what_lags_behind_is_beyond_it() {
        let moment = 1_u64 << (TICK - 11);
        assert!(!at(5).is_moments_after(at(5)));
        assert!(!at(4 + moment).is_moments_after(at(5)));
        assert!(at(5 + moment).is_moments_after(at(5)));
        assert!(at(4).is_moments_after(at(5)));
    }

    #[test]
    fn earlier_stamps_are_not_after() {
        let earlier = Stamp::now();
        let later = Stamp::now();
        assert_eq!(earlier.since(later), Duration::ZERO);
        assert!(!earlier.is_after(later));
        assert!(at(8).is_after(at(7)) && !at(7).is_after(at(7)));
    }
}
