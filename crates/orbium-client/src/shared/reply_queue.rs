// SPDX-License-Identifier: MIT OR Apache-2.0
//! Received messages that wait in a call slot for its caller.

use std::sync::PoisonError;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use orbium_channel::peer_memory::{Budget, Charge, append};
use orbium_channel::receive_buffer::SMALL;
use orbium_sync::lock::{Mutex, MutexGuard};

/// A larger buffer is freed once it is empty.
const MAX_RETAINED: usize = 1 << 20;

#[derive(Debug, Default)]
struct Octets {
    buffer: Vec<u8>,
    /// Start of the bytes not yet taken.
    start: usize,
    /// Memory beyond small messages.
    charge: Charge,
}

/// Why a message was not put into a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// The queue is at its limit.
    Never,
    /// The system or the budget has no memory for it.
    NoMemory,
}

/// The messages for one call slot. It outlives the caller that uses the slot.
#[derive(Debug, Default)]
pub(super) struct ReplyQueue {
    octets: Mutex<Octets>,
    /// The id of the outstanding request, plus one; 0 is none.
    awaited: AtomicU64,
    /// The last request id of the slot.
    last_id: AtomicU32,
}

impl ReplyQueue {
    pub(super) fn starting_at(id: u32, budget: &Budget) -> Self {
        Self {
            octets: Mutex::new(Octets {
                charge: budget.charge(),
                ..Octets::default()
            }),
            last_id: AtomicU32::new(id),
            ..Self::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, Octets> {
        self.octets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn last_id(&self) -> u32 {
        self.last_id.load(Ordering::Relaxed)
    }

    /// Registers an outstanding request: its reply is for this slot.
    pub(super) fn await_answer(&self, id: u32) {
        self.last_id.store(id, Ordering::Relaxed);
        self.awaited.store(u64::from(id) + 1, Ordering::Release);
    }

    /// Drops the outstanding request and all messages.
    pub(super) fn forget(&self) {
        self.awaited.store(0, Ordering::Release);
        let mut octets = self.lock();
        octets.start = 0;
        octets.buffer = Vec::new();
        // Less is never refused.
        let _ = octets.charge.set(0);
    }

    /// Whether that request is outstanding; with `is_all` it is completed.
    pub(super) fn awaits(&self, id: u32, is_all: bool) -> bool {
        if self.awaited.load(Ordering::Acquire) != u64::from(id) + 1 {
            return false;
        }
        if is_all {
            self.awaited.store(0, Ordering::Release);
        }
        true
    }

    /// Adds a message, unless the queue would exceed `limit` bytes.
    pub(super) fn put(&self, message: &[u8], limit: usize) -> Result<(), Full> {
        let mut octets = self.lock();
        if octets.buffer.len() - octets.start + message.len() > limit {
            return Err(Full::Never);
        }
        let total = octets.buffer.len() + message.len();
        if total > SMALL {
            octets.charge.set(total).map_err(|_| Full::NoMemory)?;
        }
        append(&mut octets.buffer, message).map_err(|_| Full::NoMemory)
    }

    /// Takes bytes out, as many as fit `room`.
    pub(super) fn take(&self, room: &mut [u8]) -> usize {
        let mut octets = self.lock();
        let Octets {
            buffer,
            start,
            charge,
        } = &mut *octets;
        let there = &buffer[*start..];
        let count = there.len().min(room.len());
        room[..count].copy_from_slice(&there[..count]);
        *start += count;
        if *start == buffer.len() {
            *start = 0;
            buffer.clear();
            let large = buffer.capacity() > SMALL;
            if large && (buffer.capacity() > MAX_RETAINED || charge.budget().is_tight()) {
                *buffer = Vec::new();
                // Less is never refused.
                let _ = charge.set(0);
            }
        }
        count
    }

    pub(super) fn is_empty(&self) -> bool {
        let octets = self.lock();
        octets.start == octets.buffer.len()
    }
}
