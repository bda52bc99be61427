// SPDX-License-Identifier: MIT OR Apache-2.0
//! The points of calls.

use orbium_giop::SystemException;

use super::info::{ReceiveException, ReceiveOther, ReceiveReply, SendPoll, SendRequest};
use crate::chain::PointInfo;
use crate::request::interrupt::Interrupt;

/// Sees every request that an ORB sends, and what becomes of it. Each attempt is a flow of
/// its own: a starting point, and exactly one ending point if the starting point succeeded.
///
/// An attempt at an asynchronous or deferred call has two sequences: `send_request` and
/// `receive_other` (UNKNOWN) on the thread that sends the request, before it goes out; then
/// `send_poll` and an ending point, on a thread of the ORB that has the caller's priority,
/// when the reply is there or the call has failed. Both have the same
/// [`request_id`](super::ClientRequest::request_id), slots and service contexts. Dropping the
/// handle of a call before its reply is there leaves out the second sequence.
///
/// Calls that an interceptor makes are intercepted too. While one runs, its thread has empty
/// slots: it sets one before such a call, and looks at it in `send_request`.
///
/// A point that an interceptor does not implement costs calls nothing: the ORB notices at the
/// first call.
pub trait ClientInterceptor: Send + Sync + 'static {
    /// Unique among the interceptors of calls unless it is empty.
    fn name(&self) -> &str {
        ""
    }

    /// The ORB ends.
    fn destroy(&self) {}

    /// Starting point: a request is to be sent.
    ///
    /// # Errors
    /// Why it is not: no further interceptor sees it, those before see an ending point.
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Starting point: the reply to an asynchronous request is there.
    ///
    /// # Errors
    /// What its caller gets instead.
    fn send_poll(&self, request: &mut SendPoll<'_>) -> Result<(), SystemException> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Ending point: the results are there.
    ///
    /// # Errors
    /// What the caller gets instead.
    fn receive_reply(&self, request: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Ending point: the request ended with an exception.
    ///
    /// # Errors
    /// What the caller gets instead, or where the request is sent again.
    fn receive_exception(&self, request: &mut ReceiveException<'_>) -> Result<(), Interrupt> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Ending point: the request was forwarded, is sent again, or has no reply (yet).
    ///
    /// # Errors
    /// What the caller gets instead, or where the request is sent again.
    fn receive_other(&self, request: &mut ReceiveOther<'_>) -> Result<(), Interrupt> {
        request.note_unimplemented::<Self>();
        Ok(())
    }
}
