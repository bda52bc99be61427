// SPDX-License-Identifier: MIT OR Apache-2.0
//! The path of a reply from the serving thread to the client.

use std::time::Instant;

use orbium_cdr::CdrWriter;
use orbium_giop::ReplyStatus;
use orbium_interceptor::Interrupt;
use orbium_interceptor::server::InterceptedObject;

use crate::deferred::AnswerPath;
use orbium_lane::Decided;
use orbium_lane::Lane;

/// Path of a finished reply.
pub trait ReplyPath {
    /// Sends the message in the writer. It does not report a failed connection: the servant has
    /// completed.
    fn send(&self, message: &CdrWriter<'_>);

    /// Announces the status of the next message: called for all but results.
    fn announce(&self, _: ReplyStatus) {}

    /// The path of a deferred reply; `None` if there is none. It replaces the reply of this path.
    fn late(&self) -> Option<Box<dyn AnswerPath>> {
        None
    }

    /// Calls `receive_request` of the interceptors, for a skeleton that has read the arguments.
    fn receive_request(&self, _: &dyn InterceptedObject) -> Result<(), Interrupt> {
        Ok(())
    }

    /// The arrival time of the request, if it was queued and is measured.
    fn arrived(&self) -> Option<Instant> {
        None
    }

    /// Records that the connection was assigned a dedicated thread.
    fn dedicated(&self) {}

    /// Has another lane serve the request and answer it, as decided; returns whether it will.
    fn move_to(&self, _: &Lane, _: Decided) -> bool {
        false
    }
}
