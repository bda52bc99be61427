// SPDX-License-Identifier: MIT OR Apache-2.0
//! The policies of references and threads by the numbers of their types: CORBA's generic interface
//! for standard and program-defined policies.

use std::any::Any as Erased;
use std::fmt;
use std::time::{Duration, SystemTime};

use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_interceptor::{Policy, policy_type};
use orbium_invocation::TimePolicies;
use orbium_invocation::router_policies::RouterPolicies;

use crate::policy::client_policies::ClientPolicies;
use crate::policy::messaging_policies::MessagingPolicies;
use crate::policy::overrides::Overrides;

/// Types below this are assigned by the OMG, those above by organisations (by their VMCID).
pub(crate) const END_OF_STANDARD: u32 = 0x1000;

/// Treatment of the policies set before (`CORBA::SetOverrideType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOverride {
    /// All policies that can be set by number are removed (SET_OVERRIDE), and so are buffering
    /// constraints, which belong to SyncScopePolicy.
    Set,
    /// The policies of other types remain (ADD_OVERRIDE).
    Add,
}

/// Error of setting policies.
#[derive(Clone, PartialEq, Eq)]
pub enum OverrideError {
    /// The policies at these indices cannot be set there, for example those of servers, or have
    /// values of the wrong type (`CORBA::InvalidPolicies`).
    InvalidPolicies(Vec<u16>),
    /// BAD_PARAM 30: two policies have the same type.
    System(SystemException),
}

impl fmt::Display for OverrideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidPolicies(places) => write!(f, "invalid policies at {places:?}"),
            Self::System(exception) => exception.fmt(f),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for OverrideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for OverrideError {}

/// The policies of a reference, of a thread or of an ORB, by the numbers of their types.
pub trait PolicyScope: Clone {
    /// Sets a policy; returns whether it can be set there.
    fn put(&mut self, policy: &Policy) -> bool;

    /// Removes all policies that can be set.
    fn clear(&mut self);

    /// All policies that are set.
    fn all(&self) -> Vec<Policy>;

    /// A copy of the scope with these policies, which replace those of the same types, or all.
    ///
    /// # Errors
    /// [`OverrideError`].
    fn with_policies(&self, policies: &[Policy], how: SetOverride) -> Result<Self, OverrideError> {
        let mut scope = self.clone();
        if how == SetOverride::Set {
            scope.clear();
        }
        let mut invalid = Vec::new();
        for (place, policy) in policies.iter().enumerate() {
            if Policy::find(&policies[..place], policy.policy_type()).is_some() {
                let twice = SystemException::omg(ExceptionKind::BadParam, 30, Completion::No);
                return Err(OverrideError::System(twice));
            }
            if !scope.put(policy) {
                invalid.push(u16::try_from(place).unwrap_or(u16::MAX));
            }
        }
        if invalid.is_empty() {
            Ok(scope)
        } else {
            Err(OverrideError::InvalidPolicies(invalid))
        }
    }

    /// The policy of this type, if set.
    fn policy(&self, policy_type: u32) -> Option<Policy>;

    /// The policies of these types, in their order; all for an empty list.
    fn policies(&self, types: &[u32]) -> Vec<Policy> {
        match types {
            [] => self.all(),
            types => types.iter().filter_map(|it| self.policy(*it)).collect(),
        }
    }
}

/// Sets a value if the policy has one of that type; returns whether it has.
fn set_some<T: Clone + 'static>(to: &mut Option<T>, policy: &Policy) -> bool {
    let value = policy.value::<T>().cloned();
    value.map(|value| *to = Some(value)).is_some()
}

/// A policy of that type if it has a value.
fn one<T: Erased + Send + Sync>(policy_type: u32, value: Option<T>) -> Option<Policy> {
    value.map(|value| Policy::new(policy_type, value))
}

/// The standard policies of references, threads and ORBs.
const STANDARD: [u32; 14] = [
    policy_type::REBIND,
    policy_type::SYNC_SCOPE,
    policy_type::REQUEST_START_TIME,
    policy_type::REQUEST_END_TIME,
    policy_type::REPLY_START_TIME,
    policy_type::REPLY_END_TIME,
    policy_type::RELATIVE_REQUEST_TIMEOUT,
    policy_type::RELATIVE_ROUNDTRIP_TIMEOUT,
    policy_type::CLIENT_PROTOCOL,
    policy_type::REQUEST_PRIORITY,
    policy_type::REPLY_PRIORITY,
    policy_type::ROUTING,
    policy_type::MAX_HOPS,
    policy_type::QUEUE_ORDER,
];

/// Sets a policy for routers, unless no request without a router can satisfy it.
fn put_for_routers(policies: &mut RouterPolicies, policy: &Policy) -> bool {
    let mut changed = *policies;
    let is_set = match policy.policy_type() {
        policy_type::REQUEST_PRIORITY => set_some(&mut changed.request_priority, policy),
        policy_type::REPLY_PRIORITY => set_some(&mut changed.reply_priority, policy),
        policy_type::ROUTING => set_some(&mut changed.routing, policy),
        policy_type::MAX_HOPS => set_some(&mut changed.max_hops, policy),
        policy_type::QUEUE_ORDER => set_some(&mut changed.queue_order, policy),
        _ => false,
    };
    let is_valid = is_set && changed.unsatisfiable().next().is_none();
    if is_valid {
        *policies = changed;
    }
    is_valid
}

/// The policies for routers that are set.
pub(crate) fn all_for_routers(policies: RouterPolicies) -> impl Iterator<Item = Policy> {
    [
        one(policy_type::REQUEST_PRIORITY, policies.request_priority),
        one(policy_type::REPLY_PRIORITY, policies.reply_priority),
        one(policy_type::ROUTING, policies.routing),
        one(policy_type::MAX_HOPS, policies.max_hops),
        one(policy_type::QUEUE_ORDER, policies.queue_order),
    ]
    .into_iter()
    .flatten()
}

impl PolicyScope for ClientPolicies {
    fn put(&mut self, policy: &Policy) -> bool {
        let (times, messaging) = (&mut self.times, &mut self.messaging);
        match policy.policy_type() {
            policy_type::REBIND => set_some(&mut messaging.rebind, policy),
            policy_type::SYNC_SCOPE => set_some(&mut messaging.sync_scope, policy),
            policy_type::REQUEST_START_TIME => set_some(&mut times.request_start, policy),
            policy_type::REQUEST_END_TIME => set_some(&mut times.request_end, policy),
            policy_type::REPLY_START_TIME => set_some(&mut times.reply_start, policy),
            policy_type::REPLY_END_TIME => set_some(&mut times.reply_end, policy),
            policy_type::RELATIVE_REQUEST_TIMEOUT => set_some(&mut times.request_timeout, policy),
            policy_type::RELATIVE_ROUNDTRIP_TIMEOUT => {
                set_some(&mut times.roundtrip_timeout, policy)
            }
            policy_type::CLIENT_PROTOCOL => set_some(&mut self.protocols, policy),
            END_OF_STANDARD.. => {
                self.defined
                    .retain(|it| it.policy_type() != policy.policy_type());
                self.defined.push(policy.clone());
                true
            }
            _ => put_for_routers(&mut messaging.routers, policy),
        }
    }

    fn clear(&mut self) {
        self.times = TimePolicies::NONE;
        self.protocols = None;
        self.messaging = MessagingPolicies::default();
        self.defined.clear();
    }

    fn all(&self) -> Vec<Policy> {
        let standard = STANDARD.iter().filter_map(|it| self.policy(*it));
        standard.chain(self.defined.iter().cloned()).collect()
    }

    fn policy(&self, policy_type: u32) -> Option<Policy> {
        let (times, messaging) = (&self.times, &self.messaging);
        let at = |value: Option<SystemTime>| one(policy_type, value);
        let within = |value: Option<Duration>| one(policy_type, value);
        match policy_type {
            policy_type::REBIND => one(policy_type, messaging.rebind),
            policy_type::SYNC_SCOPE => one(policy_type, messaging.sync_scope),
            policy_type::REQUEST_START_TIME => at(times.request_start),
            policy_type::REQUEST_END_TIME => at(times.request_end),
            policy_type::REPLY_START_TIME => at(times.reply_start),
            policy_type::REPLY_END_TIME => at(times.reply_end),
            policy_type::RELATIVE_REQUEST_TIMEOUT => within(times.request_timeout),
            policy_type::RELATIVE_ROUNDTRIP_TIMEOUT => within(times.roundtrip_timeout),
            policy_type::CLIENT_PROTOCOL => one(policy_type, self.protocols.clone()),
            END_OF_STANDARD.. => Policy::find(&self.defined, policy_type).cloned(),
            _ => all_for_routers(messaging.routers).find(|it| it.policy_type() == policy_type),
        }
    }
}

impl PolicyScope for Overrides {
    fn put(&mut self, policy: &Policy) -> bool {
        match policy.policy_type() {
            policy_type::BIDIRECTIONAL => set_some(&mut self.bidirectional, policy),
            _ => self.policies.put(policy),
        }
    }

    fn clear(&mut self) {
        self.bidirectional = None;
        self.policies.clear();
    }

    fn all(&self) -> Vec<Policy> {
        let mut all = self.policies.all();
        all.extend(one(policy_type::BIDIRECTIONAL, self.bidirectional));
        all
    }

    fn policy(&self, policy_type: u32) -> Option<Policy> {
        match policy_type {
            policy_type::BIDIRECTIONAL => one(policy_type, self.bidirectional),
            _ => self.policies.policy(policy_type),
        }
    }
}
