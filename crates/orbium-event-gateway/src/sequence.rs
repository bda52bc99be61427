// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sequence numbers of the requests of a group's senders, to detect missing ones, without sockets
//! and clock.

use std::collections::{BTreeSet, HashMap};

/// Maximum number of senders at the same time. Beyond it the state of the one that was silent for
/// longest is dropped.
const MAX_ORIGINS: usize = 64;
/// Maximum number of missing requests of a sender that may still arrive.
const MAX_MISSING: usize = 1024;

/// The channel from which a gateway sends events, in its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Origin(pub(crate) u64);

/// The content of a request's service context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) origin: Origin,
    /// Counts the requests of a sender, that is all gateways of its channel in its process, from 1.
    pub(crate) number: u64,
}

impl Mark {
    pub(crate) fn encode(self) -> [u8; 16] {
        let mut data = [0; 16];
        data[..8].copy_from_slice(&self.origin.0.to_be_bytes());
        data[8..].copy_from_slice(&self.number.to_be_bytes());
        data
    }

    /// `None` if the data have another length.
    pub(crate) fn decode(data: &[u8]) -> Option<Self> {
        let (origin, number) = data.split_first_chunk::<8>()?;
        Some(Self {
            origin: Origin(u64::from_be_bytes(*origin)),
            number: u64::from_be_bytes(number.try_into().ok()?),
        })
    }
}

/// Classification of a request among those of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The next one, before which so many have not arrived.
    Next { missing: u64 },
    /// It was counted as missing.
    Late,
    /// A duplicate.
    Repeated,
}

/// The senders of a group.
#[derive(Debug, Default)]
pub(crate) struct Sequences {
    senders: HashMap<Origin, Sender>,
    /// Counts the arriving requests.
    arrived: u64,
}

#[derive(Debug)]
struct Sender {
    last: u64,
    missing: BTreeSet<u64>,
    /// The count of arrivals at its last request.
    heard: u64,
}

impl Sequences {
    /// Records a request. Requests of a sender before the first one that arrives are not missing.
    pub(crate) fn arrived(&mut self, mark: Mark) -> Arrival {
        self.arrived += 1;
        if !self.senders.contains_key(&mark.origin) && self.senders.len() >= MAX_ORIGINS {
            let silent = self.senders.iter().min_by_key(|(_, it)| it.heard);
            let silent = silent.map(|(origin, _)| *origin);
            silent.and_then(|it| self.senders.remove(&it));
        }
        let new = || Sender {
            last: mark.number.saturating_sub(1),
            missing: BTreeSet::new(),
            heard: 0,
        };
        let sender = self.senders.entry(mark.origin).or_insert_with(new);
        sender.heard = self.arrived;
        sender.arrived(mark.number)
    }
}

impl Sender {
    fn arrived(&mut self, number: u64) -> Arrival {
        if number <= self.last {
            return if self.missing.remove(&number) {
                Arrival::Late
            } else {
                Arrival::Repeated
            };
        }
        let missing = number - self.last - 1;
        // At most MAX_MISSING missing events are remembered: the latest.
        let first = number - missing.min(MAX_MISSING as u64);
        self.missing.extend(first..number);
        while self.missing.len() > MAX_MISSING {
            self.missing.pop_first();
        }
        self.last = number;
        Arrival::Next { missing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(origin: u64, number: u64) -> Mark {
        let origin = Origin(origin);
        Mark { origin, number }
    }

    #[test]
    fn a_mark_survives_its_context() {
        let mark = mark(u64::MAX - 7, 1 << 40);
        assert_eq!(Mark::decode(&mark.encode()), Some(mark));
        for length in 0..16 {
            assert_eq!(Mark::decode(&mark.encode()[..length]), None);
        }
        assert_eq!(Mark::decode(&[0; 17]), None);
    }

    #[test]
    fn missing_late_and_repeated_requests_are_distinguished() {
        let mut sequences = Sequences::default();
        let mut arrived = |origin, number| sequences.arrived(mark(origin, number));
        let next = |missing| Arrival::Next { missing };
        assert_eq!(arrived(1, 40), next(0));
        assert_eq!(arrived(1, 41), next(0));
        assert_eq!(arrived(1, 45), next(3));
        assert_eq!(arrived(1, 43), Arrival::Late);
        assert_eq!(arrived(1, 43), Arrival::Repeated);
        assert_eq!(arrived(1, 40), Arrival::Repeated);
        // Each sender is counted separately.
        assert_eq!(arrived(2, 43), next(0));
        assert_eq!(arrived(1, 46), next(0));
    }

    #[test]
    fn hostile_numbers_take_bounded_memory() {
        let mut sequences = Sequences::default();
        assert_eq!(sequences.arrived(mark(0, 0)), Arrival::Repeated);
        assert_eq!(sequences.arrived(mark(0, 1)), Arrival::Next { missing: 0 });
        let gap = u64::MAX - 2;
        assert_eq!(
            sequences.arrived(mark(0, u64::MAX)),
            Arrival::Next { missing: gap }
        );
        assert_eq!(sequences.arrived(mark(0, 5)), Arrival::Repeated);
        for origin in 1..1000 {
            sequences.arrived(mark(origin, 1));
            sequences.arrived(mark(origin, 5000));
        }
        assert_eq!(sequences.senders.len(), MAX_ORIGINS);
        let mut senders = sequences.senders.values();
        assert!(senders.all(|it| it.missing.len() <= MAX_MISSING));
    }
}
