// SPDX-License-Identifier: MIT OR Apache-2.0
//! One direction of a stream within a process: octets under a lock.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Duration;

use orbium_sync::lock::{Condvar, Mutex, MutexGuard};
use orbium_sys::EventSource;

use crate::Deadline;

/// Maximum octets in transit.
const CAPACITY: usize = 256 * 1024;

/// Octets in transit at which a blocked sender continues: below the capacity, so that sender and
/// receiver do not wake each other for a few octets at a time.
const RESUMED: usize = CAPACITY / 2;

/// The way in which an operation waits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    /// Not at all.
    Never,
    /// For that time, or without limit.
    For(Option<Duration>),
}

#[derive(Debug, Default)]
struct State {
    octets: VecDeque<u8>,
    /// The sender has ended.
    ended: bool,
    /// The receiver has ended.
    refused: bool,
    /// The numbers of threads waiting to receive and to send.
    receivers: usize,
    senders: usize,
    /// Is set readable when bytes arrive, if a poller uses it.
    readable: Option<Arc<EventSource>>,
    /// Set writable when there is room, if a poller uses it.
    writable: Option<Arc<EventSource>>,
}

impl State {
    fn is_over(&self) -> bool {
        self.ended || self.refused
    }

    fn show_readable(&self) {
        if let Some(event_source) = &self.readable {
            event_source.set_readable(!self.octets.is_empty() || self.is_over());
        }
    }

    fn show_writable(&self) {
        if let Some(event_source) = &self.writable {
            if self.is_over() || self.octets.len() <= RESUMED {
                event_source.set_writable(true);
            } else if self.octets.len() == CAPACITY {
                event_source.set_writable(false);
            }
        }
    }
}

/// A bounded pipe.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    state: Mutex<State>,
    received: Condvar,
    sent: Condvar,
}

impl Pipe {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Removes octets; 0 at the end.
    pub(super) fn receive(&self, room: &mut [u8], wait: Wait) -> io::Result<usize> {
        let mut until = None;
        let mut state = self.lock();
        while state.octets.is_empty() && !state.is_over() && !room.is_empty() {
            let left = left(wait, &mut until)?;
            // A thread blocked here does not poll.
            state.readable = None;
            state.receivers += 1;
            state = self.sent.wait_at_most(state, left);
            state.receivers -= 1;
        }
        let count = take(&mut state.octets, room);
        if count > 0 {
            if state.octets.is_empty() {
                state.show_readable();
            }
            if state.octets.len() <= RESUMED {
                state.show_writable();
                if state.senders > 0 {
                    self.received.notify_all();
                }
            }
        }
        Ok(count)
    }

    /// Appends octets, as many as there is room for.
    pub(super) fn send(&self, pieces: &[IoSlice<'_>], wait: Wait) -> io::Result<usize> {
        if pieces.iter().all(|piece| piece.is_empty()) {
            return Ok(0);
        }
        let mut until = None;
        let mut state = self.lock();
        while state.octets.len() == CAPACITY && !state.is_over() {
            let left = left(wait, &mut until)?;
            state.writable = None;
            state.senders += 1;
            state = self.received.wait_at_most(state, left);
            state.senders -= 1;
        }
        if state.is_over() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let was_empty = state.octets.is_empty();
        let mut count = 0;
        for piece in pieces {
            let fitting = piece.len().min(CAPACITY - state.octets.len());
            state.octets.extend(&piece[..fitting]);
            count += fitting;
        }
        if was_empty {
            state.show_readable();
            if state.receivers > 0 {
                self.sent.notify_all();
            }
        }
        if state.octets.len() == CAPACITY {
            state.show_writable();
        }
        Ok(count)
    }

    /// Ends sending: the end is received after all previous octets.
    pub(super) fn end(&self) {
        self.finish(|state| state.ended = true);
    }

    /// Ends receiving: octets sent from now on have no receiver.
    pub(super) fn refuse(&self) {
        self.finish(|state| state.refused = true);
    }

    fn finish(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        state.show_readable();
        state.show_writable();
        self.sent.notify_all();
        self.received.notify_all();
    }

    /// Enables the event source for receivable octets, until a thread blocks in a receive.
    pub(super) fn notify_readable(&self, event_source: &Arc<EventSource>) {
        let mut state = self.lock();
        state.readable = Some(Arc::clone(event_source));
        state.show_readable();
    }

    /// Enables the event source for room to send, until a thread blocks in a send.
    pub(super) fn notify_writable(&self, event_source: &Arc<EventSource>) {
        let mut state = self.lock();
        state.writable = Some(Arc::clone(event_source));
        // Between the bounds either state is correct, but not an outdated one.
        event_source.set_writable(state.is_over() || state.octets.len() < CAPACITY);
    }
}

/// The remaining time to wait; `WouldBlock` if there is none. The clock is read from the first wait
/// on.
fn left(wait: Wait, until: &mut Option<Deadline>) -> io::Result<Option<Duration>> {
    let Wait::For(time) = wait else {
        return Err(io::ErrorKind::WouldBlock.into());
    };
    let until = until.get_or_insert_with(|| Deadline::after(time));
    until
        .remaining()
        .map_err(|_| io::ErrorKind::WouldBlock.into())
}

/// Moves octets from the front of a queue into `room`.
fn take(octets: &mut VecDeque<u8>, room: &mut [u8]) -> usize {
    let (front, back) = octets.as_slices();
    let first = front.len().min(room.len());
    room[..first].copy_from_slice(&front[..first]);
    let second = back.len().min(room.len() - first);
    room[first..first + second].copy_from_slice(&back[..second]);
    octets.drain(..first + second);
    first + second
}
