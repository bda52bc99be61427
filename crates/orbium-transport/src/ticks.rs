// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket timeouts for waits with exact deadlines.
//!
//! Linux counts `SO_RCVTIMEO` in ticks of up to 10 ms, and rounds long ones more coarsely: one of a
//! minute may end seconds late. `poll` is exact but costs another system call. So a socket gets a
//! timeout shorter than the deadline, and only the rest is waited for by poll: a call that is
//! answered earlier has no overhead.

use std::time::Duration;

use crate::{ByteStream, Deadline};
use orbium_sys::{Interest, wait_for};

/// Maximum lateness of a socket with any timeout: two ticks, and the time of a call before it
/// waits.
const MAX_TIMEOUT_LATENESS: Duration = Duration::from_millis(25);

/// The part of that for the time of a call before it waits.
const MAX_TIME_BEFORE_WAIT: Duration = Duration::from_millis(5);

/// Minimum timeout for which the timeout of a socket is used.
const MIN_SOCKET_TIMEOUT: Duration = Duration::from_millis(15);

/// The timeout of a socket that must return within `timeout`; `None` if no timeout is reliable.
#[inline]
fn early(timeout: Duration) -> Option<Duration> {
    let certain = timeout.checked_sub(MAX_TIMEOUT_LATENESS)?;
    // Timers of Linux are late by an eighth of their time, and by a tick.
    (certain >= MIN_SOCKET_TIMEOUT).then(|| certain / 8 * 7)
}

/// The timeout of a stream for a wait of `timeout`.
#[must_use]
pub fn given(stream: &dyn ByteStream, timeout: Option<Duration>) -> Option<Duration> {
    match timeout {
        Some(timeout) if stream.counts_in_ticks() => Some(early(timeout).unwrap_or(timeout)),
        other => other,
    }
}

/// Whether a stream with the timeout for a wait of `timeout` returns before `left` is over.
#[inline]
#[must_use]
pub fn is_in_time(timeout: Option<Duration>, left: Option<Duration>) -> bool {
    match (timeout, left) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(timeout), Some(left)) => {
            early(timeout).is_some() && left + MAX_TIME_BEFORE_WAIT >= timeout
        }
    }
}

/// Waits until data or an error can be received; returns whether this happens before the deadline.
#[cold]
#[must_use]
pub fn comes_before(stream: &dyn ByteStream, deadline: Deadline) -> bool {
    loop {
        let Ok(left) = deadline.remaining() else {
            return false;
        };
        match wait_for([(&stream.source(), Interest::Read)], left).ok() {
            Some([false]) => {}
            Some([true]) | None => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    #[test]
    fn a_socket_comes_back_before_its_time_is_over() {
        for milliseconds in (40..2000).chain([60_000, 86_400_000]) {
            let timeout = milliseconds * MILLISECOND;
            let given = early(timeout).unwrap();
            // The lateness of Linux, at 100 ticks per second.
            assert!(given + given / 7 + 20 * MILLISECOND < timeout);
            assert!(given >= 10 * MILLISECOND, "and not at once");
        }
        assert_eq!(early(39 * MILLISECOND), None);
        assert_eq!(early(Duration::ZERO), None);
    }

    #[test]
    fn remaining_time_decides() {
        let of = |timeout: u32, left: u32| {
            is_in_time(Some(timeout * MILLISECOND), Some(left * MILLISECOND))
        };
        assert!(of(100, 100) && of(100, 96));
        assert!(!of(100, 90), "much was used up before");
        assert!(!of(10, 10), "too short for a socket");
        assert!(is_in_time(None, None) && is_in_time(Some(MILLISECOND), None));
        assert!(!is_in_time(None, Some(MILLISECOND)));
    }
}
