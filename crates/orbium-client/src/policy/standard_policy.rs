// SPDX-License-Identifier: MIT OR Apache-2.0
//! Standard policies of clients from their values, as for `CORBA::ORB::create_policy`.

use std::any::Any as Erased;
use std::time::{Duration, SystemTime};

use orbium_cdr::{Any, Decode, Typed};
use orbium_config::BidirectionalPolicy;
use orbium_giop::time::{UtcT, UtcTime};
use orbium_interceptor::{Policy, PolicyError, policy_type};
use orbium_invocation::router_policies::{
    PriorityRange, QueueOrder, ROUTE_NONE, ROUTE_STORE_AND_FORWARD, RoutingTypeRange,
};
use orbium_invocation::{RebindMode, SyncScope};

use crate::policy::policy_overrides::END_OF_STANDARD;

/// A standard policy from its value (`ORB::create_policy`); `None` for the types defined by
/// programs.
///
/// # Errors
/// Invalid values. BAD_POLICY_VALUE: it is of another type than the policy's, an empty range, or a
/// number that the specification does not define. UNSUPPORTED_POLICY_VALUE: a RoutingPolicy that
/// requires a router (ROUTE_FORWARD, ROUTE_STORE_AND_FORWARD), or a time out of range.
pub fn standard_policy(policy_type: u32, value: &Any) -> Option<Result<Policy, PolicyError>> {
    if policy_type >= END_OF_STANDARD {
        return None;
    }
    Some(match policy_type {
        policy_type::REBIND => made(policy_type, value, rebind),
        policy_type::SYNC_SCOPE => made(policy_type, value, scope),
        policy_type::REQUEST_PRIORITY | policy_type::REPLY_PRIORITY => {
            made(policy_type, value, priorities)
        }
        policy_type::ROUTING => made(policy_type, value, routing),
        policy_type::MAX_HOPS => made(policy_type, value, Ok::<u16, _>),
        policy_type::QUEUE_ORDER => made(policy_type, value, order),
        policy_type::BIDIRECTIONAL => made(policy_type, value, bidirectional),
        policy_type::RELATIVE_REQUEST_TIMEOUT | policy_type::RELATIVE_ROUNDTRIP_TIMEOUT => {
            made(policy_type, value, span)
        }
        policy_type::REQUEST_START_TIME..=policy_type::REPLY_END_TIME => {
            made(policy_type, value, point)
        }
        _ => Err(PolicyError::BadPolicyType),
    })
}

/// A policy with the value in the any, converted by `convert`.
fn made<V: Typed + Decode, T: Erased + Send + Sync>(
    policy_type: u32,
    value: &Any,
    convert: fn(V) -> Result<T, PolicyError>,
) -> Result<Policy, PolicyError> {
    let value = value.extract::<V>();
    let value = convert(value.map_err(|_| PolicyError::BadPolicyValue)?)?;
    Ok(Policy::new(policy_type, value))
}

fn rebind(number: i16) -> Result<RebindMode, PolicyError> {
    match number {
        0 => Ok(RebindMode::Transparent),
        1 => Ok(RebindMode::NoRebind),
        2 => Ok(RebindMode::NoReconnect),
        _ => Err(PolicyError::BadPolicyValue),
    }
}

fn scope(number: i16) -> Result<SyncScope, PolicyError> {
    match number {
        0 => Ok(SyncScope::None),
        1 => Ok(SyncScope::WithTransport),
        2 => Ok(SyncScope::WithServer),
        3 => Ok(SyncScope::WithTarget),
        _ => Err(PolicyError::BadPolicyValue),
    }
}

fn bidirectional(number: u16) -> Result<BidirectionalPolicy, PolicyError> {
    match number {
        0 => Ok(BidirectionalPolicy::Normal),
        1 => Ok(BidirectionalPolicy::Both),
        _ => Err(PolicyError::BadPolicyValue),
    }
}

/// A time in units of 100 ns.
fn span(hundreds: u64) -> Result<Duration, PolicyError> {
    let nanoseconds = hundreds.checked_mul(100);
    let nanoseconds = nanoseconds.ok_or(PolicyError::UnsupportedPolicyValue)?;
    Ok(Duration::from_nanos(nanoseconds))
}

/// A point of time. Its inaccuracy and time zone are ignored: `time` is UTC.
fn point(value: UtcT) -> Result<SystemTime, PolicyError> {
    let time = UtcTime(value.time).to_system_time();
    time.ok_or(PolicyError::UnsupportedPolicyValue)
}

fn priorities(range: PriorityRange) -> Result<PriorityRange, PolicyError> {
    if range.is_empty() {
        Err(PolicyError::BadPolicyValue)
    } else {
        Ok(range)
    }
}

fn routing(range: RoutingTypeRange) -> Result<RoutingTypeRange, PolicyError> {
    let is_known = |it| (ROUTE_NONE..=ROUTE_STORE_AND_FORWARD).contains(&it);
    if range.is_empty() || !is_known(range.min) || !is_known(range.max) {
        return Err(PolicyError::BadPolicyValue);
    }
    if range.allows_none() {
        Ok(range)
    } else {
        Err(PolicyError::UnsupportedPolicyValue)
    }
}

fn order(bits: u16) -> Result<QueueOrder, PolicyError> {
    let order = QueueOrder(bits);
    if order.is_valid() {
        Ok(order)
    } else {
        Err(PolicyError::BadPolicyValue)
    }
}
