// SPDX-License-Identifier: MIT OR Apache-2.0
//! The policies of CORBA Messaging for references, threads and ORBs, except the time policies
//! (CORBA 3.3 Part 1, clause 17.2).

use orbium_invocation::router_policies::RouterPolicies;
use orbium_invocation::{BufferingConstraint, RebindMode, SyncScope};

/// The policies of CORBA Messaging; `None` if not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessagingPolicies {
    /// RebindPolicy.
    pub rebind: Option<RebindMode>,
    /// SyncScopePolicy.
    pub sync_scope: Option<SyncScope>,
    /// The constraint of the buffering of oneways under SYNC_NONE.
    pub buffering: Option<BufferingConstraint>,
    /// The policies for routers.
    pub routers: RouterPolicies,
}

impl MessagingPolicies {
    /// Whether no policy is set.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// These policies, completed by those of `wider`.
    #[must_use]
    pub fn or(self, wider: Self) -> Self {
        Self {
            rebind: self.rebind.or(wider.rebind),
            sync_scope: self.sync_scope.or(wider.sync_scope),
            buffering: self.buffering.or(wider.buffering),
            routers: self.routers.or(wider.routers),
        }
    }

    /// The RebindPolicy: the recovery when an object cannot be reached as before.
    pub(crate) fn rebind(&self) -> RebindMode {
        self.rebind.unwrap_or_default()
    }

    /// The SyncScopePolicy: when oneways return.
    pub(crate) fn sync_scope(&self) -> SyncScope {
        self.sync_scope.unwrap_or_default()
    }
}
