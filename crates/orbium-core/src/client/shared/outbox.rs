// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whose turn it is to send, and what could not be sent yet.
//!
//! A caller whose time is over leaves the rest of its message here, so that the
//! connection stays good for others: whoever sends next sends that first.

use std::io;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_transport::Deadline;

use crate::client::waiting;

/// Octets of small messages that may wait for their turn.
const MAX_AFTER: usize = 64 << 10;

#[derive(Debug, Default)]
struct State {
    busy: bool,
    ended: bool,
    waiting: usize,
    /// The rest of what was begun.
    rest: Vec<u8>,
    /// Whole small messages that go behind it.
    after: Vec<u8>,
}

/// The sending direction of a shared connection.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    state: Mutex<State>,
    free: Condvar,
    /// Whether there is a rest, for who does not hold the lock.
    has_rest: AtomicBool,
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn to send.
    ///
    /// # Errors
    /// `WouldBlock` at the deadline, `BrokenPipe` after the end.
    pub(super) fn acquire(&self, deadline: Deadline) -> io::Result<()> {
        let mut state = self.lock();
        while state.busy && !state.ended {
            let left = deadline
                .remaining()
                .map_err(|_| io::ErrorKind::WouldBlock)?;
            state.waiting += 1;
            state = waiting::wait(&self.free, state, left);
            state.waiting -= 1;
        }
        if state.ended {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        state.busy = true;
        Ok(())
    }

    /// What was begun and not sent; for who has the turn.
    pub(super) fn take_rest(&self) -> Vec<u8> {
        let mut state = self.lock();
        let rest = std::mem::take(&mut state.rest);
        self.note_rest(&state);
        rest
    }

    /// Leaves what was begun; for who has the turn.
    pub(super) fn put_rest<'p>(&self, pieces: impl Iterator<Item = &'p [u8]>) {
        let mut state = self.lock();
        pieces.for_each(|piece| state.rest.extend_from_slice(piece));
        self.note_rest(&state);
    }

    fn note_rest(&self, state: &State) {
        self.has_rest
            .store(!state.rest.is_empty(), Ordering::Relaxed);
    }

    /// Whether something that was begun waits to be sent on.
    pub(super) fn has_rest(&self) -> bool {
        self.has_rest.load(Ordering::Relaxed)
    }

    /// Gives the turn back. `send` is given what waits here meanwhile, and
    /// returns how much of it is gone.
    pub(super) fn release(&self, send: &dyn Fn(&[u8]) -> usize) {
        loop {
            let mut state = self.lock();
            let mut after = std::mem::take(&mut state.after);
            state.rest.append(&mut after);
            if !state.rest.is_empty() && !state.ended {
                let octets = std::mem::take(&mut state.rest);
                drop(state);
                let sent = send(&octets);
                if sent == octets.len() {
                    continue;
                }
                state = self.lock();
                state.rest = octets[sent..].to_vec();
            }
            state.busy = false;
            self.note_rest(&state);
            let somebody_waits = state.waiting > 0;
            drop(state);
            if somebody_waits {
                self.free.notify_one();
            }
            return;
        }
    }

    /// Sends a small message without waiting for the turn: who has it sends it
    /// at its end.
    pub(super) fn say(&self, message: &[u8], send: &dyn Fn(&[u8]) -> usize) {
        {
            let mut state = self.lock();
            if state.ended || state.after.len() + message.len() > MAX_AFTER {
                return;
            }
            state.after.extend_from_slice(message);
            if state.busy {
                return;
            }
            state.busy = true;
        }
        self.release(send);
    }

    /// As `say`, before the end: waits for the turn, though not for long.
    pub(super) fn say_last(
        &self,
        message: &[u8],
        deadline: Deadline,
        send: &dyn Fn(&[u8]) -> usize,
    ) {
        if self.acquire(deadline).is_ok() {
            self.lock().after.extend_from_slice(message);
            self.release(send);
        }
    }

    /// Whether nothing is sent any more.
    pub(super) fn has_ended(&self) -> bool {
        self.lock().ended
    }

    /// Nothing is sent any more.
    pub(super) fn end(&self) {
        self.lock().ended = true;
        self.free.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::time::Duration;

    fn soon() -> Deadline {
        Deadline::after(Some(Duration::from_millis(1)))
    }

    #[test]
    fn one_sends_at_a_time_and_small_messages_go_behind() {
        let outbox = Outbox::default();
        let sent = RefCell::new(Vec::new());
        let send = &|octets: &[u8]| {
            sent.borrow_mut().extend_from_slice(octets);
            octets.len()
        };
        outbox.acquire(Deadline::NEVER).unwrap();
        let refused = outbox.acquire(soon()).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        outbox.say(b"cancel", send);
        assert!(sent.borrow().is_empty());
        outbox.put_rest([&b"rest "[..]].into_iter());
        outbox.release(send);
        assert_eq!(&*sent.borrow(), b"rest cancel");
        outbox.say(b"!", send);
        assert_eq!(&*sent.borrow(), b"rest cancel!");
        outbox.acquire(soon()).unwrap();
    }

    #[test]
    fn what_does_not_go_out_stays_in_order() {
        let outbox = Outbox::default();
        outbox.acquire(Deadline::NEVER).unwrap();
        outbox.put_rest([&b"one two"[..]].into_iter());
        outbox.release(&|_| 4);
        assert!(outbox.has_rest());
        outbox.acquire(soon()).unwrap();
        assert_eq!(outbox.take_rest(), b"two");
        outbox.end();
        let refused = outbox.acquire(soon()).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::BrokenPipe);
    }
}
