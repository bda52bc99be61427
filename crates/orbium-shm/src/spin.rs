// SPDX-License-Identifier: MIT OR Apache-2.0
//! Looking a little longer before going to sleep.

use std::fmt;
use std::hint;
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use orbium_sys::fork::PerProcess;

/// Spinning of a thread before it sleeps until the peer has sent, or made room. With one processor,
/// of the host or of the thread's set, no thread spins.
///
/// A thread that spins answers within a microsecond and occupies its processor; one that sleeps
/// costs two context switches and frees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spin {
    /// Sleeps at once.
    None,
    /// Spins for that time in each wait.
    Fixed(Duration),
    /// Spins for at most that time, and only as long as it pays: after a spin that ended in sleep
    /// the next ones are skipped, twice as many each time.
    Adaptive(Duration),
}

impl Default for Spin {
    /// Adaptive, 20 µs: about the cost of sleeping and being woken.
    fn default() -> Self {
        Self::Adaptive(Duration::from_micros(20))
    }
}

/// Maximum configurable time: a second.
const MAX_SPIN_TIME: Duration = Duration::from_secs(1);

/// Error of an invalid spin setting.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BadSpin;

impl fmt::Display for BadSpin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected `none`, microseconds, `adaptive` or `adaptive:microseconds`")
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for BadSpin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BadSpin {}

impl FromStr for Spin {
    type Err = BadSpin;

    /// Parses `none`, `20` (microseconds), `adaptive`, `adaptive:20`.
    fn from_str(text: &str) -> Result<Self, BadSpin> {
        let time = |text: &str| match text.parse().map(Duration::from_micros) {
            Ok(time) if time <= MAX_SPIN_TIME => Ok(time),
            _ => Err(BadSpin),
        };
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            None if text == "adaptive" => Ok(Self::default()),
            None => Ok(Self::Fixed(time(text)?)),
            Some(("adaptive", bound)) => Ok(Self::Adaptive(time(bound)?)),
            Some(_) => Err(BadSpin),
        }
    }
}

impl fmt::Display for Spin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Fixed(time) => write!(f, "{}", time.as_micros()),
            Self::Adaptive(bound) => write!(f, "adaptive:{}", bound.as_micros()),
        }
    }
}

/// Checks between two readings of the clock.
const LOOKS_PER_CLOCK_READ: u32 = 16;

/// Maximum number of waits without a spin after one that did not pay.
const MAX_SKIPPED: u32 = 256;

/// One side's statistics on whether spinning pays.
#[derive(Debug)]
pub(crate) struct Spinner {
    bound: Duration,
    adaptive: bool,
    /// Waits that will not spin.
    skip: AtomicU32,
    /// The number of spins skipped the last time.
    penalty: AtomicU32,
}

impl Spinner {
    pub(crate) fn new(how: Spin) -> Self {
        // Not a `OnceLock`: a process that forks during its initialization has a child that would
        // wait for it.
        static PROCESSORS: PerProcess<usize> = PerProcess::new();
        let processors =
            PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, Into::into));
        let (bound, adaptive) = match how {
            Spin::Fixed(time) if *processors > 1 => (time, false),
            Spin::Adaptive(bound) if *processors > 1 => (bound, true),
            _ => (Duration::ZERO, false),
        };
        Self {
            bound: bound.min(MAX_SPIN_TIME),
            adaptive,
            skip: AtomicU32::new(0),
            penalty: AtomicU32::new(0),
        }
    }

    /// Spins until the condition is true, if that is permitted and pays, within the timeout.
    ///
    /// # Errors
    /// The time that has passed, if the condition is not true.
    pub(crate) fn spin(
        &self,
        timeout: Option<Duration>,
        mut ready: impl FnMut() -> bool,
    ) -> Result<(), Duration> {
        if self.bound.is_zero() {
            return Err(Duration::ZERO);
        }
        let skip = self.skip.load(Ordering::Relaxed);
        if skip > 0 {
            self.skip.store(skip - 1, Ordering::Relaxed);
            return Err(Duration::ZERO);
        }
        let bound = timeout.map_or(self.bound, |it| it.min(self.bound));
        let spun = if look(&mut ready) {
            Ok(())
        } else {
            look_until(bound, &mut ready)
        };
        if self.adaptive {
            self.learn(spun.is_ok());
        }
        spun
    }

    fn learn(&self, hit: bool) {
        let penalty = self.penalty.load(Ordering::Relaxed);
        if hit {
            if penalty > 0 {
                self.penalty.store(penalty / 2, Ordering::Relaxed);
            }
        } else {
            let penalty = (penalty * 2).clamp(1, MAX_SKIPPED);
            self.penalty.store(penalty, Ordering::Relaxed);
            self.skip.store(penalty, Ordering::Relaxed);
        }
    }
}

/// A few checks without the clock: a spinning peer answers within them.
#[inline]
fn look(ready: &mut impl FnMut() -> bool) -> bool {
    for _ in 0..LOOKS_PER_CLOCK_READ {
        if ready() {
            return true;
        }
        hint::spin_loop();
    }
    false
}

/// Checks until the bound; returns the time that has passed if the condition is not true.
fn look_until(bound: Duration, ready: &mut impl FnMut() -> bool) -> Result<(), Duration> {
    let start = Instant::now();
    loop {
        if look(ready) {
            return Ok(());
        }
        let passed = start.elapsed();
        if passed >= bound {
            return Err(passed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_spin_are_read_as_written() {
        for text in ["none", "0", "35", "adaptive:50"] {
            assert_eq!(text.parse::<Spin>().unwrap().to_string(), text);
        }
        assert_eq!("adaptive".parse(), Ok(Spin::default()));
        for text in ["", "-1", "1.5", "adaptive:", "some:3", "1000001", "none:1"] {
            assert_eq!(text.parse::<Spin>(), Err(BadSpin), "{text}");
        }
    }

    /// Regression: the timeout began after the spin, which could take a second.
    #[test]
    fn a_spin_ends_at_the_timeout_and_is_a_part_of_it() {
        let spinner = Spinner {
            bound: Duration::from_secs(3600),
            adaptive: false,
            skip: AtomicU32::new(0),
            penalty: AtomicU32::new(0),
        };
        let timeout = Duration::from_millis(1);
        let passed = spinner.spin(Some(timeout), || false).unwrap_err();
        assert!(passed >= timeout);
    }

    #[test]
    fn useless_spinning_is_tried_less_and_less() {
        let spinner = Spinner {
            bound: Duration::from_nanos(1),
            adaptive: true,
            skip: AtomicU32::new(0),
            penalty: AtomicU32::new(0),
        };
        let waits = 10_000;
        let mut spins = 0;
        for _ in 0..waits {
            let mut tried = false;
            let spun = spinner.spin(None, || {
                tried = true;
                false
            });
            assert!(spun.is_err());
            spins += u32::from(tried);
        }
        assert!(spins > 10 && spins < 60, "{spins}");
        // Pays again: after the remaining skipped ones it spins each time.
        let mut hits = 0;
        for _ in 0..waits {
            hits += u32::from(spinner.spin(None, || true).is_ok());
        }
        assert!(hits >= waits - MAX_SKIPPED, "{hits}");
    }
}
