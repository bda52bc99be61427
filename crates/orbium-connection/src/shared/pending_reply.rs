// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pending reply of a call slot.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use orbium_channel::connection::Whole;
use orbium_channel::receive_buffer::SMALL;
use orbium_sync::lock::{Mutex, MutexGuard};

#[derive(Debug, Default)]
struct State {
    reply: Option<Whole>,
    /// The memory of the last reply, if it was small: for the next.
    room: Vec<u8>,
}

/// The reply for one call slot. It outlives the caller that uses the slot.
#[derive(Debug, Default)]
pub(super) struct PendingReply {
    state: Mutex<State>,
    /// The id of the outstanding request plus one, or 0.
    awaited: AtomicU64,
    /// The last request id of the slot.
    last_id: AtomicU32,
}

impl PendingReply {
    pub(super) fn after(last_id: u32) -> Self {
        Self {
            last_id: AtomicU32::new(last_id),
            ..Self::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(super) fn last_id(&self) -> u32 {
        self.last_id.load(Ordering::Relaxed)
    }

    /// Registers a request before it is sent: the reply with that id is to be delivered.
    pub(super) fn await_answer(&self, id: u32) {
        self.last_id.store(id, Ordering::Relaxed);
        self.awaited.store(u64::from(id) + 1, Ordering::Release);
    }

    /// Deregisters the request: no reply is kept.
    pub(super) fn forget(&self) {
        self.awaited.store(0, Ordering::Release);
        *self.lock() = State::default();
    }

    /// Whether the reply with that id is awaited; clears the registration.
    pub(super) fn awaits(&self, id: u32) -> bool {
        let awaited = u64::from(id) + 1;
        let answered =
            self.awaited
                .compare_exchange(awaited, 0, Ordering::AcqRel, Ordering::Relaxed);
        answered.is_ok()
    }

    /// Memory for a reply.
    pub(super) fn room(&self) -> Vec<u8> {
        std::mem::take(&mut self.lock().room)
    }

    pub(super) fn put(&self, reply: Whole) {
        self.lock().reply = Some(reply);
    }

    pub(super) fn take(&self) -> Option<Whole> {
        self.lock().reply.take()
    }

    /// Returns the memory of a consumed reply for reuse.
    pub(super) fn recycle(&self, reply: Whole) {
        let mut room = reply.message.octets;
        if room.capacity() <= SMALL {
            room.clear();
            self.lock().room = room;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().reply.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(octets: usize) -> Whole {
        let mut reply = Whole::default();
        reply.message.octets = vec![1; octets];
        reply
    }

    #[test]
    fn a_reply_is_awaited_once() {
        let pending = PendingReply::after(0);
        assert!(!pending.awaits(6));
        pending.await_answer(6);
        assert_eq!(pending.last_id(), 6);
        assert!(!pending.awaits(4) && pending.awaits(6) && !pending.awaits(6));
        pending.await_answer(8);
        pending.forget();
        assert!(!pending.awaits(8));
    }

    #[test]
    fn the_memory_of_small_replies_is_used_again() {
        let pending = PendingReply::after(0);
        pending.put(reply(100));
        assert!(!pending.is_empty());
        pending.recycle(pending.take().unwrap());
        assert!(pending.is_empty() && pending.room().capacity() >= 100);
        pending.recycle(reply(SMALL + 1));
        assert_eq!(pending.room().capacity(), 0);
    }
}
