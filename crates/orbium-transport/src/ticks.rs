// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket timeouts for waits with exact deadlines.
//!
//! Linux counts `SO_RCVTIMEO` in ticks of up to 10 ms, and rounds long ones more
//! coarsely still: one of a minute may end seconds late. `poll` is exact but costs a
//! system call more. So a socket gets a timeout shorter than the deadline, and only the
//! rest is waited for by poll: a call that is answered sooner pays nothing.

use std::time::Duration;

use crate::{ByteStream, Deadline};
use orbium_sys::{Interest, wait_for};

/// By how much a socket may be late with any timeout: two ticks, and what a call
/// needs before it waits.
const MAX_TIMEOUT_LATENESS: Duration = Duration::from_millis(25);

/// What of that a call may have needed already.
const MAX_TIME_BEFORE_WAIT: Duration = Duration::from_millis(5);

/// Below this a socket is not left to its own timeout.
const MIN_SOCKET_TIMEOUT: Duration = Duration::from_millis(15);

/// What a socket is given that has to come back within `timeout`; `None`: it
/// cannot be relied on.
#[inline]
fn early(timeout: Duration) -> Option<Duration> {
    let certain = timeout.checked_sub(MAX_TIMEOUT_LATENESS)?;
    // Timers of Linux are late by an eighth of their time, and by a tick.
    (certain >= MIN_SOCKET_TIMEOUT).then(|| certain / 8 * 7)
}

/// The timeout that a stream is to have for a wait of `timeout`.
#[must_use]
pub fn given(stream: &dyn ByteStream, timeout: Option<Duration>) -> Option<Duration> {
    match timeout {
        Some(timeout) if stream.counts_in_ticks() => Some(early(timeout).unwrap_or(timeout)),
        other => other,
    }
}

/// Whether a stream that was given its timeout for a wait of `timeout` comes back
/// before `left` is over.
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

/// Waits for something to receive; whether there is, or something that is wrong
/// and will show, before the deadline.
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
            // As late as Linux is, at 100 ticks in a second.
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
