// SPDX-License-Identifier: MIT OR Apache-2.0
//! The policies of references and threads by the numbers of their types: CORBA's own way to
//! set and to read them, for standard policies and for those that programs define.

use std::any::Any as Erased;
use std::fmt;
use std::time::{Duration, SystemTime};

use orbium_cdr::Any;
use orbium_channel::ProtocolPolicy;
use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_interceptor::{Policy, PolicyError};
use orbium_invocation::{BufferingConstraint, RebindMode, SyncScope, TimePolicies};

use crate::overrides::Overrides;
use crate::thread_policies::ThreadPolicies;

/// Numbers of standard policies that clients have: the value of such a [`Policy`] is of the
/// type that stands with it.
pub mod policy_type {
    /// RebindPolicy: [`RebindMode`](orbium_invocation::RebindMode).
    pub const REBIND: u32 = 23;
    /// SyncScopePolicy: [`SyncScope`](orbium_invocation::SyncScope).
    pub const SYNC_SCOPE: u32 = 24;
    /// RequestStartTimePolicy: [`SystemTime`](std::time::SystemTime).
    pub const REQUEST_START_TIME: u32 = 27;
    /// RequestEndTimePolicy: [`SystemTime`](std::time::SystemTime).
    pub const REQUEST_END_TIME: u32 = 28;
    /// ReplyStartTimePolicy: [`SystemTime`](std::time::SystemTime).
    pub const REPLY_START_TIME: u32 = 29;
    /// ReplyEndTimePolicy: [`SystemTime`](std::time::SystemTime).
    pub const REPLY_END_TIME: u32 = 30;
    /// RelativeRequestTimeoutPolicy: [`Duration`](std::time::Duration).
    pub const RELATIVE_REQUEST_TIMEOUT: u32 = 31;
    /// RelativeRoundtripTimeoutPolicy: [`Duration`](std::time::Duration).
    pub const RELATIVE_ROUNDTRIP_TIMEOUT: u32 = 32;
    /// ClientProtocolPolicy: [`ProtocolPolicy`](orbium_channel::ProtocolPolicy).
    pub const CLIENT_PROTOCOL: u32 = 43;
}

/// Types below this are assigned by the OMG, those above by organisations (by their VMCID).
const END_OF_STANDARD: u32 = 0x1000;

/// What becomes of the policies that were there before (`CORBA::SetOverrideType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOverride {
    /// None of those that can be set by number remains (SET_OVERRIDE), nor do buffering
    /// constraints, which belong to SyncScopePolicy.
    Set,
    /// Those of other types remain (ADD_OVERRIDE).
    Add,
}

/// Why policies are not taken.
#[derive(Clone, PartialEq, Eq)]
pub enum OverrideError {
    /// Those at these places cannot be set there, as those of servers, or have values of other
    /// types than theirs (`CORBA::InvalidPolicies`).
    InvalidPolicies(Vec<u16>),
    /// BAD_PARAM 30: two are of one type.
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

/// The same words as `Display`: it is what a `main` shows that ends with an error.
impl fmt::Debug for OverrideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for OverrideError {}

/// The policies of a reference or of a thread, by the numbers of their types.
pub trait PolicyScope: Clone {
    /// Sets a policy; whether it can be set there.
    fn put(&mut self, policy: &Policy) -> bool;

    /// Removes all policies that can be set.
    fn clear(&mut self);

    /// All policies that are set.
    fn all(&self) -> Vec<Policy>;

    /// The same scope with these policies, in the place of those of the same types or of all.
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
        match invalid.is_empty() {
            true => Ok(scope),
            false => Err(OverrideError::InvalidPolicies(invalid)),
        }
    }

    /// Those of these types, in their order; all for none.
    fn policies(&self, types: &[u32]) -> Vec<Policy> {
        let all = self.all();
        if types.is_empty() {
            return all;
        }
        let of = |wanted: &u32| Policy::find(&all, *wanted);
        types.iter().filter_map(of).cloned().collect()
    }
}

/// Sets a value if the policy has one of that type; whether it has.
fn set<T: Clone + 'static>(to: &mut T, policy: &Policy) -> bool {
    let value = policy.value::<T>().cloned();
    value.map(|value| *to = value).is_some()
}

/// The same where there may be none.
fn set_some<T: Clone + 'static>(to: &mut Option<T>, policy: &Policy) -> bool {
    let value = policy.value::<T>().cloned();
    value.map(|value| *to = Some(value)).is_some()
}

/// The policies that references and threads have.
struct Common<'p> {
    times: &'p mut TimePolicies,
    protocols: &'p mut Option<ProtocolPolicy>,
    defined: &'p mut Vec<Policy>,
}

impl Common<'_> {
    fn put(self, policy: &Policy) -> bool {
        let times = self.times;
        match policy.policy_type() {
            policy_type::REQUEST_START_TIME => set_some(&mut times.request_start, policy),
            policy_type::REQUEST_END_TIME => set_some(&mut times.request_end, policy),
            policy_type::REPLY_START_TIME => set_some(&mut times.reply_start, policy),
            policy_type::REPLY_END_TIME => set_some(&mut times.reply_end, policy),
            policy_type::RELATIVE_REQUEST_TIMEOUT => set_some(&mut times.request_timeout, policy),
            policy_type::RELATIVE_ROUNDTRIP_TIMEOUT => {
                set_some(&mut times.roundtrip_timeout, policy)
            }
            policy_type::CLIENT_PROTOCOL => set_some(self.protocols, policy),
            END_OF_STANDARD.. => {
                self.defined
                    .retain(|it| it.policy_type() != policy.policy_type());
                self.defined.push(policy.clone());
                true
            }
            _ => false,
        }
    }

    fn clear(self) {
        *self.times = TimePolicies::NONE;
        *self.protocols = None;
        self.defined.clear();
    }
}

/// All that is set of the policies that references and threads have.
fn all_common(
    times: &TimePolicies,
    protocols: Option<&ProtocolPolicy>,
    defined: &[Policy],
) -> Vec<Policy> {
    fn one<T: Erased + Send + Sync>(policy_type: u32, value: Option<T>) -> Option<Policy> {
        value.map(|value| Policy::new(policy_type, value))
    }
    let at: fn(u32, Option<SystemTime>) -> Option<Policy> = one;
    let within: fn(u32, Option<Duration>) -> Option<Policy> = one;
    let all = [
        at(policy_type::REQUEST_START_TIME, times.request_start),
        at(policy_type::REQUEST_END_TIME, times.request_end),
        at(policy_type::REPLY_START_TIME, times.reply_start),
        at(policy_type::REPLY_END_TIME, times.reply_end),
        within(policy_type::RELATIVE_REQUEST_TIMEOUT, times.request_timeout),
        within(
            policy_type::RELATIVE_ROUNDTRIP_TIMEOUT,
            times.roundtrip_timeout,
        ),
        one(policy_type::CLIENT_PROTOCOL, protocols.cloned()),
    ];
    let defined = defined.iter().cloned();
    all.into_iter().flatten().chain(defined).collect()
}

/// A standard policy out of its value (`ORB::create_policy`); `None` for the types that
/// programs define.
///
/// # Errors
/// Why the value makes none. The policies of points of time (27 to 30) are not made of a
/// `TimeBase::UtcT`, but by [`Policy::new`] of a [`SystemTime`]: UNSUPPORTED_POLICY.
pub fn standard_policy(policy_type: u32, value: &Any) -> Option<Result<Policy, PolicyError>> {
    if policy_type >= END_OF_STANDARD {
        return None;
    }
    let number = || {
        value
            .extract::<i16>()
            .map_err(|_| PolicyError::BadPolicyValue)
    };
    let span = || {
        let hundreds = value
            .extract::<u64>()
            .map_err(|_| PolicyError::BadPolicyValue)?;
        let nanoseconds = hundreds
            .checked_mul(100)
            .ok_or(PolicyError::UnsupportedPolicyValue)?;
        Ok(Policy::new(policy_type, Duration::from_nanos(nanoseconds)))
    };
    let rebind = |number| match number {
        0 => Ok(RebindMode::Transparent),
        1 => Ok(RebindMode::NoRebind),
        2 => Ok(RebindMode::NoReconnect),
        _ => Err(PolicyError::BadPolicyValue),
    };
    let scope = |number| match number {
        0 => Ok(SyncScope::None),
        1 => Ok(SyncScope::WithTransport),
        2 => Ok(SyncScope::WithServer),
        3 => Ok(SyncScope::WithTarget),
        _ => Err(PolicyError::BadPolicyValue),
    };
    Some(match policy_type {
        policy_type::REBIND => number()
            .and_then(rebind)
            .map(|it| Policy::new(policy_type, it)),
        policy_type::SYNC_SCOPE => number()
            .and_then(scope)
            .map(|it| Policy::new(policy_type, it)),
        policy_type::RELATIVE_REQUEST_TIMEOUT | policy_type::RELATIVE_ROUNDTRIP_TIMEOUT => span(),
        policy_type::REQUEST_START_TIME..=policy_type::REPLY_END_TIME => {
            Err(PolicyError::UnsupportedPolicy)
        }
        _ => Err(PolicyError::BadPolicyType),
    })
}

impl Overrides {
    fn common(&mut self) -> Common<'_> {
        Common {
            times: &mut self.times,
            protocols: &mut self.protocols,
            defined: &mut self.defined,
        }
    }
}

impl PolicyScope for Overrides {
    fn put(&mut self, policy: &Policy) -> bool {
        match policy.policy_type() {
            policy_type::REBIND => set(&mut self.rebind, policy),
            policy_type::SYNC_SCOPE => set(&mut self.sync_scope, policy),
            _ => self.common().put(policy),
        }
    }

    fn clear(&mut self) {
        self.rebind = RebindMode::default();
        self.sync_scope = SyncScope::default();
        self.buffering = BufferingConstraint::default();
        self.common().clear();
    }

    /// RebindPolicy and SyncScopePolicy only where they are not the default.
    fn all(&self) -> Vec<Policy> {
        let mut all = Vec::new();
        if self.rebind != RebindMode::default() {
            all.push(Policy::new(policy_type::REBIND, self.rebind));
        }
        if self.sync_scope != SyncScope::default() {
            all.push(Policy::new(policy_type::SYNC_SCOPE, self.sync_scope));
        }
        all.extend(all_common(
            &self.times,
            self.protocols.as_ref(),
            &self.defined,
        ));
        all
    }
}

impl ThreadPolicies {
    fn common(&mut self) -> Common<'_> {
        Common {
            times: &mut self.times,
            protocols: &mut self.protocols,
            defined: &mut self.defined,
        }
    }
}

/// RebindPolicy and SyncScopePolicy are of references alone.
impl PolicyScope for ThreadPolicies {
    fn put(&mut self, policy: &Policy) -> bool {
        self.common().put(policy)
    }

    fn clear(&mut self) {
        self.common().clear();
    }

    fn all(&self) -> Vec<Policy> {
        all_common(&self.times, self.protocols.as_ref(), &self.defined)
    }
}
