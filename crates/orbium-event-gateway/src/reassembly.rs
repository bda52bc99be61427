// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reassembly of messages from datagrams: without sockets and clock, with bounded memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::datagram::{Fragment, Message};

/// Maximum number of senders at the same time. Beyond it the state of the one that was silent for
/// longest is dropped.
const MAX_SENDERS: usize = 64;
/// Number of messages of a sender that are tracked, complete or not.
const WINDOW: u32 = 1024;
/// The minimum step by which the window moves.
const MIN_WINDOW_STEP: u32 = 32;
/// Maximum number of incomplete messages of a sender.
const MAX_INCOMPLETE: usize = 32;
/// Maximum bytes of all incomplete messages.
const MAX_BYTES: usize = 16 << 20;
/// After so long without a new message a sender with numbers of before has been started again.
const RESTART: Duration = Duration::from_secs(5);

/// The received fragments of each sender.
pub(crate) struct Reassembly {
    /// Maximum bytes of a message.
    most: usize,
    senders: HashMap<SocketAddr, Sender>,
}

struct Sender {
    /// The first number of the window.
    first: u32,
    complete: BTreeSet<u32>,
    incomplete: BTreeMap<u32, Incomplete>,
    /// The time of arrival of the last fragment of a new message.
    last: Instant,
}

struct Incomplete {
    message: Message,
    bytes: Vec<u8>,
    has: Vec<bool>,
    left: usize,
}

impl Reassembly {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            senders: HashMap::new(),
        }
    }

    /// Adds a fragment, and returns the message that it completes.
    pub(crate) fn add(
        &mut self,
        from: SocketAddr,
        fragment: &Fragment<'_>,
        now: Instant,
    ) -> Option<Vec<u8>> {
        let message = fragment.message;
        if message.size > self.most {
            return None;
        }
        if !self.senders.contains_key(&from) && self.senders.len() >= MAX_SENDERS {
            let oldest = self.senders.iter().min_by_key(|(_, it)| it.last);
            let oldest = oldest.map(|(address, _)| *address);
            oldest.and_then(|address| self.senders.remove(&address));
        }
        let sender = self.senders.get(&from);
        let has_begun = sender.is_some_and(|it| it.incomplete.contains_key(&message.id));
        if message.fragments > 1 && !has_begun {
            self.make_space(message.size);
        }
        let new = || Sender::new(message.id, now);
        let sender = self.senders.entry(from).or_insert_with(new);
        if sender.has_passed(message.id) {
            let silence = now.saturating_duration_since(sender.last);
            if silence <= RESTART && !sender.is_wrapped(message.id) {
                return None;
            }
            *sender = Sender::new(message.id, now);
        }
        sender.last = now;
        sender.add(fragment)
    }
}

impl Reassembly {
    /// Drops incomplete messages, first of the sender with the most bytes, until there is space.
    fn make_space(&mut self, bytes: usize) {
        loop {
            let held: usize = self.senders.values().map(Sender::held).sum();
            if held == 0 || held + bytes <= MAX_BYTES {
                return;
            }
            let most = self.senders.values_mut().max_by_key(|it| it.held());
            if let Some(sender) = most {
                sender.incomplete.clear();
            }
        }
    }
}

impl Sender {
    /// Bytes of incomplete messages.
    fn held(&self) -> usize {
        self.incomplete.values().map(|it| it.bytes.len()).sum()
    }

    fn new(id: u32, now: Instant) -> Self {
        Self {
            // Datagrams may be reordered.
            first: id.saturating_sub(MIN_WINDOW_STEP),
            complete: BTreeSet::new(),
            incomplete: BTreeMap::new(),
            last: now,
        }
    }

    /// Whether a number below the window is one after the greatest: the distance to the window is
    /// greater than that beyond it.
    fn is_wrapped(&self, id: u32) -> bool {
        self.first.saturating_sub(id) > u32::MAX / 2
    }

    /// Whether a message is complete, or below the window.
    fn has_passed(&self, id: u32) -> bool {
        id < self.first || self.complete.contains(&id)
    }

    fn add(&mut self, fragment: &Fragment<'_>) -> Option<Vec<u8>> {
        let id = fragment.message.id;
        if id - self.first >= WINDOW {
            self.first = (id - WINDOW).saturating_add(MIN_WINDOW_STEP);
            self.complete = self.complete.split_off(&self.first);
            self.incomplete = self.incomplete.split_off(&self.first);
        }
        if !self.incomplete.contains_key(&id) && self.incomplete.len() >= MAX_INCOMPLETE {
            self.incomplete.pop_first();
        }
        let new = || Incomplete::new(fragment.message);
        let incomplete = self.incomplete.entry(id).or_insert_with(new);
        if !incomplete.add(fragment) {
            return None;
        }
        self.complete.insert(id);
        self.incomplete.remove(&id).map(|it| it.bytes)
    }
}

impl Incomplete {
    fn new(message: Message) -> Self {
        Self {
            message,
            bytes: vec![0; message.size],
            has: vec![false; message.fragments],
            left: message.fragments,
        }
    }

    /// Whether the message is complete with this fragment.
    fn add(&mut self, fragment: &Fragment<'_>) -> bool {
        if fragment.message != self.message {
            return false;
        }
        let Some(has) = self.has.get_mut(fragment.number) else {
            return false;
        };
        let end = fragment.offset + fragment.bytes.len();
        let Some(place) = self.bytes.get_mut(fragment.offset..end) else {
            return false;
        };
        if !std::mem::replace(has, true) {
            place.copy_from_slice(fragment.bytes);
            self.left -= 1;
        }
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datagram::fragments;

    const MAX_MESSAGES: usize = 1000;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn fragments_in_any_order_make_one_message() {
        let mut reassembly = Reassembly::new(MAX_MESSAGES);
        let now = Instant::now();
        let message: Vec<u8> = (0..100).collect();
        let mut all: Vec<_> = fragments(7, &message, 30).collect();
        all.reverse();
        let (last, first) = all.split_last().unwrap();
        for fragment in first.iter().chain(first) {
            assert_eq!(reassembly.add(address(1), fragment, now), None);
        }
        // Another sender's message of the same number.
        assert_eq!(reassembly.add(address(2), last, now), None);
        assert_eq!(reassembly.add(address(1), last, now), Some(message.clone()));
        assert_eq!(reassembly.add(address(1), last, now), None);
    }

    #[test]
    fn duplicates_old_and_large_messages_are_dropped() {
        let mut reassembly = Reassembly::new(4);
        let now = Instant::now();
        let mut add = |id, message: &[u8], now| {
            let fragment = fragments(id, message, MAX_MESSAGES).next().unwrap();
            reassembly.add(address(1), &fragment, now)
        };
        assert_eq!(add(5000, &[1], now), Some(vec![1]));
        assert_eq!(add(5000, &[1], now), None);
        assert_eq!(add(4999, &[2], now), Some(vec![2]));
        assert_eq!(add(3000, &[3], now), None);
        assert_eq!(add(5001, &[0; 5], now), None);
        // The sender was restarted.
        let later = now + Duration::from_secs(6);
        assert_eq!(add(1, &[4], later), Some(vec![4]));
        assert_eq!(add(u32::MAX, &[5], later), Some(vec![5]));
    }

    /// Regression: all messages of a sender that is never silent were dropped from then on.
    #[test]
    fn numbers_begin_anew_after_the_greatest_one() {
        let mut reassembly = Reassembly::new(4);
        let now = Instant::now();
        for step in 0..5000 {
            let id = (u32::MAX - 2000).wrapping_add(step);
            let fragment = fragments(id, &[7], MAX_MESSAGES).next().unwrap();
            assert_eq!(
                reassembly.add(address(1), &fragment, now),
                Some(vec![7]),
                "{id}"
            );
            assert_eq!(reassembly.add(address(1), &fragment, now), None, "{id}");
        }
    }

    /// The messages that were dropped counted as a sign that it had not been started again.
    #[test]
    fn a_sender_that_numbers_its_messages_anew_is_heard() {
        let begin = Instant::now();
        // Its numbers begin anew, below the window or within it.
        for first in [0, 5500] {
            let mut reassembly = Reassembly::new(4);
            let mut add = |id, seconds| {
                let fragment = fragments(id, &[7], MAX_MESSAGES).next().unwrap();
                let now = begin + Duration::from_secs(seconds);
                reassembly.add(address(1), &fragment, now).is_some()
            };
            for id in 5000..6000 {
                assert!(add(id, 0));
            }
            let heard = (0..8).map(|it| add(first + it, it.into()));
            let expected = [false, false, false, false, false, false, true, true];
            assert!(heard.eq(expected), "{first}");
        }
    }

    #[test]
    fn incomplete_messages_take_bounded_memory() {
        let mut reassembly = Reassembly::new(1 << 20);
        let now = Instant::now();
        let large = vec![0; 1 << 20];
        for id in 0..30 {
            let fragment = fragments(id, &large, 1000).next().unwrap();
            assert_eq!(reassembly.add(address(0), &fragment, now), None);
            assert!(reassembly.senders[&address(0)].held() <= MAX_BYTES);
        }
        let message = [0; 100];
        for port in 1..80 {
            for id in 0..40 {
                let fragment = fragments(id, &message, 30).next().unwrap();
                assert_eq!(reassembly.add(address(port), &fragment, now), None);
            }
        }
        assert!(reassembly.senders.len() <= MAX_SENDERS);
        let mut senders = reassembly.senders.values();
        assert!(senders.all(|it| it.incomplete.len() <= MAX_INCOMPLETE));
    }
}
