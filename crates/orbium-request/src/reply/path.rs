// SPDX-License-Identifier: MIT OR Apache-2.0
//! The way of a reply from the thread that serves to the client.

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
    /// Sends the message in the writer. It does not report a failed connection: the
    /// servant has done its work.
    fn send(&self, message: &CdrWriter<'_>);

    /// The next message is of that status: called for every one but results.
    fn announce(&self, _: ReplyStatus) {}

    /// The way of an answer that is given after the servant has returned; `None` if there is
    /// none. The answer of this path is the other one's then.
    fn late(&self) -> Option<Box<dyn AnswerPath>> {
        None
    }

    /// Runs `receive_request` of the interceptors, for a skeleton that has read the arguments.
    fn receive_request(&self, _: &dyn InterceptedObject) -> Result<(), Interrupt> {
        Ok(())
    }

    /// When the request had arrived, if it waited and is measured.
    fn arrived(&self) -> Option<Instant> {
        None
    }

    /// The connection was given a thread of its own.
    fn dedicated(&self) {}

    /// Has another lane serve the request and answer it, as was decided; whether
    /// it will.
    fn move_to(&self, _: &Lane, _: Decided) -> bool {
        false
    }
}
