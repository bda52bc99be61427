// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that are delivered whole, in place of bytes that are received.

use super::Framing;

impl Framing {
    /// The same; if so, messages are delivered.
    #[must_use]
    pub fn with_deliveries(mut self, are_delivered: bool) -> Self {
        if are_delivered {
            self.is_delivered = true;
            self.buffer.expect_nothing();
        }
        self
    }

    /// Messages are delivered from now on. What was received before is with the connection
    /// that delivers them.
    pub fn expect_deliveries(&mut self) {
        if !self.is_delivered {
            self.is_delivered = true;
            self.buffer.clear();
            (self.last, self.bulk, self.skipped) = (0, 0, 0);
        }
    }

    /// Gives much memory back once all messages in it were consumed: so the buffer is never ready
    /// to receive.
    #[cold]
    pub(super) fn settle_delivered(&mut self) {
        if self.buffer.is_empty() {
            self.buffer.clear();
        }
    }

    /// Puts whole messages, where nothing is left of the former ones.
    pub fn put_messages(&mut self, messages: Vec<u8>) {
        self.buffer.put(messages);
    }

    /// The memory of messages that were all consumed.
    pub fn take_memory(&mut self) -> Vec<u8> {
        self.buffer.take_memory()
    }
}
