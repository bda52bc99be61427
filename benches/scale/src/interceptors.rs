// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interceptors without effect, of two kinds.

use std::error::Error;

use orbium::SystemException;
use orbium::interceptor::{
    ClientInterceptor, Interceptors, Interrupt, ReceiveContexts, ReceiveReply, ReceiveRequest,
    SendReply, SendRequest, ServerInterceptor,
};

/// Implements no interception point.
struct Idle;

impl ClientInterceptor for Idle {}
impl ServerInterceptor for Idle {}

/// Implements the interception points of a call with results, with empty bodies.
struct Empty;

impl ClientInterceptor for Empty {
    fn send_request(&self, _: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        Ok(())
    }

    fn receive_reply(&self, _: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        Ok(())
    }
}

impl ServerInterceptor for Empty {
    fn receive_request_service_contexts(
        &self,
        _: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        Ok(())
    }

    fn receive_request(&self, _: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        Ok(())
    }

    fn send_reply(&self, _: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        Ok(())
    }
}

/// That many interceptors on either side, which implement no point.
pub(crate) fn idle(count: usize) -> Result<Interceptors, Box<dyn Error>> {
    let mut all = Interceptors::new();
    for _ in 0..count {
        all.add_client(Idle)?;
        all.add_server(Idle)?;
    }
    Ok(all)
}

/// That many interceptors on either side, which implement points with empty bodies.
pub(crate) fn empty(count: usize) -> Result<Interceptors, Box<dyn Error>> {
    let mut all = Interceptors::new();
    for _ in 0..count {
        all.add_client(Empty)?;
        all.add_server(Empty)?;
    }
    Ok(all)
}
