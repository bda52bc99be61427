// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collecting and sending the replies of a connection.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use orbium_cdr::CdrWriter;
use orbium_transport::{ByteStream, Stamp};

use super::collected::{Collected, Pace};
use super::{COLLECTED, Pending, ServerConnection};
use crate::connections::flusher::{Held, Tick};
use orbium_channel::receive_buffer::SMALL;
use orbium_request::ServerContext;

/// Maximum size in bytes of a collected reply: larger ones are sent alone, without a copy.
const MAX_COLLECTED_REPLY: usize = SMALL / 2;

impl Pending {
    /// Takes the collected replies, to be sent before any other data.
    pub(super) fn take_collected(&mut self) -> Vec<u8> {
        let collected = self.collected.as_mut();
        collected.map_or_else(Vec::new, |collected| std::mem::take(&mut collected.octets))
    }
}

impl ServerConnection {
    /// Sends the reply to a request that is followed by received data, or collects it. `more`: the
    /// next request is already complete.
    #[cold]
    pub(crate) fn reply_in_batch(self: &Arc<Self>, message: &CdrWriter<'_>, more: bool) {
        if more && self.collect(message) {
            return;
        }
        self.reply(message);
        let mut pending = self.lock();
        if let Some(collected) = &mut pending.collected {
            collected.last = Stamp::now().count();
        }
    }

    fn collect(self: &Arc<Self>, message: &CdrWriter<'_>) -> bool {
        let len = message.len();
        let whole = self.fragment_size.is_none_or(|size| len <= size);
        if !(self.collects && whole)
            || len > MAX_COLLECTED_REPLY
            || message.is_gathered()
            || self.has_pending()
        {
            return false;
        }
        let now = Stamp::now().count();
        let mut pending = self.lock();
        let collected = &mut pending.collected;
        let new = || Box::new(Collected::new(now, Pace::of_processor()));
        let collected = collected.get_or_insert_with(new);
        // Under the lock: the flusher may just have sent the collected replies.
        let has_collected = !collected.octets.is_empty();
        // Acquire: a late thread that is no longer counted has sent its reply (`end_late`).
        let alone = self.late.load(Ordering::Acquire) == usize::from(has_collected);
        if !collected.takes(len, now) || !alone {
            return false;
        }
        if !has_collected {
            if !collected.is_watched {
                let connection = Arc::downgrade(self);
                collected.is_watched = self.flusher.watch(connection);
            }
            if !collected.is_watched {
                return false;
            }
            collected.begin(now);
            // From now on another thread may send: replies are sent under the lock.
            self.begin_late();
            self.attention.fetch_or(COLLECTED, Ordering::Release);
        }
        // A message of that size has one piece.
        collected.octets.extend_from_slice(message.written());
        true
    }

    /// Whether there are collected replies.
    #[inline]
    pub(crate) fn has_collected(&self) -> bool {
        self.attention.load(Ordering::Acquire) & COLLECTED != 0
    }

    /// Sends the collected replies.
    #[inline]
    pub(crate) fn send_collected(&self) {
        if self.has_collected() {
            self.flush_collected();
        }
    }

    #[cold]
    pub(crate) fn flush_collected(&self) {
        if let Err(error) = self.send_among_others(None) {
            self.break_off(error);
        }
    }

    /// Marks the collected replies as sent. Under the lock, which is released afterwards; then the
    /// connection may have to be closed: see [`ServerConnection::end_late`].
    pub(super) fn end_collected(&self) {
        self.attention.fetch_and(!COLLECTED, Ordering::Release);
    }

    /// Whether replies over this stream may be batched.
    pub(super) fn may_collect(stream: &dyn ByteStream, context: &ServerContext) -> bool {
        context.collects_replies && !stream.sends_one_message()
    }
}

impl Held for ServerConnection {
    fn tick(&self, ends: bool) -> Tick {
        let Some(mut pending) = self.sending.try_lock() else {
            // They are being sent.
            return Tick::Watch;
        };
        let collected = pending.collected.as_mut();
        collected.map_or(Tick::Forget, |collected| collected.tick(ends))
    }

    fn flush(&self) {
        self.flush_collected();
    }
}
