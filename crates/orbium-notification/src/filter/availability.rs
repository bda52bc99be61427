// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pauses in the calls of a filter of another process that could not be reached.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use orbium::ExceptionKind;
use orbium::lock::Mutex;

use crate::idl::cos_notify_filter::UnsupportedFilterableDataError as CallError;

/// After the first failure. It doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Availability of a filter of another process. Suppliers wait for its calls.
#[derive(Default)]
pub(super) struct Availability {
    state: Mutex<State>,
    has_failed: AtomicBool,
}

#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    Available,
    /// It could not be reached.
    Paused { until: Instant, pause: Duration },
    /// Its object does not exist any more.
    Gone,
}

impl Availability {
    /// The result of a call of the filter; `None` if it fails, or has failed a short time ago.
    pub(super) fn call<T>(&self, call: impl FnOnce() -> Result<T, CallError>) -> Option<T> {
        let pause = self.attempt(Instant::now())?;
        match call() {
            Ok(value) => {
                self.set(State::Available);
                Some(value)
            }
            Err(error) => {
                self.set(after(&error, Instant::now() + pause, pause));
                if !self.has_failed.swap(true, Ordering::Relaxed) {
                    tracing::warn!(target: "orbium::notification", %error, "a filter of another process has failed");
                }
                None
            }
        }
    }

    /// The pause after a call that fails now; `None` if the filter is not to be called. After a
    /// pause one of several suppliers calls.
    fn attempt(&self, now: Instant) -> Option<Duration> {
        let mut state = self.state.lock();
        match *state {
            State::Available => Some(FIRST_PAUSE),
            State::Paused { until, pause } if until <= now => {
                let until = now + pause;
                *state = State::Paused { until, pause };
                Some((2 * pause).min(LONGEST_PAUSE))
            }
            State::Paused { .. } | State::Gone => None,
        }
    }

    fn set(&self, state: State) {
        *self.state.lock() = state;
    }
}

fn after(error: &CallError, until: Instant, pause: Duration) -> State {
    let CallError::System(exception) = error else {
        return State::Available;
    };
    match exception.kind {
        ExceptionKind::Transient | ExceptionKind::Timeout | ExceptionKind::CommFailure => {
            State::Paused { until, pause }
        }
        ExceptionKind::ObjectNotExist => State::Gone,
        _ => State::Available,
    }
}

#[cfg(test)]
mod tests {
    use orbium::SystemException;

    use super::*;

    #[test]
    fn pauses_double_to_half_a_minute() {
        let unreachable = CallError::System(SystemException::from(ExceptionKind::Transient));
        let availability = Availability::default();
        let mut now = Instant::now();
        for expected in [1, 2, 4, 8, 16, 30, 30] {
            let pause = availability.attempt(now).unwrap();
            assert_eq!(pause, Duration::from_secs(expected));
            availability.set(after(&unreachable, now + pause, pause));
            assert_eq!(availability.attempt(now), None);
            now += pause;
        }
        assert_eq!(availability.call(|| Ok(())), None);
    }

    #[test]
    fn a_filter_that_does_not_exist_is_not_called_again() {
        let gone = CallError::System(SystemException::from(ExceptionKind::ObjectNotExist));
        let availability = Availability::default();
        assert_eq!(availability.call::<()>(|| Err(gone)), None);
        let later = Instant::now() + 2 * LONGEST_PAUSE;
        assert_eq!(availability.attempt(later), None);
    }
}
