// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receive buffer of a byte stream, charged to a budget.

use std::io;

use orbium_transport::ByteStream;

pub use crate::peer_memory::SMALL;
use crate::peer_memory::{Budget, Charge, NoMemory, counted};

/// Octets by which a buffer may exceed the received ones.
const MAX_GROWTH_AHEAD: usize = 64 * 1024;

/// A larger buffer is released once it is empty, regardless of what is expected.
pub const MAX_RETAINED_BUFFER: usize = 1 << 20;

/// The memory of received octets. The part beyond [`SMALL`] is charged.
#[derive(Debug, Default)]
pub struct ReceiveBuffer {
    /// Initialised octets; those from `start` to `end` were received.
    octets: Vec<u8>,
    start: usize,
    end: usize,
    charge: Charge,
}

impl ReceiveBuffer {
    /// A buffer that begins with octets received elsewhere; if the budget is exhausted, they are
    /// not charged.
    pub fn with_octets(octets: Vec<u8>, budget: &Budget) -> Self {
        let mut charge = budget.charge();
        if octets.len() > SMALL {
            let _ = charge.set(octets.len());
        }
        Self {
            start: 0,
            end: octets.len(),
            octets,
            charge,
        }
    }

    /// Replaces bytes that are all consumed. If the budget is exhausted, the new ones are not
    /// charged.
    pub fn put(&mut self, octets: Vec<u8>) {
        let _ = self.charge.set(counted(octets.len()));
        (self.start, self.end) = (0, octets.len());
        self.octets = octets;
        self.expect_nothing();
    }

    /// Prevents that it is ready for a small message once its bytes are consumed.
    pub fn expect_nothing(&mut self) {
        if self.octets.len() == SMALL {
            // It is then cleared like a large one.
            self.octets.push(0);
        }
    }

    /// Returns its memory, of which all bytes are consumed.
    pub fn take_memory(&mut self) -> Vec<u8> {
        debug_assert!(self.is_empty());
        (self.start, self.end) = (0, 0);
        // Less is never refused.
        let _ = self.charge.set(0);
        std::mem::take(&mut self.octets)
    }

    /// The budget to which it is charged.
    pub fn budget(&self) -> &Budget {
        self.charge.budget()
    }

    /// The bytes received and not used yet.
    #[inline]
    pub fn received(&self) -> &[u8] {
        &self.octets[self.start..self.end]
    }

    /// The received octets, for changes in place.
    #[inline]
    pub fn received_mut(&mut self) -> &mut [u8] {
        &mut self.octets[self.start..self.end]
    }

    /// The first octets of it, as many as were received at most.
    #[inline]
    pub fn first_mut(&mut self, count: usize) -> &mut [u8] {
        &mut self.octets[self.start..self.start + count]
    }

    /// Whether all bytes are consumed.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Removes octets from the start of `received`.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.start += count;
    }

    /// Makes room at the start, if that suffices for a small message.
    #[inline]
    pub fn is_ready_for_little(&mut self) -> bool {
        let is_ready = self.start == self.end && self.octets.len() >= SMALL;
        if is_ready {
            self.start = 0;
            self.end = 0;
        }
        is_ready
    }

    /// Whether it has more memory than small messages need.
    #[inline]
    pub fn is_large(&self) -> bool {
        self.octets.len() > SMALL
    }

    /// Falls back to a small buffer, unless many bytes are unconsumed. A buffer that has just
    /// contained a message of `last` octets is retained for the next one if both are moderate, and
    /// the budget is not tight. Returns whether it fell back.
    #[cold]
    pub fn settle(&mut self, last: usize) -> bool {
        let rest = self.end - self.start;
        let useful = last > SMALL && self.octets.len() <= MAX_RETAINED_BUFFER;
        let falls_back = rest <= SMALL && (!useful || self.budget().is_tight());
        if falls_back {
            self.shrink();
        }
        falls_back
    }

    /// Shrinks to a small buffer, which is enough for the unconsumed bytes.
    fn shrink(&mut self) {
        let rest = self.octets[self.start..self.end].to_vec();
        (self.start, self.end) = (0, rest.len());
        self.octets = rest;
        // Less is never refused.
        let _ = self.charge.set(0);
    }

    /// Returns its memory with a message of that many octets, if the memory is too large to be
    /// retained, and nothing else was received.
    pub fn take_if_alone(&mut self, message: usize) -> Option<(Vec<u8>, Charge)> {
        if message <= MAX_RETAINED_BUFFER || self.start > 0 || self.end != message {
            return None;
        }
        self.end = 0;
        let mut octets = std::mem::take(&mut self.octets);
        octets.truncate(message);
        let empty = self.budget().charge();
        Some((octets, std::mem::replace(&mut self.charge, empty)))
    }

    /// Discards all bytes, and falls back to a small buffer.
    #[cold]
    pub fn clear(&mut self) {
        self.start = self.end;
        self.shrink();
    }

    /// Replaces all contents by a few octets; until they are consumed the buffer counts as large.
    #[cold]
    pub fn replace(&mut self, mut octets: Vec<u8>) {
        self.clear();
        self.end = octets.len();
        octets.resize(SMALL + 1, 0);
        self.octets = octets;
    }

    /// Makes room for that many octets, including those received of them; returns the end of the
    /// room. Memory grows with the received octets, not with the expected ones: for many, there is
    /// initially room for some.
    ///
    /// # Errors
    /// There is no free room, and no memory for more.
    pub fn make_room(&mut self, expected: usize) -> Result<usize, NoMemory> {
        if self.start > 0 {
            self.octets.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let justified = expected.min(2 * self.end + MAX_GROWTH_AHEAD);
        if self.octets.len() < justified && self.grow(justified).is_err() {
            // The existing memory is used first.
            return if self.end < self.octets.len() {
                Ok(self.octets.len())
            } else {
                Err(NoMemory)
            };
        }
        // The memory of a previous message exists.
        Ok(expected.min(self.octets.len()))
    }

    fn grow(&mut self, octets: usize) -> Result<(), NoMemory> {
        let before = match self.octets.len() {
            little if little <= SMALL => 0,
            much => much,
        };
        if octets > SMALL {
            self.charge.set(octets)?;
        }
        let more = octets - self.octets.len();
        if self.octets.try_reserve_exact(more).is_err() {
            let _ = self.charge.set(before);
            return Err(NoMemory);
        }
        self.octets.resize(octets, 0);
        Ok(())
    }

    /// Whether the last receive filled its room and ended within a message after others: then more
    /// is probably available.
    pub fn is_filled(&self) -> bool {
        let partial = self.start > 0 && self.start < self.end;
        partial && (self.end == SMALL || self.end == self.octets.len())
    }

    /// The end of all space in the buffer.
    pub fn room(&self) -> usize {
        self.octets.len()
    }

    /// Receives once, up to `until`.
    #[inline]
    pub fn receive(&mut self, stream: &dyn ByteStream, until: usize) -> io::Result<usize> {
        self.receive_by(|room| stream.receive(room), until)
    }

    /// Calls `receive` once with the room up to `until`; it returns the number of octets written.
    ///
    /// # Errors
    /// The errors of `receive`.
    #[inline]
    pub fn receive_by(
        &mut self,
        receive: impl FnOnce(&mut [u8]) -> io::Result<usize>,
        until: usize,
    ) -> io::Result<usize> {
        let received = receive(&mut self.octets[self.end..until])?;
        orbium_trace::probe!(IoReceive);
        self.end += received;
        Ok(received)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holding(octets: usize, budget: &Budget) -> ReceiveBuffer {
        ReceiveBuffer::with_octets(vec![1; octets], budget)
    }

    #[test]
    fn room_follows_what_has_arrived_not_what_is_expected() {
        let mut buffer = ReceiveBuffer::default();
        assert_eq!(buffer.make_room(1 << 30), Ok(MAX_GROWTH_AHEAD));
        let mut buffer = holding(1000, &Budget::NONE);
        assert_eq!(buffer.make_room(1 << 30), Ok(2000 + MAX_GROWTH_AHEAD));
        assert_eq!(buffer.received(), [1; 1000]);
    }

    /// Regression: a flood of small or moderate messages took a receive for each, or for a few.
    #[test]
    fn a_receive_that_fills_its_room_within_a_message_behind_others_shows_that_more_waits() {
        let mut buffer = holding(SMALL, &Budget::NONE);
        assert!(!buffer.is_filled(), "one message, not whole yet");
        buffer.consume(1000);
        assert!(buffer.is_filled());
        buffer.consume(SMALL - 1000);
        assert!(!buffer.is_filled(), "all was used");
        let mut buffer = ReceiveBuffer::with_octets(vec![1; 3000], &Budget::NONE);
        buffer.make_room(SMALL).unwrap();
        buffer.consume(1000);
        assert!(!buffer.is_filled(), "there was room left");
    }

    /// Regression: messages a little larger than that took a second receive each time.
    #[test]
    fn a_buffer_has_the_size_of_the_last_message_at_once() {
        let size = MAX_GROWTH_AHEAD + 64;
        let mut buffer = holding(size, &Budget::NONE);
        buffer.consume(size);
        buffer.settle(size);
        assert_eq!(buffer.make_room(size), Ok(size));
        assert_eq!(buffer.make_room(100), Ok(100));
    }

    /// The buffer of the largest message so far was kept as long as the connection
    /// lived: nothing ever came to where it was given back.
    ///
    /// Conformance: ORB - memory after large messages
    #[test]
    fn it_falls_back_after_a_large_message_and_after_a_small_one() {
        let budget = Budget::new(Some(64 << 20), 100);
        let mut buffer = holding(MAX_RETAINED_BUFFER + 100, &budget);
        assert_eq!(budget.figures().held, MAX_RETAINED_BUFFER + 100);
        buffer.consume(MAX_RETAINED_BUFFER + 1);
        buffer.settle(MAX_RETAINED_BUFFER + 1);
        assert_eq!((buffer.received(), buffer.octets.len()), (&[1; 99][..], 99));
        assert_eq!(budget.figures().held, 0);

        let mut buffer = holding(MAX_RETAINED_BUFFER, &budget);
        buffer.consume(MAX_RETAINED_BUFFER);
        buffer.settle(MAX_RETAINED_BUFFER);
        assert_eq!(
            buffer.octets.len(),
            MAX_RETAINED_BUFFER,
            "as large a message may follow"
        );
        buffer.settle(100);
        assert_eq!(buffer.octets.len(), 0, "a small one did");
        assert_eq!(budget.figures().held, 0);
    }

    #[test]
    fn moderate_buffers_are_given_back_too_while_memory_is_scarce() {
        let budget = Budget::new(Some(2 * MAX_RETAINED_BUFFER), 100);
        let mut buffer = holding(MAX_RETAINED_BUFFER - 1, &budget);
        buffer.consume(MAX_RETAINED_BUFFER - 1);
        buffer.settle(MAX_RETAINED_BUFFER - 1);
        assert_eq!(buffer.octets.len(), 0);
    }

    #[test]
    fn beyond_the_budget_what_there_is_is_used_first() {
        let budget = Budget::new(Some(MAX_GROWTH_AHEAD), 100);
        let mut buffer = ReceiveBuffer::with_octets(Vec::new(), &budget);
        assert_eq!(buffer.make_room(SMALL), Ok(SMALL));
        assert_eq!(buffer.make_room(MAX_GROWTH_AHEAD), Ok(SMALL));
        buffer.end = SMALL;
        assert_eq!(buffer.make_room(MAX_GROWTH_AHEAD), Err(NoMemory));
        assert_eq!(budget.figures().held, 0);
    }
}
