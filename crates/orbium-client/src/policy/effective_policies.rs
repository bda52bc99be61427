// SPDX-License-Identifier: MIT OR Apache-2.0
//! The effective policies of a call: those of its reference, its thread and its ORB.

use orbium_channel::protocol;
use orbium_config::BidirectionalPolicy;
use orbium_interceptor::client::CallPolicies;
use orbium_interceptor::{Policy, policy_type};
use orbium_invocation::router_policies::RouterPolicies;

use crate::policy::client_policies::ClientPolicies;
use crate::policy::connection_policies::conflicts;
use crate::policy::overrides::Overrides;
use crate::policy::policy_overrides::{PolicyScope, all_for_routers};
use crate::reference::Reference;
use crate::reference::binding::reconciled;

/// A snapshot of the three scopes at the time of a call. Their policies are evaluated only when an
/// interceptor reads them.
#[derive(Debug)]
pub(crate) struct EffectivePolicies {
    of_reference: Overrides,
    of_thread: ClientPolicies,
    of_orb: ClientPolicies,
}

impl EffectivePolicies {
    /// The policies of calls that this thread makes through the reference now.
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

impl<O: ?Sized> Reference<O> {
    /// The policies of the calls that this thread makes through the reference: its own, or else
    /// those of the thread, or else those of the ORB.
    #[cold]
    pub fn effective_policies(&self) -> Vec<Policy> {
        let mut all = self.overrides().all();
        for wider in [
            self.client().thread_policies(),
            self.client().orb_policies(),
        ] {
            for policy in wider.all() {
                if Policy::find(&all, policy.policy_type()).is_none() {
                    all.push(policy);
                }
            }
        }
        all
    }

    /// Types of the policies of calls of this thread through the reference that conflict with those
    /// of the reference or the ORB.
    pub fn inconsistent_policies(&self) -> Vec<u32> {
        let published = protocol::published_policies(self.ior());
        let own = self.overrides().policies.clone();
        let policies = own.or(&self.client().wider_policies());
        let sharing = policies.connections.or(&self.client().connection_sharing());
        let protocols = policies.protocols.as_ref().or(self.policy());
        let mut types = conflicts(&published, &sharing, protocols.is_some());
        types.extend(reconciled(&policies.messaging.routers, self.ior()).unsatisfiable());
        if self
            .overrides()
            .bidirectional
            .is_some_and(BidirectionalPolicy::is_both)
            && self.client().bidirectional().is_none()
        {
            types.push(policy_type::BIDIRECTIONAL);
        }
        types
    }

    /// The policies for routers of calls of this thread, reconciled with those published in the
    /// reference.
    fn reconciled_routers(&self) -> RouterPolicies {
        let own = self.overrides().policies.messaging.routers;
        let wider = self.client().wider_policies().messaging.routers;
        reconciled(&own.or(wider), self.ior())
    }

    /// The policy of that type for the calls that this thread makes through the reference,
    /// reconciled with the published one.
    #[cold]
    pub fn reconciled_policy(&self, policy_type: u32) -> Option<Policy> {
        let mut routers = all_for_routers(self.reconciled_routers());
        let routers = routers.find(|it| it.policy_type() == policy_type);
        routers.or_else(|| Policy::find(&self.effective_policies(), policy_type).cloned())
    }
}
