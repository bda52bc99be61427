// SPDX-License-Identifier: MIT OR Apache-2.0
//! Policies of the ORB and of the calling thread, and the check that the ORB runs.

use orbium_giop::SystemException;

use orbium_client::PolicyManager;
use orbium_interceptor::Policy;
use orbium_request::ServerContext;

use super::Orb;
use crate::client::ClientContext;
use crate::{ConnectionSharing, OverrideError, ProtocolPolicy, SetOverride, TimePolicies};

impl Orb {
    /// Both engines, for changes to a running ORB.
    #[doc(hidden)]
    #[must_use]
    pub fn engines(&self) -> (&ClientContext, &ServerContext) {
        (self.client(), &self.core().serving)
    }

    /// Sets policies of the calls that this thread makes through this ORB, by the numbers of their
    /// types (`PolicyCurrent::set_policy_overrides`). A reference's own policies take precedence.
    ///
    /// # Errors
    /// [`OverrideError`]; nothing is changed then.
    pub fn set_thread_policies(
        &self,
        policies: &[Policy],
        how: SetOverride,
    ) -> Result<(), OverrideError> {
        self.policy_current().set_policies(policies, how)
    }

    /// The policies of this thread with these types, or all for an empty list
    /// (`PolicyCurrent::get_policy_overrides`).
    #[must_use]
    pub fn thread_policies(&self, types: &[u32]) -> Vec<Policy> {
        self.policy_current().policies(types)
    }

    /// The policies of all calls through this ORB (`ORBPolicyManager`).
    #[must_use]
    pub fn policy_manager(&self) -> PolicyManager<'_> {
        PolicyManager::of_orb(self.client())
    }

    /// The policies of the calls that this thread makes through this ORB (`PolicyCurrent`).
    #[must_use]
    pub fn policy_current(&self) -> PolicyManager<'_> {
        PolicyManager::of_thread(self.client())
    }

    /// The policies of the ORB with these types, or all for an empty list: overrides, or else those
    /// of its configuration (`ORBPolicyManager::get_policy_overrides`).
    #[must_use]
    pub fn policies(&self, types: &[u32]) -> Vec<Policy> {
        self.policy_manager().policies(types)
    }

    pub(crate) fn check_running(&self) -> Result<(), SystemException> {
        self.client().check_running()
    }

    /// Sets the ClientProtocolPolicy of the calls that this thread makes through this ORB; `None`
    /// restores the ORB's. A reference's own policy takes precedence.
    #[inline]
    pub fn set_thread_protocols(&self, policy: Option<ProtocolPolicy>) {
        self.client()
            .set_thread_policies(|policies| policies.protocols = policy);
    }

    /// Sets the time policies of the calls that this thread makes through this ORB; the ORB's apply
    /// for those not set. A reference's own policies take precedence.
    #[inline]
    pub fn set_thread_time_policies(&self, times: TimePolicies) {
        self.client()
            .set_thread_policies(|policies| policies.times = times);
    }

    /// Sets how the calls that this thread makes through this ORB share connections, if neither a
    /// reference nor the ORB specifies it.
    #[inline]
    pub fn set_thread_connections(&self, connections: ConnectionSharing) {
        self.client()
            .set_thread_policies(|policies| policies.connections = connections);
    }
}
