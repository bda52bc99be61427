// SPDX-License-Identifier: MIT OR Apache-2.0
//! What was received of a stream of octets and not used yet.

use std::io;

use orbium_transport::ByteStream;

/// Octets asked for at least: many small messages arrive at once. With all else
/// that a server has for an idle connection they come to less than 8 KiB.
pub(crate) const SMALL: usize = 6 * 1024 + 256;

/// Octets by which a buffer may grow ahead of what has arrived.
const AHEAD: usize = 64 * 1024;

/// A buffer larger than this is given back once it is empty and little is
/// expected.
pub(crate) const KEPT: usize = 1 << 20;

/// Memory that octets are received into.
#[derive(Debug, Default)]
pub(crate) struct ReceiveBuffer {
    /// Initialised octets; those from `start` to `end` were received.
    octets: Vec<u8>,
    start: usize,
    end: usize,
}

impl ReceiveBuffer {
    /// A buffer that begins with octets received elsewhere.
    pub(crate) fn with_octets(octets: Vec<u8>) -> Self {
        Self {
            start: 0,
            end: octets.len(),
            octets,
        }
    }

    /// What was received and not used yet.
    #[inline]
    pub(crate) fn received(&self) -> &[u8] {
        &self.octets[self.start..self.end]
    }

    /// The same, to be worked on where it lies.
    #[inline]
    pub(crate) fn received_mut(&mut self) -> &mut [u8] {
        &mut self.octets[self.start..self.end]
    }

    /// The first octets of it, as many as were received at most.
    #[inline]
    pub(crate) fn first_mut(&mut self, count: usize) -> &mut [u8] {
        &mut self.octets[self.start..self.start + count]
    }

    /// Whether everything was used.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Octets were used, which `received` begins with.
    #[inline]
    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count;
    }

    /// Makes room at the start, if that is all it takes for a small message.
    #[inline]
    pub(crate) fn is_ready_for_little(&mut self) -> bool {
        let is_ready = self.start == self.end && self.octets.len() >= SMALL;
        if is_ready {
            self.start = 0;
            self.end = 0;
        }
        is_ready
    }

    /// Makes room for so many octets, those that were received of them included;
    /// returns where it ends. Memory follows what has arrived, not what is
    /// expected: of much there is room for some at first.
    #[inline(never)]
    pub(crate) fn make_room(&mut self, expected: usize) -> usize {
        if self.start > 0 {
            self.octets.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == 0 && self.octets.len() > KEPT && expected < KEPT / 16 {
            self.octets = Vec::new();
        }
        let justified = expected.min(2 * self.end + AHEAD);
        if self.octets.len() < justified {
            self.octets.resize(justified, 0);
        }
        // What a message before took is there already.
        expected.min(self.octets.len())
    }

    /// Where all room ends that there is.
    #[cfg(feature = "messaging")]
    pub(crate) fn room(&self) -> usize {
        self.octets.len()
    }

    /// Receives once, up to `until`.
    #[inline]
    pub(crate) fn receive(&mut self, stream: &dyn ByteStream, until: usize) -> io::Result<usize> {
        let received = stream.receive(&mut self.octets[self.end..until])?;
        probe!(IoReceive);
        self.end += received;
        Ok(received)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_follows_what_has_arrived_not_what_is_expected() {
        let mut buffer = ReceiveBuffer::default();
        assert_eq!(buffer.make_room(1 << 30), AHEAD);
        let mut buffer = ReceiveBuffer::with_octets(vec![1; 1000]);
        assert_eq!(buffer.make_room(1 << 30), 2000 + AHEAD);
        assert_eq!(buffer.received(), [1; 1000]);
    }

    /// Messages a little larger than that took a second receive each, for ever.
    #[test]
    fn what_a_message_took_there_is_room_for_at_once_the_next_time() {
        let size = AHEAD + 64;
        let mut buffer = ReceiveBuffer::with_octets(vec![1; size]);
        buffer.consume(size);
        assert_eq!(buffer.make_room(size), size);
        assert_eq!(buffer.make_room(100), 100);
    }
}
