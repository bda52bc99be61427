// SPDX-License-Identifier: MIT OR Apache-2.0
//! The policies of a call, which is made with those of its reference, its thread and its ORB.

use orbium_interceptor::Policy;
use orbium_interceptor::client::CallPolicies;

use crate::overrides::Overrides;
use crate::policy_overrides::PolicyScope;
use crate::reference::Reference;
use crate::thread_policies::ThreadPolicies;

/// The three scopes as they are when a call is made. None of their policies is looked at before
/// an interceptor asks for it.
#[derive(Debug)]
pub(crate) struct EffectivePolicies {
    of_reference: Overrides,
    of_thread: ThreadPolicies,
    of_orb: ThreadPolicies,
}

impl EffectivePolicies {
    /// Those of calls that this thread makes through the reference now.
    pub(crate) fn of<O: ?Sized>(reference: &Reference<O>) -> Self {
        let client = reference.client();
        Self {
            of_reference: reference.overrides().clone(),
            of_thread: client.thread_policies(),
            of_orb: client.orb_policies(),
        }
    }
}

impl CallPolicies for EffectivePolicies {
    fn policy(&self, policy_type: u32) -> Option<Policy> {
        let own = self.of_reference.policy(policy_type);
        let or_of_thread = own.or_else(|| self.of_thread.policy(policy_type));
        or_of_thread.or_else(|| self.of_orb.policy(policy_type))
    }
}
