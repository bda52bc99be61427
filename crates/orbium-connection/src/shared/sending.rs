// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending direction of a multiplexed connection.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::time::Duration;

use orbium_transport::Deadline;

use super::connection::{ALTERNATE, End, MultiplexedConnection, Reading};

/// Maximum time for which closing waits for the send lock.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(100);

impl MultiplexedConnection {
    /// Sends a small message without blocking, at once or after the current one.
    pub(super) fn say(&self, message: &[u8]) {
        let send = |octets: &[u8]| self.push_at_once(octets);
        self.send_queue.say(message, &send);
    }

    /// Releases the send lock.
    pub(super) fn release(&self) {
        self.send_queue.release(&|octets| self.push_at_once(octets));
    }

    /// Sends the tail of a message that its caller left at its deadline, as far as the peer accepts
    /// it.
    #[cold]
    pub(super) fn send_rest(&self) {
        let now = Deadline::after(Some(Duration::ZERO));
        if self.send_queue.acquire(now).is_ok() {
            self.release();
        }
    }

    fn push_at_once(&self, octets: &[u8]) -> usize {
        let now = Deadline::after(Some(Duration::ZERO));
        self.push(&mut [IoSlice::new(octets)], now)
            .unwrap_or(octets.len())
    }

    /// Sends until all bytes are sent, or the deadline has passed; returns the number of bytes
    /// sent.
    ///
    /// # Errors
    ///
    /// The connection is lost: all callers have been woken.
    pub(super) fn push(
        &self,
        mut slices: &mut [IoSlice<'_>],
        deadline: Deadline,
    ) -> io::Result<usize> {
        let mut sent = 0;
        IoSlice::advance_slices(&mut slices, 0);
        while !slices.is_empty() {
            let outcome = match &*slices {
                [one] => self.stream.send(one),
                several => self.stream.send_vectored(several),
            };
            match outcome {
                Ok(count) => {
                    sent += count;
                    IoSlice::advance_slices(&mut slices, count);
                    // A peer that accepts few bytes at a time must not extend the deadline.
                    if !slices.is_empty() && deadline.has_passed() {
                        return Ok(sent);
                    }
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        if let Some(end) = self.ending() {
                            return Err(end.error());
                        }
                        if deadline.has_passed() {
                            return Ok(sent);
                        }
                        self.read_before_retry();
                    }
                    _ => {
                        self.sending_failed(&error);
                        return Err(error);
                    }
                },
            }
        }
        Ok(sent)
    }

    /// Handles a failed send. Data that the server has sent before are valid: a CloseConnection
    /// means that requests were not processed. So the leader reads to the end or, without one, this
    /// thread.
    #[cold]
    fn sending_failed(&self, error: &io::Error) {
        if End::of(error) == End::Refused {
            return self.finish(End::Refused);
        }
        self.send_queue.end();
        self.stream.shutdown(Shutdown::Both);
        if self.readers.try_lead() {
            let _turn = Reading(self);
            let mut reader = self.reader.lock();
            // A CloseConnection remains in the buffer, so that receiving it would not end.
            while self.ending().is_none() && self.receive(&mut reader, Some(ALTERNATE)) {
                self.demultiplex(&mut reader, None);
            }
            self.finish(End::Lost);
        }
    }

    /// Leads for one receive, if no thread leads.
    fn read_before_retry(&self) {
        if self.readers.try_lead() {
            let _turn = Reading(self);
            let mut reader = self.reader.lock();
            self.receive(&mut reader, Some(ALTERNATE));
            self.demultiplex(&mut reader, None);
        }
    }

    /// Ends the connection with a final message, if it can be sent soon.
    pub(super) fn end_with(&self, message: &[u8]) {
        self.say_before_the_end(message);
        self.finish(End::Lost);
    }

    /// Sends a final message, if it can be sent soon.
    pub(super) fn say_before_the_end(&self, message: &[u8]) {
        let soon = Deadline::after(Some(CLOSE_TIMEOUT));
        let send = |octets: &[u8]| self.push_at_once(octets);
        self.send_queue.say_last(message, soon, &send);
    }
}
