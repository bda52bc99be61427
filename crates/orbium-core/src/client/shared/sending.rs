// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending direction of a shared connection.

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::time::Duration;

use orbium_transport::Deadline;

use super::line::{ALTERNATE, End, Line, Reading, lock};

/// How long the turn to send is waited for at the end.
const LAST_WAIT: Duration = Duration::from_millis(100);

impl Line {
    /// Sends a small message as soon as the others allow, without waiting.
    pub(super) fn say(&self, message: &[u8]) {
        let send = |octets: &[u8]| self.push_at_once(octets);
        self.outbox.say(message, &send);
    }

    /// Gives the turn to send back.
    pub(super) fn release(&self) {
        self.outbox.release(&|octets| self.push_at_once(octets));
    }

    /// Sends on what somebody began and had no time for, as far as the peer
    /// takes it.
    #[cold]
    pub(super) fn send_rest(&self) {
        let now = Deadline::after(Some(Duration::ZERO));
        if self.outbox.acquire(now).is_ok() {
            self.release();
        }
    }

    fn push_at_once(&self, octets: &[u8]) -> usize {
        let now = Deadline::after(Some(Duration::ZERO));
        self.push(&mut [IoSlice::new(octets)], now)
            .unwrap_or(octets.len())
    }

    /// Sends until everything is gone, or the deadline has passed; the octets
    /// that are gone.
    ///
    /// # Errors
    /// The connection is lost: everybody has been told.
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
                    // Each little that the peer takes must not have all the time.
                    if !slices.is_empty() && deadline.has_passed() {
                        return Ok(sent);
                    }
                }
                Err(error) => match orbium_sys::kind_of(&error) {
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

    /// Nothing more can be sent. What the server has sent before counts: it may
    /// say that it has begun nothing. So whoever reads comes to the end by
    /// itself; if nobody does, that is done here.
    #[cold]
    fn sending_failed(&self, error: &io::Error) {
        if End::of(error) == End::Refused {
            return self.finish(End::Refused);
        }
        self.outbox.end();
        self.stream.shutdown(Shutdown::Both);
        if self.readers.try_lead() {
            let _turn = Reading(self);
            let mut reader = lock(&self.reader);
            while self.receive(&mut reader, Some(ALTERNATE)) {
                self.sort(&mut reader, None);
            }
            self.finish(End::Lost);
        }
    }

    /// Reads for those who wait, if none of them does.
    fn read_before_retry(&self) {
        if self.readers.try_lead() {
            let _turn = Reading(self);
            let mut reader = lock(&self.reader);
            self.receive(&mut reader, Some(ALTERNATE));
            self.sort(&mut reader, None);
        }
    }

    /// Ends the connection with a last word, if it can be said soon.
    pub(super) fn end_with(&self, message: &[u8]) {
        let soon = Deadline::after(Some(LAST_WAIT));
        let send = |octets: &[u8]| self.push_at_once(octets);
        self.outbox.say_last(message, soon, &send);
        self.finish(End::Lost);
    }
}
