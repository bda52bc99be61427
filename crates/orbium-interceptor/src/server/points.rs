// SPDX-License-Identifier: MIT OR Apache-2.0
//! The points of requests to servants.

use orbium_budget::OperationBudget;
use orbium_giop::SystemException;

use super::info::{ReceiveContexts, ReceiveRequest, SendException, SendOther, SendReply};
use crate::chain::PointInfo;
use crate::request::interrupt::Interrupt;

/// Sees every request that a servant is to serve, and the reply.
///
/// A point that an interceptor does not implement costs requests nothing: the ORB notices at
/// the first request.
pub trait ServerInterceptor: Send + Sync + 'static {
    /// Unique among the interceptors of requests unless it is empty.
    fn name(&self) -> &str {
        ""
    }

    /// The ORB ends.
    fn destroy(&self) {}

    /// The operations for which requests have a budget that the interceptor watches: the metrics of the ORB contain
    /// them. None by default.
    fn budgets(&self) -> Vec<OperationBudget> {
        Vec::new()
    }

    /// Starting point: a request has arrived; its servant is not looked up yet. Slots that
    /// are set here are the servant's.
    ///
    /// # Errors
    /// Why it is not served: no further interceptor sees it, those before see an ending
    /// point.
    fn receive_request_service_contexts(
        &self,
        request: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Intermediate point: the servant is known, and called next.
    ///
    /// # Errors
    /// Why it is not called.
    fn receive_request(&self, request: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Ending point: the servant has returned results.
    ///
    /// # Errors
    /// What the client gets instead.
    fn send_reply(&self, request: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Ending point: the request ended with an exception.
    ///
    /// # Errors
    /// What the client gets instead, or where it is sent.
    fn send_exception(&self, request: &mut SendException<'_, '_>) -> Result<(), Interrupt> {
        request.note_unimplemented::<Self>();
        Ok(())
    }

    /// Ending point: the client is sent elsewhere, or expects no reply; or the servant
    /// has returned and answers later (`UNKNOWN`), which no interceptor can change.
    ///
    /// # Errors
    /// What the client gets instead, or where it is sent.
    fn send_other(&self, request: &mut SendOther<'_, '_>) -> Result<(), Interrupt> {
        request.note_unimplemented::<Self>();
        Ok(())
    }
}
