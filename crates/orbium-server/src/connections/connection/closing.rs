// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of a connection in order: what is kept for the peer, then CloseConnection.

use std::net::Shutdown;
use std::sync::atomic::Ordering;
use std::time::Duration;

use orbium_channel::outgoing::{self, Patience};
use orbium_giop::{Version, close_connection};
use orbium_transport::Deadline;

use super::ServerConnection;

impl ServerConnection {
    /// Nothing more will be read. The connection is closed once the last reply
    /// was sent, for CloseConnection says that what was not answered was not
    /// begun.
    pub(crate) fn end(&self) {
        self.end_by(Deadline::after(Some(Duration::ZERO)));
    }

    /// As `end`; if no reply is to come, the peer is waited for until the deadline.
    pub(crate) fn end_by(&self, deadline: Deadline) {
        if !self.ended.load(Ordering::SeqCst) {
            // Under the lock: `close` sees what was queued before; later senders block
            // for the peer themselves, as no reactor sends for them.
            let _pending = self.lock();
            self.ended.store(true, Ordering::SeqCst);
        }
        self.watched.end();
        // Dekker's protocol: this thread stores `ended`, then reads `late`; `end_late`
        // decrements `late`, then reads `ended`. Both are SeqCst, so one of the two
        // closes.
        if self.late.load(Ordering::SeqCst) == 0 {
            self.close(Patience::Begun(deadline));
        }
    }

    /// Ends the connection in order, once. The last word stands behind all that
    /// is kept for the peer, and is not said if that does not go out whole.
    pub(super) fn close(&self, patience: Patience) {
        if self.is_broken() || self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut pending = self.lock();
        let kept = pending.octets.take();
        pending.give_back();
        // Held any longer it would keep the end from the peer.
        pending.source = None;
        self.has_pending.store(false, Ordering::Release);
        let sent = outgoing::send_octets(&*self.stream, &kept, patience);
        if sent.is_ok() {
            let deadline = match patience {
                Patience::Begun(deadline) => deadline,
                _ => Deadline::after(Some(Duration::ZERO)),
            };
            let last_word = close_connection(Version::V1_2);
            let _ = outgoing::send_octets(&*self.stream, &last_word, Patience::Begun(deadline));
        }
        self.stream.shutdown(Shutdown::Write);
    }
}
