// SPDX-License-Identifier: MIT OR Apache-2.0
//! Path of a late answer to its client.

use std::fmt;
use std::sync::Weak;

use orbium_cdr::CdrWriter;
use orbium_giop::SystemException;

/// Path of an answer that is given after the servant has returned. What it
/// needs stays open as long as it lives.
pub trait AnswerPath: Send {
    /// Sends the message in the writer, as the answer to that request.
    fn send(&self, request_id: u32, message: &CdrWriter<'_>);

    /// Whether the client is known to be gone.
    fn is_dead(&self) -> bool;

    /// The request is open: what cancels requests may call this.
    fn opened(&self, _request_id: u32, _request: Weak<dyn Unanswered>) {}

    /// It is not any more.
    fn closed(&self, _request_id: u32) {}
}

impl fmt::Debug for dyn AnswerPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnswerPath")
    }
}

/// A request that may be open.
pub trait Unanswered: Send + Sync {
    /// Ends it without an answer: its client waits no longer.
    fn cancel(&self);

    /// Ends it with an exception that the ORB raises, unless it was answered.
    fn end_with(&self, exception: SystemException);
}

impl fmt::Debug for dyn Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unanswered")
    }
}

/// That of a oneway: nowhere.
pub(super) struct Nowhere;

impl AnswerPath for Nowhere {
    fn send(&self, _: u32, _: &CdrWriter<'_>) {}

    fn is_dead(&self) -> bool {
        false
    }
}
