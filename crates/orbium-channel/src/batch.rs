// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages on their way into the stream, several in one send.

use std::collections::VecDeque;
use std::io;

use orbium_transport::ByteStream;

/// Messages are merged as long as they have at most so many bytes together: a copy of
/// that much costs less than a system call.
const MERGED: usize = 32 * 1024;

/// A message that the stream was not given yet.
#[derive(Debug)]
pub struct Message {
    /// The id of its request.
    pub id: u32,
    /// Its place in the order of sending.
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

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }
}

/// Bytes that the stream is given in one send. Once it was given a batch, it is given the
/// same bytes again until all of them are sent: a stream that encrypts or encodes may
/// have begun with them.
#[derive(Debug)]
pub struct Batch {
    octets: Vec<u8>,
    /// Bytes of it that are sent.
    at: usize,
    /// The number of each message, and where it ends.
    ends: Vec<(u64, usize)>,
    /// The number of the last message that was sent before.
    before: u64,
}

impl Batch {
    /// A batch of one message.
    #[must_use]
    pub fn of(message: Message, before: u64) -> Self {
        Self {
            ends: vec![(message.number, message.octets.len())],
            octets: message.octets,
            at: 0,
            before,
        }
    }

    /// The next messages of a queue, several if they are small; `None` of an empty one.
    pub fn merged(queue: &mut VecDeque<Message>, before: u64) -> Option<Self> {
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
            return queue.pop_front().map(|message| Self::of(message, before));
        }
        let mut octets = Vec::with_capacity(len);
        let ends = queue.drain(..count).map(|message| {
            octets.extend_from_slice(&message.octets);
            (message.number, octets.len())
        });
        Some(Self {
            ends: ends.collect(),
            octets,
            at: 0,
            before,
        })
    }

    /// Sends once; returns how many bytes were sent.
    ///
    /// # Errors
    /// What the stream says.
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

    /// Whether they have none.
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

    /// The number of the last message that is sent whole.
    #[must_use]
    pub fn last_sent(&self) -> u64 {
        let sent = self.ends.partition_point(|(_, end)| *end <= self.at);
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
        let batch = Batch::merged(&mut messages, 0).unwrap();
        assert_eq!(batch.octets.len(), MERGED);
        assert_eq!(batch.octets[9..12], [1, 2, 2]);
        assert_eq!((batch.last(), messages.len()), (3, 1));
    }

    #[test]
    fn sends_a_large_message_alone_and_without_a_copy() {
        let mut messages = queue(&[MERGED + 1, 1]);
        let place = messages[0].octets.as_ptr();
        let batch = Batch::merged(&mut messages, 0).unwrap();
        assert_eq!((batch.octets.as_ptr(), batch.last()), (place, 1));
        assert_eq!(messages.len(), 1);
    }

    /// What went out in part may not be served: only the messages that are sent whole
    /// count as sent.
    #[test]
    fn counts_the_messages_that_are_sent_whole() {
        let mut batch = Batch::merged(&mut queue(&[10, 20, 30]), 7).unwrap();
        for (at, last) in [(0, 7), (9, 7), (10, 1), (29, 1), (30, 2), (59, 2), (60, 3)] {
            batch.at = at;
            assert_eq!(batch.last_sent(), last, "{at}");
            assert_eq!(batch.is_sent(), at == 60);
        }
    }

    #[test]
    fn an_empty_queue_makes_no_batch() {
        assert!(Batch::merged(&mut VecDeque::new(), 0).is_none());
    }
}
