// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reassembly of messages from packets that may be reordered or lost.

use core::ops::Range;
use std::collections::VecDeque;

use crate::miop::reorder_buffer::{Inconsistent, ReorderBuffer};
use crate::miop::{MiopError, PacketHeader};

/// Limits of the memory that senders may occupy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectorLimits {
    /// Octets of one message.
    pub message: usize,
    /// Messages that are incomplete at the same time.
    pub messages: usize,
    /// Octets of all incomplete messages; each packet counts for 64 more.
    pub total: usize,
    /// Maximum time for which a message may be incomplete, in the caller's ticks.
    pub age: u64,
    /// Number of completed messages that are remembered, so that duplicate packets do not deliver
    /// them again.
    pub remembered: usize,
}

impl Default for CollectorLimits {
    /// 1 MiB per message, 64 messages, 8 MiB in total, 5000 ticks (for example milliseconds), 64
    /// remembered.
    fn default() -> Self {
        Self {
            message: 1 << 20,
            messages: 64,
            total: 8 << 20,
            age: 5000,
            remembered: 64,
        }
    }
}

/// Outcome of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// The packet contains a whole message, in these octets.
    Whole(Range<usize>),
    /// The packet completed a message, which is returned.
    Completed(Vec<u8>),
    /// Packets of its message are outstanding.
    Incomplete,
    /// The packet, or its whole message, was received before.
    Duplicate,
}

/// The sender and id of a message.
#[derive(Debug, PartialEq, Eq)]
struct Key<S> {
    sender: S,
    id: Box<[u8]>,
}

impl<S: PartialEq> Key<S> {
    fn is(&self, sender: &S, id: &[u8]) -> bool {
        *self.id == *id && self.sender == *sender
    }
}

#[derive(Debug)]
struct Partial<S> {
    key: Key<S>,
    parts: ReorderBuffer,
    /// The time at which its first packet arrived.
    begun: u64,
}

/// Messages in assembly, of all senders. If a limit is exceeded, the oldest are discarded, so that
/// incomplete messages cannot exclude others.
#[derive(Debug)]
pub struct Collector<S> {
    limits: CollectorLimits,
    /// Oldest first.
    partial: VecDeque<Partial<S>>,
    /// The last is the latest.
    remembered: VecDeque<Key<S>>,
    octets: usize,
    given_up: u64,
}

impl<S: Clone + PartialEq> Collector<S> {
    /// No messages in assembly.
    #[must_use]
    pub const fn new(limits: CollectorLimits) -> Self {
        Self {
            limits,
            partial: VecDeque::new(),
            remembered: VecDeque::new(),
            octets: 0,
            given_up: 0,
        }
    }

    /// Takes a packet, a whole datagram, of that sender; `now` must not decrease.
    ///
    /// # Errors
    /// [`MiopError`]. The partial message is discarded if it is inconsistent or too large.
    pub fn accept(&mut self, sender: &S, packet: &[u8], now: u64) -> Result<Accepted, MiopError> {
        self.expire(now);
        let header = PacketHeader::parse(packet)?;
        let (data, count) = (header.data(), header.total()?);
        if data.len() > self.limits.message {
            return Err(MiopError::TooLarge);
        }
        if self.is_remembered(sender, header.id) {
            return Ok(Accepted::Duplicate);
        }
        if count == Some(1) {
            self.drop_message(sender, header.id);
            self.remember(sender, header.id);
            return Ok(Accepted::Whole(data));
        }
        let taken = self.insert(sender, &header, count, &packet[data], now);
        if taken.is_err() {
            self.drop_message(sender, header.id);
        }
        taken
    }

    fn insert(
        &mut self,
        sender: &S,
        header: &PacketHeader<'_>,
        count: Option<u32>,
        data: &[u8],
        now: u64,
    ) -> Result<Accepted, MiopError> {
        let cost = ReorderBuffer::cost_of(data.len());
        if cost > self.limits.total || self.limits.messages == 0 {
            return Err(MiopError::TooLarge);
        }
        if let Some(at) = self.find(sender, header.id) {
            if self.partial[at].parts.contains(header.number) {
                return Ok(Accepted::Duplicate);
            }
        } else {
            while self.partial.len() >= self.limits.messages {
                self.give_up(0);
            }
            self.partial.push_back(Partial {
                key: Key {
                    sender: sender.clone(),
                    id: header.id.into(),
                },
                parts: ReorderBuffer::default(),
                begun: now,
            });
        }
        // Other messages are discarded first; this one only if it is too large alone.
        while self.octets + cost > self.limits.total && self.partial.len() > 1 {
            let own_is_first = self.find(sender, header.id) == Some(0);
            self.give_up(usize::from(own_is_first));
        }
        let at = self.find(sender, header.id).ok_or(MiopError::TooLarge)?;
        let partial = &mut self.partial[at];
        if self.octets + cost > self.limits.total
            || partial.parts.bytes() + data.len() > self.limits.message
        {
            return Err(MiopError::TooLarge);
        }
        match partial.parts.insert(header.number, count, data) {
            Err(Inconsistent) => return Err(MiopError::Inconsistent),
            Ok(false) => return Ok(Accepted::Duplicate),
            Ok(true) => self.octets += cost,
        }
        if !self.partial[at].parts.is_complete() {
            return Ok(Accepted::Incomplete);
        }
        let mut message = Vec::new();
        self.partial[at].parts.append_to(&mut message);
        self.drop_message(sender, header.id);
        self.remember(sender, header.id);
        Ok(Accepted::Completed(message))
    }

    /// Discards messages that have been incomplete for too long. [`Collector::accept`] also does
    /// so.
    pub fn expire(&mut self, now: u64) {
        while let Some(first) = self.partial.front()
            && now.saturating_sub(first.begun) > self.limits.age
        {
            self.give_up(0);
        }
    }

    /// Messages in assembly.
    #[must_use]
    pub fn len(&self) -> usize {
        self.partial.len()
    }

    /// Whether no messages are in assembly.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.partial.is_empty()
    }

    /// Octets of the messages in assembly.
    #[must_use]
    pub const fn octets(&self) -> usize {
        self.octets
    }

    /// The number of discarded incomplete messages: too old, or evicted by others.
    #[must_use]
    pub const fn given_up(&self) -> u64 {
        self.given_up
    }

    fn find(&self, sender: &S, id: &[u8]) -> Option<usize> {
        let mut partial = self.partial.iter();
        partial.position(|partial| partial.key.is(sender, id))
    }

    fn give_up(&mut self, at: usize) {
        if let Some(partial) = self.partial.remove(at) {
            self.octets -= partial.parts.cost();
            self.given_up += 1;
        }
    }

    fn drop_message(&mut self, sender: &S, id: &[u8]) {
        let at = self.find(sender, id);
        if let Some(partial) = at.and_then(|at| self.partial.remove(at)) {
            self.octets -= partial.parts.cost();
        }
    }

    fn is_remembered(&self, sender: &S, id: &[u8]) -> bool {
        // A message without an id cannot be distinguished from the next.
        !id.is_empty() && self.remembered.iter().any(|key| key.is(sender, id))
    }

    fn remember(&mut self, sender: &S, id: &[u8]) {
        if self.limits.remembered == 0 || id.is_empty() {
            return;
        }
        if self.remembered.len() >= self.limits.remembered {
            self.remembered.pop_front();
        }
        self.remembered.push_back(Key {
            sender: sender.clone(),
            id: id.into(),
        });
    }
}
