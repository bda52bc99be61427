// SPDX-License-Identifier: MIT OR Apache-2.0
//! The points of calls.

use orbium_giop::SystemException;

use super::info::{ReceiveException, ReceiveOther, ReceiveReply, SendPoll, SendRequest};
use crate::chain::PointInfo;
use crate::request::interrupt::Interrupt;

/// Interceptor of every request that an ORB sends, and of its outcome. Each attempt is a separate
/// flow: a starting point, and exactly one ending point if the starting point succeeded.
///
/// An attempt at an asynchronous or deferred call has two sequences: `send_request` and
/// `receive_other` (UNKNOWN) on the thread that sends the request, before it is sent; then
/// `send_poll` and an ending point, on a thread of the ORB with the caller's priority, when the
/// reply has arrived or the call has failed. Both have the same
/// [`request_id`](super::ClientRequest::request_id), slots and service contexts. If the handle of a
/// call is dropped before its reply has arrived, there is no second sequence.
///
/// Calls made by an interceptor are intercepted, too. During its execution, its thread has empty
/// slots: it can set one before such a call, and check it in `send_request`.
///
/// A point that an interceptor does not implement has no cost for calls: the ORB detects that at
/// the first call.
pub trait ClientInterceptor: Send + Sync + 'static {
    /// The name, unique among the interceptors of calls unless it is empty.
    fn name(&self) -> &str {
        ""
    }

    /// Called at the end of the ORB.
    fn destroy(&self) {}

    /// Starting point: a request is about to be sent.
    ///
    /// # Errors
    /// The reason for not sending it: further interceptors do not see the request, the previous
    /// ones see an ending point.
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Starting point: the reply to an asynchronous request has arrived.
    ///
    /// # Errors
    /// The exception for its caller.
    fn send_poll(&self, request: &mut SendPoll<'_>) -> Result<(), SystemException> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Ending point: the results have arrived.
    ///
    /// # Errors
    /// The exception for the caller.
    fn receive_reply(&self, request: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Ending point: the request ended with an exception.
    ///
    /// # Errors
    /// The exception for the caller, or a forward of the request.
    fn receive_exception(&self, request: &mut ReceiveException<'_>) -> Result<(), Interrupt> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Ending point: the request was forwarded, is retried, or has no reply (yet).
    ///
    /// # Errors
    /// The exception for the caller, or a forward of the request.
    fn receive_other(&self, request: &mut ReceiveOther<'_>) -> Result<(), Interrupt> {
        request.note_unimplemented::<Self>();
        Ok(())
    }
}
