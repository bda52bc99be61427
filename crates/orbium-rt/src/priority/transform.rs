// SPDX-License-Identifier: MIT OR Apache-2.0
//! Priorities changed on their way in and out (RT-CORBA 1.2, clause 5.7.4).

use orbium_core::Priority;

/// Changes priorities of requests. `None` refuses: the client sees UNKNOWN.
pub trait PriorityTransform: Send + Sync + 'static {
    /// The priority at which a request is served, where the priority model determines `priority`.
    fn inbound(&self, priority: Priority, object_id: &[u8]) -> Option<Priority>;

    /// The priority of a call made from within a servant under CLIENT_PROPAGATED; `object_key` is
    /// that of the called object.
    fn outbound(&self, priority: Priority, object_key: &[u8]) -> Option<Priority>;
}

/// The identity, which is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdentityTransform;

impl PriorityTransform for IdentityTransform {
    fn inbound(&self, priority: Priority, _: &[u8]) -> Option<Priority> {
        Some(priority)
    }

    fn outbound(&self, priority: Priority, _: &[u8]) -> Option<Priority> {
        Some(priority)
    }
}
