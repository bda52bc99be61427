// SPDX-License-Identifier: MIT OR Apache-2.0
//! Target of a request: an active object as servants and hooks see it.

use std::any::Any;

use orbium_interceptor::server::InterceptedObject;

use crate::Priority;

/// An active object, as servants and hooks see it.
pub(crate) trait Target: InterceptedObject + Sync {
    /// Its own priority, if it was given one.
    fn priority(&self) -> Option<Priority>;

    /// A number of its adapter, which no other has while that exists.
    fn adapter(&self) -> usize;

    /// The properties that the request carries, by the `context` clause of its operation.
    fn context(&self) -> &[(String, String)] {
        &[]
    }

    /// For the adapters, which know the type.
    fn as_any(&self) -> &dyn Any;
}
