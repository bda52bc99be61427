// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages on their way into the stream, several in one send.

use std::collections::VecDeque;
use std::io;

use orbium_transport::ByteStream;

/// Maximum total bytes of merged messages: copying that much costs less than a system call.
const MERGED: usize = 32 * 1024;

/// Limits of retained buffers: their number, and the bytes of each.
const MAX_SPARES: usize = 32;
const MAX_SPARE: usize = 1024;

/// A message that the stream was not given yet.
#[derive(Debug)]
pub struct Message {
    /// The id of its request.
    pub id: u32,
    /// Its number in the order of sending.
    pub number: u64,
    octets: Vec<u8>,
}

impl Message {
    /// A message of those bytes.
    #[must_use]
    pub fn new(id: u32, number: u64, octets: Vec<u8>) -> Self {
        Self { id, number, octets }
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.octets.len()
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }
}

/// Buffers of sent messages and batches, for reuse.
#[derive(Debug, Default)]
pub struct Spares {
    messages: Vec<Vec<u8>>,
    merged: Vec<u8>,
    ends: Vec<(u64, usize)>,
}

impl Spares {
    /// Memory for a message, empty.
    pub fn take(&mut self) -> Vec<u8> {
        self.messages.pop().unwrap_or_default()
    }

    /// Retains memory of a message.
    fn put(&mut self, mut octets: Vec<u8>) {
        if self.messages.len() < MAX_SPARES && octets.capacity() <= MAX_SPARE {
            octets.clear();
            self.messages.push(octets);
        }
    }

    /// Retains the buffers of a sent batch.
    pub fn recycle(&mut self, batch: Batch) {
        let Batch {
            mut octets,
            mut ends,
            ..
        } = batch;
        if ends.len() < 2 {
            self.put(octets);
        } else if octets.capacity() <= 2 * MERGED {
            octets.clear();
            self.merged = octets;
        }
        ends.clear();
        self.ends = ends;
    }
}

/// The bytes of one send. After a batch was passed to the stream, the same bytes are passed again
/// until all of them are sent: a stream that encrypts or encodes may have begun with them.
#[derive(Debug)]
pub struct Batch {
    octets: Vec<u8>,
    /// Bytes of it that are sent.
    at: usize,
    /// The number and the end of each message.
    ends: Vec<(u64, usize)>,
    /// The number of the last message that was sent before.
    before: u64,
}

impl Batch {
    /// A batch of one message.
    #[must_use]
    pub fn of(message: Message, before: u64, spares: &mut Spares) -> Self {
        let mut ends = std::mem::take(&mut spares.ends);
        ends.push((message.number, message.octets.len()));
        Self {
            ends,
            octets: message.octets,
            at: 0,
            before,
        }
    }

    /// The next messages of a queue, several if they are small; `None` if it is empty.
    pub fn merged(queue: &mut VecDeque<Message>, before: u64, spares: &mut Spares) -> Option<Self> {
        let (mut count, mut len) = (0, 0);
        for message in &*queue {
            len += message.len();
            if count > 0 && len > MERGED {
                len -= message.len();
                break;
            }
            count += 1;
        }
        if count < 2 {
            let message = queue.pop_front();
            return message.map(|message| Self::of(message, before, spares));
        }
        let mut octets = std::mem::take(&mut spares.merged);
        let mut ends = std::mem::take(&mut spares.ends);
        octets.reserve(len);
        for message in queue.drain(..count) {
            octets.extend_from_slice(&message.octets);
            ends.push((message.number, octets.len()));
            spares.put(message.octets);
        }
        Some(Self {
            ends,
            octets,
            at: 0,
            before,
        })
    }

    /// Sends once; returns how many bytes were sent.
    ///
    /// # Errors
    /// The errors of the stream.
    pub fn send(&mut self, stream: &dyn ByteStream) -> io::Result<usize> {
        let count = stream.send(&self.octets[self.at..])?;
        self.at += count;
        Ok(count)
    }

    /// Bytes of all its messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.octets.len()
    }

    /// Whether all pieces are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }

    /// Whether all of it is sent.
    #[must_use]
    pub fn is_sent(&self) -> bool {
        self.at == self.octets.len()
    }

    /// The number of its last message.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.ends.last().map_or(self.before, |(number, _)| *number)
    }

    /// The number of the last message that may be sent whole, where the stream has begun with so
    /// many of the octets that are not sent: all but the last of these may be.
    #[must_use]
    pub fn last_sent(&self, begun: usize) -> u64 {
        let at = self.at + begun.saturating_sub(1);
        let sent = self.ends.partition_point(|(_, end)| *end <= at);
        match sent.checked_sub(1) {
            Some(last) => self.ends[last].0,
            None => self.before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(sizes: &[usize]) -> VecDeque<Message> {
        let message = |(at, size): (usize, &usize)| {
            let number = at as u64 + 1;
            Message::new(2 * number as u32, number, vec![number as u8; *size])
        };
        sizes.iter().enumerate().map(message).collect()
    }

    #[test]
    fn merges_small_messages_in_order_and_leaves_what_exceeds_the_bound() {
        let mut messages = queue(&[10, 20, MERGED - 30, 1]);
        let batch = Batch::merged(&mut messages, 0, &mut Spares::default()).unwrap();
        assert_eq!(batch.octets.len(), MERGED);
        assert_eq!(batch.octets[9..12], [1, 2, 2]);
        assert_eq!((batch.last(), messages.len()), (3, 1));
    }

    #[test]
    fn sends_a_large_message_alone_and_without_a_copy() {
        let mut messages = queue(&[MERGED + 1, 1]);
        let place = messages[0].octets.as_ptr();
        let batch = Batch::merged(&mut messages, 0, &mut Spares::default()).unwrap();
        assert_eq!((batch.octets.as_ptr(), batch.last()), (place, 1));
        assert_eq!(messages.len(), 1);
    }

    /// A partly sent message may not be served: only messages that are sent whole count as sent.
    #[test]
    fn counts_the_messages_that_are_sent_whole() {
        let mut messages = queue(&[10, 20, 30]);
        let mut batch = Batch::merged(&mut messages, 7, &mut Spares::default()).unwrap();
        for (at, last) in [(0, 7), (9, 7), (10, 1), (29, 1), (30, 2), (59, 2), (60, 3)] {
            batch.at = at;
            assert_eq!(batch.last_sent(0), last, "{at}");
            assert_eq!(batch.is_sent(), at == 60);
        }
    }

    #[test]
    fn counts_the_messages_that_the_stream_may_have_sent_whole() {
        let mut messages = queue(&[10, 20, 30]);
        let mut batch = Batch::merged(&mut messages, 7, &mut Spares::default()).unwrap();
        for (begun, last) in [(1, 7), (10, 7), (11, 1), (30, 1), (31, 2), (60, 2)] {
            assert_eq!(batch.last_sent(begun), last, "{begun}");
        }
        batch.at = 10;
        for (begun, last) in [(1, 1), (20, 1), (21, 2), (50, 2)] {
            assert_eq!(batch.last_sent(begun), last, "{begun} behind the first");
        }
    }

    #[test]
    fn an_empty_queue_makes_no_batch() {
        assert!(Batch::merged(&mut VecDeque::new(), 0, &mut Spares::default()).is_none());
    }

    #[test]
    fn memory_of_what_is_sent_serves_what_follows() {
        let mut spares = Spares::default();
        let mut messages = queue(&[10, 20]);
        let places = [&messages[1], &messages[0]].map(|it| it.octets.as_ptr());
        let batch = Batch::merged(&mut messages, 0, &mut spares).unwrap();
        let merged = batch.octets.as_ptr();
        spares.recycle(batch);
        let memory = [spares.take(), spares.take()];
        assert_eq!(memory.each_ref().map(Vec::as_ptr), places);
        let batch = Batch::merged(&mut queue(&[1, 2, 3]), 0, &mut spares).unwrap();
        assert_eq!((batch.octets.as_ptr(), batch.len()), (merged, 6));
        assert_eq!(batch.ends, [(1, 1), (2, 3), (3, 6)]);
    }

    #[test]
    fn a_message_sent_alone_leaves_its_memory() {
        let mut spares = Spares::default();
        let mut messages = queue(&[10]);
        let place = messages[0].octets.as_ptr();
        let batch = Batch::merged(&mut messages, 0, &mut spares).unwrap();
        spares.recycle(batch);
        let memory = spares.take();
        assert_eq!((memory.as_ptr(), memory.len()), (place, 0));
    }

    #[test]
    fn little_memory_is_retained() {
        let mut spares = Spares::default();
        for size in [MERGED + 1, MAX_SPARE + 1] {
            let batch = Batch::merged(&mut queue(&[size]), 0, &mut spares).unwrap();
            spares.recycle(batch);
            assert_eq!(spares.take().capacity(), 0);
        }
        Batch::merged(&mut queue(&[1; MAX_SPARES + 1]), 0, &mut spares).unwrap();
        assert_eq!(spares.messages.len(), MAX_SPARES);
    }
}
