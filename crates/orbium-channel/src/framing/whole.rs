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

    /// Switches to deliveries. Bytes received before belong to the connection that delivers the
    /// messages.
    pub fn expect_deliveries(&mut self) {
        if !self.is_delivered {
            self.is_delivered = true;
            self.buffer.clear();
            (self.last, self.bulk, self.skipped) = (0, 0, 0);
        }
    }

    /// Releases large memory once all messages in it are consumed. The buffer is thus never ready
    /// to receive.
    #[cold]
    pub(super) fn settle_delivered(&mut self) {
        if self.buffer.is_empty() {
            self.buffer.clear();
        }
    }

    /// Inserts whole messages after all previous ones are consumed.
    pub fn put_messages(&mut self, messages: Vec<u8>) {
        self.buffer.put(messages);
    }

    /// The memory of messages that were all consumed.
    pub fn take_memory(&mut self) -> Vec<u8> {
        self.buffer.take_memory()
    }
}
