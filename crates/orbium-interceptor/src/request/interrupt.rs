// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interruption of a request by an interceptor: an exception or a forward.

use std::sync::Arc;

use orbium_giop::{Ior, SystemException};

/// Decision of an interceptor that ends a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Interrupt {
    /// The request ends with this exception.
    Raise(SystemException),
    /// Another object serves the request (`PortableInterceptor::ForwardRequest`).
    Forward(Arc<Ior>),
}

impl Interrupt {
    /// Forwards to the object of that reference.
    #[must_use]
    pub fn forward(to: &Ior) -> Self {
        Self::Forward(Arc::new(to.clone()))
    }
}

impl From<SystemException> for Interrupt {
    fn from(exception: SystemException) -> Self {
        Self::Raise(exception)
    }
}
