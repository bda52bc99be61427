// SPDX-License-Identifier: MIT OR Apache-2.0
//! Oneway requests that wait to be sent together.

use std::io::{self, IoSlice};

use orbium_cdr::CdrWriter;
use orbium_transport::ByteStream;

use crate::outgoing::fragments_into;

/// A drained buffer with more than twice this much memory releases the excess. Memory that a flood
/// allocates again each time costs a page fault for every four KiB.
const MAX_RETAINED_BUFFER: usize = 1 << 20;

/// Maximum number of pieces of a gathered send: the buffered messages, and the pieces of a message.
const MAX_PIECES: usize = 8;

/// Whole messages in sequence.
#[derive(Debug, Default)]
struct Messages {
    bytes: Vec<u8>,
    /// The end of each message.
    ends: Vec<usize>,
}

impl Messages {
    fn clear(&mut self) {
        self.bytes.clear();
        if self.bytes.capacity() > 2 * MAX_RETAINED_BUFFER {
            self.bytes.shrink_to(MAX_RETAINED_BUFFER);
        }
        self.ends.clear();
    }
}

/// Messages that are sent together, in the order in which they were appended.
///
/// Nothing is appended to the bytes passed to the stream until all of them are sent: a stream that
/// encrypts has to be called with the same bytes again.
///
/// ```
/// use orbium_cdr::{CdrWriter, Format};
/// use orbium_channel::oneway_buffer::OnewayBuffer;
///
/// let mut buffer = OnewayBuffer::default();
/// let mut message = CdrWriter::new(Format::native());
/// message.write_u32(7);
/// buffer.push(&message, None);
/// assert_eq!((buffer.messages(), buffer.len()), (1, 4));
/// ```
#[derive(Debug, Default)]
pub struct OnewayBuffer {
    /// Messages not yet passed to the stream.
    waiting: Messages,
    /// Messages passed to the stream, and the number of their bytes that are sent.
    given: Messages,
    sent: usize,
}

impl OnewayBuffer {
    /// Appends a finished message, in fragments above `fragment_size` if there is one.
    pub fn push(&mut self, message: &CdrWriter<'_>, fragment_size: Option<usize>) {
        let Messages { bytes, ends } = &mut self.waiting;
        match fragment_size {
            Some(size) if message.len() > size => fragments_into(bytes, message, size),
            _ => message
                .pieces()
                .for_each(|piece| bytes.extend_from_slice(piece)),
        }
        ends.push(bytes.len());
    }

    /// Bytes that are not sent.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.bytes.len() + self.given.bytes.len() - self.sent
    }

    /// Whether all is sent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Messages that are not sent whole.
    #[must_use]
    pub fn messages(&self) -> usize {
        let sent = self.given.ends.partition_point(|end| *end <= self.sent);
        self.waiting.ends.len() + self.given.ends.len() - sent
    }

    /// Whether messages were passed to the stream that are not completely sent.
    #[must_use]
    pub fn is_begun(&self) -> bool {
        self.sent < self.given.bytes.len()
    }

    /// Sends as much as a non-blocking stream accepts, all buffered messages in one send; returns
    /// whether all is sent.
    ///
    /// # Errors
    /// The stream's, except `WouldBlock`; `WriteZero` if it accepts no bytes.
    pub fn send(&mut self, stream: &dyn ByteStream) -> io::Result<bool> {
        loop {
            if !self.is_begun() {
                self.given.clear();
                self.sent = 0;
                if self.waiting.bytes.is_empty() {
                    return Ok(true);
                }
                std::mem::swap(&mut self.given, &mut self.waiting);
            }
            let outcome = stream.send(&self.given.bytes[self.sent..]);
            if !self.note_sent(outcome)? {
                return Ok(false);
            }
        }
    }

    /// As `send`, with a finished message after the buffered ones. It is copied into the buffer
    /// only if the stream does not accept all of it, or has an unfinished send.
    ///
    /// # Errors
    /// As for `send`: the message is then among the unsent ones.
    pub fn send_with(
        &mut self,
        message: &CdrWriter<'_>,
        stream: &dyn ByteStream,
    ) -> io::Result<bool> {
        let mut slices = [IoSlice::new(&[]); MAX_PIECES];
        let pieces = message.pieces().count();
        if self.is_begun() || pieces >= slices.len() {
            self.push(message, None);
            return self.send(stream);
        }
        self.given.clear();
        std::mem::swap(&mut self.given, &mut self.waiting);
        slices[0] = IoSlice::new(&self.given.bytes);
        for (slice, piece) in slices[1..].iter_mut().zip(message.pieces()) {
            *slice = IoSlice::new(piece);
        }
        let none = usize::from(self.given.bytes.is_empty());
        let outcome = stream.send_vectored(&slices[none..=pieces]);
        let all = self.given.bytes.len() + message.len();
        if matches!(outcome, Ok(sent) if sent == all) {
            self.given.clear();
            self.sent = 0;
            return Ok(true);
        }
        message
            .pieces()
            .for_each(|it| self.given.bytes.extend_from_slice(it));
        self.given.ends.push(all);
        self.sent = 0;
        if self.note_sent(outcome)? {
            self.send(stream)
        } else {
            Ok(false)
        }
    }

    /// Counts the bytes that a stream has accepted; returns whether it may accept more now.
    fn note_sent(&mut self, outcome: io::Result<usize>) -> io::Result<bool> {
        match outcome {
            Ok(0) => Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                self.sent += count;
                Ok(true)
            }
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted => Ok(true),
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Ok(false),
                _ => Err(error),
            },
        }
    }

    /// Discards the unsent messages; returns their number.
    pub fn clear(&mut self) -> usize {
        let dropped = self.messages();
        self.waiting.clear();
        self.given.clear();
        self.sent = 0;
        dropped
    }
}

#[cfg(test)]
mod tests {
    use std::io::IoSlice;
    use std::net::Shutdown;
    use std::os::fd::{AsFd, OwnedFd};
    use std::sync::OnceLock;
    use std::time::Duration;

    use orbium_cdr::Format;
    use orbium_sync::lock::Mutex;
    use orbium_transport::Peer;

    use super::*;

    /// A stream that accepts that many bytes, and then none.
    #[derive(Debug, Default)]
    struct Narrow {
        sends: Mutex<Vec<Vec<u8>>>,
        room: Mutex<usize>,
        /// Sending fails.
        fails: Mutex<bool>,
        never: OnceLock<OwnedFd>,
    }

    impl Narrow {
        fn of(room: usize) -> Self {
            Self {
                room: Mutex::new(room),
                ..Self::default()
            }
        }

        fn widen(&self, by: usize) {
            *self.room.lock() += by;
        }

        fn sends(&self) -> Vec<Vec<u8>> {
            self.sends.lock().clone()
        }
    }

    impl ByteStream for Narrow {
        fn receive(&self, _room: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::WouldBlock.into())
        }

        fn send(&self, octets: &[u8]) -> io::Result<usize> {
            if *self.fails.lock() {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let mut room = self.room.lock();
            if *room == 0 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let count = octets.len().min(*room);
            *room -= count;
            self.sends.lock().push(octets[..count].to_vec());
            Ok(count)
        }

        fn send_vectored(&self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
            assert!(pieces.iter().all(|it| !it.is_empty()));
            let octets: Vec<_> = pieces.iter().flat_map(|it| it.iter().copied()).collect();
            self.send(&octets)
        }

        fn set_timeouts(
            &self,
            _receive: Option<Option<Duration>>,
            _send: Option<Option<Duration>>,
        ) -> io::Result<()> {
            Ok(())
        }

        fn set_nonblocking(&self, _nonblocking: bool) -> io::Result<()> {
            Ok(())
        }

        fn shutdown(&self, _how: Shutdown) {}

        fn peer(&self) -> Peer {
            Peer::Unknown
        }

        fn source(&self) -> &dyn AsFd {
            self.never.get_or_init(|| std::io::pipe().unwrap().0.into())
        }
    }

    fn buffer(values: &[u32]) -> OnewayBuffer {
        let mut buffer = OnewayBuffer::default();
        values.iter().for_each(|v| push(&mut buffer, *v));
        buffer
    }

    fn push(buffer: &mut OnewayBuffer, v: u32) {
        let mut message = CdrWriter::new(Format::native());
        message.write_u32(v);
        buffer.push(&message, None);
    }

    fn octets(values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_ne_bytes()).collect()
    }

    #[test]
    fn all_messages_go_out_in_one_send() {
        let stream = Narrow::of(1000);
        let mut buffer = buffer(&[1, 2, 3]);
        assert_eq!((buffer.messages(), buffer.len()), (3, 12));
        assert!(buffer.send(&stream).unwrap());
        assert_eq!(stream.sends(), [octets(&[1, 2, 3])]);
        assert!(buffer.is_empty() && buffer.messages() == 0);
        assert!(buffer.send(&stream).unwrap());
        assert_eq!(stream.sends().len(), 1);
    }

    #[test]
    fn a_stream_that_takes_no_more_gets_the_rest_first() {
        let stream = Narrow::of(6);
        let mut buffer = buffer(&[1, 2, 3]);
        assert!(!buffer.send(&stream).unwrap());
        assert!(buffer.is_begun());
        // One of them is sent whole.
        assert_eq!((buffer.messages(), buffer.len()), (2, 6));
        push(&mut buffer, 4);
        stream.widen(100);
        assert!(buffer.send(&stream).unwrap());
        assert_eq!(stream.sends().concat(), octets(&[1, 2, 3, 4]));
    }

    fn message(values: &[u32]) -> CdrWriter<'static> {
        let mut message = CdrWriter::new(Format::native());
        values.iter().for_each(|v| message.write_u32(*v));
        message
    }

    #[test]
    fn a_message_goes_out_in_one_send_with_what_waits() {
        let stream = Narrow::of(1000);
        let mut buffer = buffer(&[1, 2]);
        assert!(buffer.send_with(&message(&[3, 4]), &stream).unwrap());
        assert!(buffer.is_empty() && buffer.messages() == 0);
        assert!(buffer.send_with(&message(&[5]), &stream).unwrap());
        assert_eq!(stream.sends(), [octets(&[1, 2, 3, 4]), octets(&[5])]);
    }

    #[test]
    fn bytes_of_a_message_that_a_stream_does_not_take_are_buffered() {
        for room in 0..20 {
            let stream = Narrow::of(room);
            let mut buffer = buffer(&[1, 2]);
            assert!(!buffer.send_with(&message(&[3, 4, 5]), &stream).unwrap());
            assert_eq!(buffer.len(), 20 - room);
            assert_eq!(buffer.messages(), 3 - room.min(8) / 4);
            // The bytes passed before are sent before another message.
            assert!(!buffer.send_with(&message(&[6]), &stream).unwrap());
            stream.widen(100);
            assert!(buffer.send(&stream).unwrap());
            assert_eq!(stream.sends().concat(), octets(&[1, 2, 3, 4, 5, 6]));
        }
    }

    #[test]
    fn a_message_that_cannot_be_sent_is_counted_among_those_that_are_dropped() {
        let stream = Narrow::default();
        *stream.fails.lock() = true;
        let mut buffer = buffer(&[1]);
        let failed = buffer.send_with(&message(&[2]), &stream);
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(buffer.clear(), 2);
    }

    #[test]
    fn drops_are_counted_by_messages_that_are_not_sent_whole() {
        let stream = Narrow::of(7);
        let mut buffer = buffer(&[1, 2]);
        assert!(!buffer.send(&stream).unwrap());
        push(&mut buffer, 3);
        assert_eq!(buffer.clear(), 2);
        assert!(buffer.is_empty() && !buffer.is_begun());
        assert_eq!(buffer.clear(), 0);
    }
}
