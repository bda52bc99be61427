// SPDX-License-Identifier: MIT OR Apache-2.0
//! Target of a request that carries properties, by the `context` clause of its operation.

use std::any::Any;

use orbium_invocation::Properties;

use super::target::Target;
use crate::Priority;

/// The properties of a request and its object. They are no part of every
/// [`Call`](crate::Call), so that calls of operations without a clause pay nothing.
#[doc(hidden)]
pub struct ReceivedContext<'r> {
    object: &'r dyn Target,
    properties: Properties,
}

impl<'r> ReceivedContext<'r> {
    pub(super) fn new(object: &'r dyn Target, properties: Properties) -> Self {
        Self { object, properties }
    }
}

impl Target for ReceivedContext<'_> {
    fn id(&self) -> &[u8] {
        self.object.id()
    }

    fn priority(&self) -> Option<Priority> {
        self.object.priority()
    }

    fn adapter(&self) -> usize {
        self.object.adapter()
    }

    fn context(&self) -> &[(String, String)] {
        &self.properties
    }

    fn as_any(&self) -> &dyn Any {
        self.object.as_any()
    }
}
