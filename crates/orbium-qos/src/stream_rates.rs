// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rates of message streams: a token bucket for each connection. Time is an argument.

use std::collections::HashMap;
use std::time::Duration;

/// The buckets of all connections.
#[derive(Debug)]
pub(crate) struct StreamRates {
    /// The expected time of each connection's next message, by its number.
    expected: HashMap<u64, Duration>,
    most: usize,
}

impl StreamRates {
    /// For at most that many connections.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            expected: HashMap::new(),
            most,
        }
    }

    /// Whether a message that a connection sends at `now` may be served, with one expected each
    /// `period`: it may be one period early.
    pub(crate) fn admit(&mut self, connection: u64, period: Duration, now: Duration) -> bool {
        if !self.expected.contains_key(&connection) && self.expected.len() >= self.most {
            // Connections that are not early now may begin anew.
            self.expected.retain(|_, expected| *expected > now);
            if self.expected.len() >= self.most {
                return false;
            }
        }
        let expected = self.expected.entry(connection).or_insert(now);
        if now.saturating_add(period) < *expected {
            return false;
        }
        *expected = (*expected).max(now).saturating_add(period);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Conformance: RT - RIOP: MESSAGE_STREAM: the server keeps the rate
    #[test]
    fn a_stream_has_its_rate_and_no_more() {
        let mut rates = StreamRates::new(4);
        let mut served = 0;
        for now in 0..1000 {
            served += u32::from(rates.admit(1, 10 * MS, now * MS));
        }
        assert_eq!(served, 101, "one ahead");
        // Another connection is not concerned.
        assert!(rates.admit(2, 10 * MS, 1000 * MS));
    }

    /// Conformance: RT - RIOP: MESSAGE_STREAM: the server keeps the rate
    #[test]
    fn retained_streams_are_bounded_whatever_periods_peers_invent() {
        let mut rates = StreamRates::new(4);
        for connection in 0..4 {
            assert!(rates.admit(connection, Duration::MAX, MS));
        }
        assert!(!rates.admit(9, MS, 2 * MS));
        assert_eq!(rates.expected.len(), 4);
        let mut rates = StreamRates::new(4);
        for connection in 0..1000 {
            assert!(rates.admit(connection, MS, connection as u32 * 2 * MS));
            assert!(rates.expected.len() <= 4);
        }
    }
}
