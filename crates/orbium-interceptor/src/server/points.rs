// SPDX-License-Identifier: MIT OR Apache-2.0
//! The points of requests to servants.

use orbium_giop::SystemException;

use super::info::{ReceiveContexts, ReceiveRequest, SendException, SendOther, SendReply};
use crate::interrupt::Interrupt;

/// Sees every request that a servant is to serve, and the reply.
pub trait ServerInterceptor: Send + Sync + 'static {
    /// Unique among the interceptors of requests unless it is empty.
    fn name(&self) -> &str {
        ""
    }

    /// The ORB ends.
    fn destroy(&self) {}

    /// Starting point: a request has arrived; its servant is not looked up yet. Slots that
    /// are set here are the servant's.
    ///
    /// # Errors
    /// Why it is not served: no further interceptor sees it, those before see an ending
    /// point.
    fn receive_request_service_contexts(
        &self,
        _: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Intermediate point: the servant is known, and called next.
    ///
    /// # Errors
    /// Why it is not called.
    fn receive_request(&self, _: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Ending point: the servant has returned results.
    ///
    /// # Errors
    /// What the client gets instead.
    fn send_reply(&self, _: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        Ok(())
    }

    /// Ending point: the request ended with an exception.
    ///
    /// # Errors
    /// What the client gets instead, or where it is sent.
    fn send_exception(&self, _: &mut SendException<'_, '_>) -> Result<(), Interrupt> {
        Ok(())
    }

    /// Ending point: the client is sent elsewhere, or expects no reply; or the servant
    /// has returned and answers later (`UNKNOWN`), which no interceptor can change.
    ///
    /// # Errors
    /// What the client gets instead, or where it is sent.
    fn send_other(&self, _: &mut SendOther<'_, '_>) -> Result<(), Interrupt> {
        Ok(())
    }
}
