// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rates of message streams: a token bucket for each connection. Time is an argument.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// Longest period that is kept. Peers choose periods: with longer ones their entries would stay.
const MAX_PERIOD: Duration = Duration::from_secs(60);

/// The buckets of all connections.
#[derive(Debug)]
pub(crate) struct StreamRates {
    /// The expected time of each connection's next message, by its number.
    expected: HashMap<u64, Duration>,
    /// The same in the order of these times.
    by_time: BTreeSet<(Duration, u64)>,
    most: usize,
}

impl StreamRates {
    /// For at most that many connections; beyond them, one begins anew for each further one.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            expected: HashMap::new(),
            by_time: BTreeSet::new(),
            most,
        }
    }

    /// Whether a message that a connection sends at `now` may be served, with one expected each
    /// `period`: it may be one period early. The first one of a connection always may.
    pub(crate) fn admit(&mut self, connection: u64, period: Duration, now: Duration) -> bool {
        let period = period.min(MAX_PERIOD);
        let expected = match self.expected.get(&connection) {
            Some(expected) => *expected,
            None => {
                self.make_room(now);
                now
            }
        };
        if now.saturating_add(period) < expected {
            return false;
        }
        let next = expected.max(now).saturating_add(period);
        self.by_time.remove(&(expected, connection));
        self.by_time.insert((next, connection));
        self.expected.insert(connection, next);
        true
    }

    /// Removes a connection from a full table: one that is not early now, or else the earliest.
    fn make_room(&mut self, now: Duration) {
        if self.expected.len() < self.most {
            return;
        }
        let is_due = self.by_time.first().is_some_and(|(it, _)| *it <= now);
        let removed = if is_due {
            self.by_time.pop_first()
        } else {
            self.by_time.pop_last()
        };
        if let Some((_, connection)) = removed {
            self.expected.remove(&connection);
        }
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
        for connection in 0..1000 {
            let period = if connection % 2 == 0 {
                MS
            } else {
                Duration::MAX
            };
            assert!(rates.admit(connection, period, connection as u32 * 2 * MS));
            assert!(rates.expected.len() <= 4);
            assert_eq!(rates.expected.len(), rates.by_time.len());
        }
    }

    /// Once as many connections as the table has room for had sent one message each with a period without end,
    /// those of all others were refused for ever.
    #[test]
    fn a_full_table_refuses_no_other_stream() {
        for later in [MS, 2 * MS, Duration::from_secs(86_400)] {
            let mut rates = StreamRates::new(4);
            assert!(rates.admit(5000, 10 * MS, MS));
            for connection in 0..1000 {
                assert!(rates.admit(connection, Duration::MAX, MS));
            }
            // Those of the longest periods have made room for one another.
            assert!(rates.admit(5000, 10 * MS, MS) && !rates.admit(5000, 10 * MS, MS));
            assert!(rates.admit(2000, MS, later));
            assert_eq!(rates.expected.len(), 4);
        }
    }
}
