// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that other objects serve: LOCATION_FORWARD.

use std::sync::Arc;

use orbium_giop::{Ior, SystemException};
use orbium_interceptor::Interrupt;
use orbium_request::{Forward, UntypedReply};

use crate::raises::DispatchError;
use crate::{Interface, ObjectRef};

/// Sends a client to another object (`PortableServer::ForwardRequest`).
#[derive(Clone, Debug, PartialEq)]
pub struct ForwardRequest {
    /// The object that the client calls instead.
    pub to: ObjectRef,
    /// Whether the client may replace its reference by that one: LOCATION_FORWARD_PERM,
    /// which GIOP 1.2 has.
    pub permanent: bool,
}

impl ForwardRequest {
    /// LOCATION_FORWARD to that object.
    pub fn to(object: &impl Interface) -> Self {
        Self {
            to: object.as_object().clone(),
            permanent: false,
        }
    }

    /// LOCATION_FORWARD_PERM to that object.
    pub fn permanently_to(object: &impl Interface) -> Self {
        Self {
            permanent: true,
            ..Self::to(object)
        }
    }

    /// Answers a request with this forward.
    pub(crate) fn answer(&self, reply: &mut UntypedReply<'_>) -> Result<(), DispatchError> {
        reply.forward(self.to.ior(), self.permanent)
    }
}

impl Forward for ForwardRequest {
    fn ior(&self) -> &Ior {
        self.to.ior()
    }

    fn is_permanent(&self) -> bool {
        self.permanent
    }
}

/// Error of a servant manager that provides no servant.
#[derive(Clone, Debug, PartialEq)]
pub enum ServantError {
    /// Another object serves the request.
    Forward(ForwardRequest),
    /// The client receives this exception.
    System(SystemException),
}

impl From<ForwardRequest> for ServantError {
    fn from(forward: ForwardRequest) -> Self {
        Self::Forward(forward)
    }
}

impl From<ServantError> for Interrupt {
    fn from(error: ServantError) -> Self {
        match error {
            ServantError::Forward(forward) => Self::Forward(Arc::new(forward.to.ior().clone())),
            ServantError::System(exception) => Self::Raise(exception),
        }
    }
}

impl From<SystemException> for ServantError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}
