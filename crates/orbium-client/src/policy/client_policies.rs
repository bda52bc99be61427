// SPDX-License-Identifier: MIT OR Apache-2.0
//! The policies of a reference, a thread or the ORB for calls.

use std::cell::RefCell;

use orbium_channel::ProtocolPolicy;
use orbium_interceptor::Policy;
use orbium_invocation::{ConnectionSharing, TimePolicies};

use crate::policy::messaging_policies::MessagingPolicies;

/// The policies of one scope of calls: a reference, a thread or the ORB.
#[derive(Clone, Debug, Default)]
pub struct ClientPolicies {
    /// ClientProtocolPolicy.
    pub protocols: Option<ProtocolPolicy>,
    /// The time policies of calls.
    pub times: TimePolicies,
    /// The sharing of connections.
    pub connections: ConnectionSharing,
    /// The policies of CORBA Messaging.
    pub messaging: MessagingPolicies,
    /// Policies of types that the program defines.
    pub defined: Vec<Policy>,
}

thread_local! {
    /// The policies of this thread, by the number of the ORB.
    static THREAD_POLICIES: RefCell<Vec<(usize, ClientPolicies)>> = const { RefCell::new(Vec::new()) };
}

impl ClientPolicies {
    /// The policies of the calling thread for calls through that ORB.
    pub(crate) fn of_this_thread(orb: usize) -> Self {
        THREAD_POLICIES.with_borrow(|policies| {
            let own = policies.iter().find(|(of, _)| *of == orb);
            own.map_or_else(Self::default, |(_, own)| own.clone())
        })
    }

    /// Changes the policies of the calling thread.
    pub(crate) fn change(orb: usize, change: impl FnOnce(&mut Self)) {
        let mut policies = Self::take_from_this_thread(orb);
        change(&mut policies);
        policies.set_for_this_thread(orb);
    }

    fn take_from_this_thread(orb: usize) -> Self {
        THREAD_POLICIES.with_borrow_mut(|all| {
            let own = all.iter().position(|(of, _)| *of == orb);
            own.map_or_else(Self::default, |own| all.swap_remove(own).1)
        })
    }

    fn set_for_this_thread(self, orb: usize) {
        if self.are_any() {
            THREAD_POLICIES.with_borrow_mut(|all| all.push((orb, self)));
        }
    }

    /// These policies, completed by those of the wider scope.
    pub(crate) fn or(mut self, wider: &Self) -> Self {
        self.protocols = self.protocols.or_else(|| wider.protocols.clone());
        self.times = self.times.or(wider.times);
        self.connections = self.connections.or(&wider.connections);
        self.messaging = self.messaging.or(wider.messaging);
        for policy in &wider.defined {
            if Policy::find(&self.defined, policy.policy_type()).is_none() {
                self.defined.push(policy.clone());
            }
        }
        self
    }

    /// Whether any policy is set.
    pub(crate) fn are_any(&self) -> bool {
        self.choose_connections()
            || !self.times.is_none()
            || !self.messaging.is_none()
            || !self.defined.is_empty()
    }

    /// Whether the policies change the connections of calls.
    #[inline]
    pub(crate) fn choose_connections(&self) -> bool {
        self.protocols.is_some() || self.connections != ConnectionSharing::default()
    }
}
