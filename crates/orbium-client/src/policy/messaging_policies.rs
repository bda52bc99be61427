// SPDX-License-Identifier: MIT OR Apache-2.0
//! The policies of CORBA Messaging that references, threads and the ORB may each have, but for
//! those of time (CORBA 3.3 Part 1, clause 17.2).

use orbium_invocation::router_policies::RouterPolicies;
use orbium_invocation::{BufferingConstraint, RebindMode, SyncScope};

/// The policies of CORBA Messaging, where they are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessagingPolicies {
    /// RebindPolicy.
    pub rebind: Option<RebindMode>,
    /// SyncScopePolicy.
    pub sync_scope: Option<SyncScope>,
    /// How long oneways under SYNC_NONE are buffered.
    pub buffering: Option<BufferingConstraint>,
    /// Those for routers.
    pub routers: RouterPolicies,
}

impl MessagingPolicies {
    /// Whether none is set.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// These, and of the others those that these do not set.
    #[must_use]
    pub fn or(self, wider: Self) -> Self {
        Self {
            rebind: self.rebind.or(wider.rebind),
            sync_scope: self.sync_scope.or(wider.sync_scope),
            buffering: self.buffering.or(wider.buffering),
            routers: self.routers.or(wider.routers),
        }
    }

    /// What the ORB does by itself when an object cannot be reached as before.
    pub(crate) fn rebind(&self) -> RebindMode {
        self.rebind.unwrap_or_default()
    }

    /// When oneways return.
    pub(crate) fn sync_scope(&self) -> SyncScope {
        self.sync_scope.unwrap_or_default()
    }
}
