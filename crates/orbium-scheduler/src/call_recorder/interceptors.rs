// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interception points at which runs begin, call and end.

use std::sync::Arc;

use orbium::SystemException;
use orbium::interceptor::{
    ClientInterceptor, ClientRequest, Interrupt, ReceiveContexts, ReceiveOther, ReceiveRequest,
    RequestStatus, SendException, SendOther, SendReply, SendRequest, ServerInterceptor,
};
use orbium_sched::{DependencyKind, Handle};

use super::recording::{Recording, begin, end};
use crate::operations::scoped_name;

const NAME: &str = "orbium call recorder";

/// Counts the calls of runs.
pub(super) struct Calls(pub(super) Arc<Recording>);

/// Records each request as a run.
pub(super) struct Requests(pub(super) Arc<Recording>);

impl Calls {
    fn callee(&self, request: &ClientRequest<'_>) -> Option<(Handle, DependencyKind)> {
        let operations = &self.0.operations;
        let callee = operations.declared(interface(request), request.operation())?;
        let kind = if request.response_expected() {
            DependencyKind::TwoWayCall
        } else {
            DependencyKind::OneWayCall
        };
        Some((callee, kind))
    }
}

/// The repository id of the interface of a call: the stub's, or else the reference's.
fn interface<'r>(request: &'r ClientRequest<'_>) -> &'r str {
    match request.interface() {
        "" => &request.target().type_id,
        id => id,
    }
}

impl ClientInterceptor for Calls {
    fn name(&self) -> &str {
        NAME
    }

    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        self.0.called(self.callee(request), || {
            scoped_name(interface(request), request.operation())
        });
        Ok(())
    }

    fn receive_other(&self, request: &mut ReceiveOther<'_>) -> Result<(), Interrupt> {
        let status = request.reply_status();
        let is_repeated = matches!(
            status,
            RequestStatus::LocationForward | RequestStatus::TransportRetry
        );
        if let (true, Some(callee)) = (is_repeated, self.callee(request)) {
            self.0.not_called(callee);
        }
        Ok(())
    }
}

impl ServerInterceptor for Requests {
    fn name(&self) -> &str {
        NAME
    }

    /// The operation is unknown until its adapter determines the servant's interface.
    fn receive_request_service_contexts(
        &self,
        _: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        begin(&self.0, None);
        Ok(())
    }

    fn receive_request(&self, request: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        self.0.is_run_of(self.0.operations.served(request));
        Ok(())
    }

    fn send_reply(&self, _: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        end(&self.0);
        Ok(())
    }

    fn send_exception(&self, _: &mut SendException<'_, '_>) -> Result<(), Interrupt> {
        end(&self.0);
        Ok(())
    }

    fn send_other(&self, _: &mut SendOther<'_, '_>) -> Result<(), Interrupt> {
        end(&self.0);
        Ok(())
    }
}
