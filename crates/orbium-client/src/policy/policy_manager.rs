// SPDX-License-Identifier: MIT OR Apache-2.0
//! The policies of an ORB or a thread, for calls through references without overrides.

use orbium_interceptor::Policy;
use orbium_invocation::{BufferingConstraint, RebindMode, SyncScope};

use crate::context::ClientContext;
use crate::policy::client_policies::ClientPolicies;
use crate::policy::messaging_policies::MessagingPolicies;
use crate::policy::policy_overrides::{OverrideError, PolicyScope, SetOverride};

/// The policies of all calls through an ORB (`CORBA::PolicyManager`), or of those that the calling
/// thread makes through it (`CORBA::PolicyCurrent`). They apply to calls that begin later, through
/// references without the policy. A thread's take precedence over the ORB's.
///
/// ```
/// use orbium_core::{Orb, RebindMode, SyncScope};
///
/// let orb = Orb::builder().build()?;
/// orb.policy_manager().set_sync_scope(Some(SyncScope::WithServer));
/// orb.policy_current().set_sync_scope(Some(SyncScope::WithTarget));
/// orb.policy_current().set_rebind(Some(RebindMode::NoRebind));
/// assert_eq!(orb.policy_current().policies(&[]).len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct PolicyManager<'c> {
    client: &'c ClientContext,
    is_of_thread: bool,
}

impl<'c> PolicyManager<'c> {
    /// The policies of the ORB with that client.
    #[must_use]
    pub fn of_orb(client: &'c ClientContext) -> Self {
        Self {
            client,
            is_of_thread: false,
        }
    }

    /// The policies of the calling thread for calls through the ORB with that client.
    #[must_use]
    pub fn of_thread(client: &'c ClientContext) -> Self {
        Self {
            client,
            is_of_thread: true,
        }
    }

    /// Sets policies by the numbers of their types (`set_policy_overrides`). Those of an ORB take
    /// precedence over its configuration.
    ///
    /// # Errors
    /// [`OverrideError`]; nothing is changed then.
    pub fn set_policies(&self, policies: &[Policy], how: SetOverride) -> Result<(), OverrideError> {
        let mut result = Ok(());
        self.change(|own| {
            let changed = own.with_policies(policies, how);
            result = changed.map(|changed| *own = changed);
        });
        result
    }

    /// The policies of these types, or all for an empty list (`get_policy_overrides`): those that
    /// were set and, for an ORB, else those of its configuration.
    #[must_use]
    pub fn policies(&self, types: &[u32]) -> Vec<Policy> {
        if self.is_of_thread {
            self.client.thread_policies().policies(types)
        } else {
            self.client.orb_policies().policies(types)
        }
    }

    /// Sets the RebindPolicy; `None` restores the wider scope's, or TRANSPARENT.
    pub fn set_rebind(&self, rebind: Option<RebindMode>) {
        self.change_messaging(|policies| policies.rebind = rebind);
    }

    /// Sets the SyncScopePolicy; `None` restores the wider scope's, or SYNC_WITH_TRANSPORT.
    pub fn set_sync_scope(&self, scope: Option<SyncScope>) {
        self.change_messaging(|policies| policies.sync_scope = scope);
    }

    /// Sets the buffering of oneways under SYNC_NONE; `None` restores the wider scope's, or
    /// unbuffered sending.
    pub fn set_buffering(&self, constraint: Option<BufferingConstraint>) {
        self.change_messaging(|policies| policies.buffering = constraint);
    }

    fn change_messaging(&self, change: impl FnOnce(&mut MessagingPolicies)) {
        self.change(|policies| change(&mut policies.messaging));
    }

    fn change(&self, change: impl FnOnce(&mut ClientPolicies)) {
        if self.is_of_thread {
            self.client.set_thread_policies(change);
        } else {
            self.client.set_orb_overrides(change);
        }
    }
}
