// SPDX-License-Identifier: MIT OR Apache-2.0
//! Target of a request: an active object, optionally with the properties that the request carries
//! by the `context` clause of its operation.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use orbium_interceptor::server::InterceptedObject;
use orbium_interceptor::{OrbIdentity, Policy};
use orbium_invocation::{Priority, Properties};

/// An active object as seen by servants and hooks.
pub trait Target: InterceptedObject + Sync {
    /// Its priority, if one is assigned to it.
    fn priority(&self) -> Option<Priority>;

    /// A number of its adapter, unique while that exists.
    fn adapter(&self) -> usize;

    /// The properties that the request carries, by the `context` clause of its operation.
    fn context(&self) -> &[(String, String)] {
        &[]
    }

    /// For downcasts by the adapters.
    fn as_any(&self) -> &dyn Any;
}

/// The properties of a request and its object. Separate from `Call`, so that calls of operations
/// without a clause have no cost.
pub struct ReceivedContext<'r> {
    object: &'r dyn Target,
    properties: Properties,
}

impl<'r> ReceivedContext<'r> {
    /// The target of a request with these properties.
    #[must_use]
    pub fn new(object: &'r dyn Target, properties: Properties) -> Self {
        Self { object, properties }
    }
}

impl InterceptedObject for ReceivedContext<'_> {
    fn object_id(&self) -> &[u8] {
        self.object.object_id()
    }

    fn adapter(&self) -> (String, u64) {
        InterceptedObject::adapter(self.object)
    }

    fn identity(&self) -> Arc<OrbIdentity> {
        self.object.identity()
    }

    fn is_incarnated(&self) -> bool {
        self.object.is_incarnated()
    }

    fn repository_id(&self) -> Cow<'_, str> {
        self.object.repository_id()
    }

    fn is_a(&self, repository_id: &str) -> bool {
        self.object.is_a(repository_id)
    }

    fn known_operation(&self, operation: &[u8]) -> Option<&'static str> {
        self.object.known_operation(operation)
    }

    fn defined_policies(&self) -> &[Policy] {
        self.object.defined_policies()
    }
}

impl Target for ReceivedContext<'_> {
    fn priority(&self) -> Option<Priority> {
        self.object.priority()
    }

    fn adapter(&self) -> usize {
        Target::adapter(self.object)
    }

    fn context(&self) -> &[(String, String)] {
        &self.properties
    }

    fn as_any(&self) -> &dyn Any {
        self.object.as_any()
    }
}
