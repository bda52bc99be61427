// SPDX-License-Identifier: MIT OR Apache-2.0
//! The points of requests to servants.

use orbium_budget::OperationBudget;
use orbium_giop::SystemException;

use super::info::{ReceiveContexts, ReceiveRequest, SendException, SendOther, SendReply};
use crate::chain::PointInfo;
use crate::request::interrupt::Interrupt;

/// Interceptor of every request to a servant, and of its reply.
///
/// A point that an interceptor does not implement has no cost for requests: the ORB detects that at
/// the first request.
pub trait ServerInterceptor: Send + Sync + 'static {
    /// The name, unique among the interceptors of requests unless it is empty.
    fn name(&self) -> &str {
        ""
    }

    /// Called at the end of the ORB.
    fn destroy(&self) {}

    /// The operations with a request budget watched by the interceptor: the metrics of the ORB
    /// contain them. None by default.
    fn budgets(&self) -> Vec<OperationBudget> {
        Vec::new()
    }

    /// Starting point: a request has arrived; its servant is not looked up yet. Slots set here are
    /// available to the servant.
    ///
    /// # Errors
    /// The reason for not serving it: further interceptors do not see the request, the previous
    /// ones see an ending point.
    fn receive_request_service_contexts(
        &self,
        request: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Intermediate point: the servant was found, and is called next.
    ///
    /// # Errors
    /// The reason for not calling it.
    fn receive_request(&self, request: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Ending point: the servant has returned results.
    ///
    /// # Errors
    /// The exception for the client.
    fn send_reply(&self, request: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Ending point: the request ended with an exception.
    ///
    /// # Errors
    /// The exception for the client, or a forward.
    fn send_exception(&self, request: &mut SendException<'_, '_>) -> Result<(), Interrupt> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Ending point: the client is forwarded, or expects no reply; or the servant has returned with
    /// a deferred reply (`UNKNOWN`), which no interceptor can change.
    ///
    /// # Errors
    /// The exception for the client, or a forward.
    fn send_other(&self, request: &mut SendOther<'_, '_>) -> Result<(), Interrupt> {
        request.note_unimplemented::<Self>();
        Ok(())
    }
}
