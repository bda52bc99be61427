// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies that are sent by threads which do not read the connection.

use std::sync::Arc;

use orbium_cdr::CdrWriter;

use crate::servant::ReplyPath;
use crate::server::ServerConnection;

/// A reply that is still to come: its connection stays open for that.
pub(crate) struct LateReply {
    connection: Arc<ServerConnection>,
    request_id: u32,
}

impl LateReply {
    pub(super) fn new(connection: &Arc<ServerConnection>, request_id: u32) -> Self {
        connection.begin_late();
        Self {
            connection: Arc::clone(connection),
            request_id,
        }
    }

    pub(crate) fn connection(&self) -> &ServerConnection {
        &self.connection
    }
}

impl ReplyPath for LateReply {
    fn send(&self, message: &CdrWriter<'_>) {
        self.connection.reply_late(self.request_id, message);
    }
}

impl Drop for LateReply {
    fn drop(&mut self) {
        self.connection.end_late();
    }
}
