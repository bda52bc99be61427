// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies to pipelined requests, sent together.
//!
//! A reply is collected while the next request is already complete in the receive buffer, and is
//! sent with the reply to the last of these. No reply waits for a request that has not arrived, nor
//! for a slow servant: with slow servants, replies are not collected, and a servant that is slow
//! unexpectedly is detected by the lane's
//! [`Flusher`](crate::connections::flusher::Flusher).

use std::time::Duration;

use crate::connections::flusher::Tick;
use orbium_channel::receive_buffer::SMALL;
use orbium_sys::Stamp;

/// Maximum time between replies that are collected.
const MAX_REPLY_GAP: Duration = Duration::from_micros(50);

/// Maximum time that the first reply is held for the following ones, each of which is ready within
/// [`MAX_REPLY_GAP`].
const MAX_HOLDING_TIME: Duration = Duration::from_micros(100);

/// Ticks without a reply after which the flusher drops the connection.
const QUIET: u32 = 64;

/// Replies that are ready and not sent.
#[derive(Debug)]
pub(super) struct Collected {
    pub(super) octets: Vec<u8>,
    /// The times of the first of them, and of the last reply: the processor's counter, since
    /// reading the system's clock costs more than a tenth of a request.
    since: u64,
    pub(super) last: u64,
    pace: Pace,
    /// The number of this batch of replies.
    number: u64,
    /// The batch seen by the flusher at its last tick, and the number of ticks without a new one.
    seen: u64,
    quiet: u32,
    /// Whether the flusher watches the connection.
    pub(super) is_watched: bool,
}

/// [`MAX_REPLY_GAP`] and [`MAX_HOLDING_TIME`] in units of the processor's counter. A counter that
/// differs between processors makes replies earlier or later; the flusher bounds the delay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pause: u64,
    held: u64,
}

impl Pace {
    pub(super) fn of_processor() -> Self {
        Self {
            pause: Stamp::counts_in(MAX_REPLY_GAP),
            held: Stamp::counts_in(MAX_HOLDING_TIME),
        }
    }
}

impl Collected {
    pub(super) fn new(now: u64, pace: Pace) -> Self {
        Self {
            octets: Vec::new(),
            since: now,
            last: now,
            pace,
            number: 0,
            seen: 0,
            quiet: 0,
            is_watched: false,
        }
    }

    /// Whether another reply of that length may be collected.
    #[inline]
    pub(super) fn takes(&mut self, len: usize, now: u64) -> bool {
        let pause = now.saturating_sub(std::mem::replace(&mut self.last, now));
        let held = if self.octets.is_empty() {
            0
        } else {
            now.saturating_sub(self.since)
        };
        pause <= self.pace.pause && held <= self.pace.held && self.octets.len() + len <= SMALL
    }

    /// Begins a batch with its first reply.
    pub(super) fn begin(&mut self, now: u64) {
        self.since = now;
        self.number += 1;
        self.octets.reserve_exact(SMALL);
    }

    /// Whether the flusher has to continue, and whether these replies have waited for a tick.
    pub(super) fn tick(&mut self, ends: bool) -> Tick {
        let is_seen = std::mem::replace(&mut self.seen, self.number) == self.number;
        self.quiet = if is_seen { self.quiet + 1 } else { 0 };
        if !self.octets.is_empty() {
            return if is_seen { Tick::Flush } else { Tick::Watch };
        }
        self.is_watched = self.quiet < QUIET && !ends;
        if self.is_watched {
            Tick::Watch
        } else {
            Tick::Forget
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace {
        pause: 50,
        held: 100,
    };

    #[test]
    fn replies_are_collected_while_they_follow_each_other_quickly() {
        let mut collected = Collected::new(0, PACE);
        assert!(collected.takes(SMALL, 0));
        assert!(!collected.takes(SMALL + 1, 0));
        assert!(!collected.takes(1, 100), "servants take long");
        collected.octets.push(0);
        collected.begin(100);
        collected.last = 200;
        assert!(collected.takes(1, 200));
        assert!(!collected.takes(SMALL, 200), "too many");
        assert!(!collected.takes(1, 225), "held too long");
        assert!(collected.takes(1, 90), "a counter that lags behind");
    }

    #[test]
    fn replies_found_by_two_ticks_are_flushed_and_quiet_connections_forgotten() {
        let mut collected = Collected::new(0, PACE);
        collected.octets.push(0);
        collected.begin(0);
        assert_eq!(collected.tick(false), Tick::Watch);
        assert_eq!(collected.tick(false), Tick::Flush);
        collected.begin(0);
        assert_eq!(
            collected.tick(true),
            Tick::Watch,
            "others, of the same length"
        );
        collected.octets.clear();
        for _ in 1..QUIET {
            assert_eq!(collected.tick(false), Tick::Watch);
        }
        assert_eq!(collected.tick(false), Tick::Forget);
        assert!(!collected.is_watched);
        assert_eq!(collected.tick(true), Tick::Forget);
    }
}
