// SPDX-License-Identifier: MIT OR Apache-2.0
//! Path of a deferred reply to its client.

use std::fmt;
use std::sync::Weak;

use orbium_cdr::CdrWriter;
use orbium_giop::SystemException;

/// Path of a deferred reply. It keeps the connection open as long as it exists.
pub trait AnswerPath: Send {
    /// Sends the message in the writer as the reply to that request.
    fn send(&self, request_id: u32, message: &CdrWriter<'_>);

    /// Whether the client is known to be gone.
    fn is_dead(&self) -> bool;

    /// Registers the open request for cancellation.
    fn opened(&self, _request_id: u32, _request: Weak<dyn Unanswered>) {}

    /// Removes the request.
    fn closed(&self, _request_id: u32) {}
}

impl fmt::Debug for dyn AnswerPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnswerPath")
    }
}

/// A request that may be open.
pub trait Unanswered: Send + Sync {
    /// Ends it without a reply: its client does not wait any more.
    fn cancel(&self);

    /// Ends it with an exception of the ORB, unless it was answered.
    fn end_with(&self, exception: SystemException);
}

impl fmt::Debug for dyn Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unanswered")
    }
}

/// The path of a oneway: none.
pub(super) struct Nowhere;

impl AnswerPath for Nowhere {
    fn send(&self, _: u32, _: &CdrWriter<'_>) {}

    fn is_dead(&self) -> bool {
        false
    }
}
