// SPDX-License-Identifier: MIT OR Apache-2.0
//! The send lock of a multiplexed connection, and unsent bytes.
//!
//! At its deadline a caller leaves the rest of its message here, so that the connection remains
//! usable: the next sender sends the rest first.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_transport::Deadline;

/// Limit of small messages queued after the current one, in bytes.
const MAX_AFTER: usize = 64 << 10;

#[derive(Debug, Default)]
struct State {
    busy: bool,
    ended: bool,
    waiting: usize,
    /// Unsent tail of the current message.
    rest: Vec<u8>,
    /// Whole small messages to be sent after it.
    after: Vec<u8>,
}

/// The sending direction of a shared connection.
#[derive(Debug, Default)]
pub(super) struct SendQueue {
    state: Mutex<State>,
    free: Condvar,
    /// Whether `rest` has bytes, readable without the lock.
    has_rest: AtomicBool,
}

impl SendQueue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Acquires the send lock.
    ///
    /// # Errors
    ///
    /// `WouldBlock` at the deadline, `BrokenPipe` after the end.
    pub(super) fn acquire(&self, deadline: Deadline) -> io::Result<()> {
        let mut state = self.lock();
        while state.busy && !state.ended {
            let left = deadline
                .remaining()
                .map_err(|_| io::ErrorKind::WouldBlock)?;
            state.waiting += 1;
            state = self.free.wait_at_most(state, left);
            state.waiting -= 1;
        }
        if state.ended {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        state.busy = true;
        Ok(())
    }

    /// Takes the unsent tail. Only the holder of the send lock may call it.
    pub(super) fn take_rest(&self) -> Vec<u8> {
        let mut state = self.lock();
        let rest = std::mem::take(&mut state.rest);
        self.note_rest(&state);
        rest
    }

    /// Leaves an unsent tail. Only the holder of the send lock may call it.
    pub(super) fn put_rest<'p>(&self, pieces: impl Iterator<Item = &'p [u8]>) {
        let mut state = self.lock();
        pieces.for_each(|piece| state.rest.extend_from_slice(piece));
        self.note_rest(&state);
    }

    fn note_rest(&self, state: &State) {
        self.has_rest
            .store(!state.rest.is_empty(), Ordering::Relaxed);
    }

    /// Whether there is an unsent tail.
    pub(super) fn has_rest(&self) -> bool {
        self.has_rest.load(Ordering::Relaxed)
    }

    /// Releases the send lock, after sending the messages queued in the meantime by `send`, which
    /// returns the number of bytes sent.
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
            let has_waiter = state.waiting > 0;
            drop(state);
            if has_waiter {
                self.free.notify_one();
            }
            return;
        }
    }

    /// Sends a small message without blocking: if the lock is held, its holder sends
    /// the message on release.
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

    /// As `say`, before the end: waits for the lock until the deadline.
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

    /// Whether the sending direction has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.lock().ended
    }

    /// Ends the sending direction.
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
        let send_queue = SendQueue::default();
        let sent = RefCell::new(Vec::new());
        let send = &|octets: &[u8]| {
            sent.borrow_mut().extend_from_slice(octets);
            octets.len()
        };
        send_queue.acquire(Deadline::NEVER).unwrap();
        let refused = send_queue.acquire(soon()).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        send_queue.say(b"cancel", send);
        assert!(sent.borrow().is_empty());
        send_queue.put_rest([&b"rest "[..]].into_iter());
        send_queue.release(send);
        assert_eq!(&*sent.borrow(), b"rest cancel");
        send_queue.say(b"!", send);
        assert_eq!(&*sent.borrow(), b"rest cancel!");
        send_queue.acquire(soon()).unwrap();
    }

    #[test]
    fn unsent_messages_stay_in_order() {
        let send_queue = SendQueue::default();
        send_queue.acquire(Deadline::NEVER).unwrap();
        send_queue.put_rest([&b"one two"[..]].into_iter());
        send_queue.release(&|_| 4);
        assert!(send_queue.has_rest());
        send_queue.acquire(soon()).unwrap();
        assert_eq!(send_queue.take_rest(), b"two");
        send_queue.end();
        let refused = send_queue.acquire(soon()).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::BrokenPipe);
    }
}
