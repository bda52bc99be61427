// SPDX-License-Identifier: MIT OR Apache-2.0
//! Numbers of standard policies of clients: each with the type of the value of such a
//! [`Policy`](crate::Policy).

use orbium_giop::real_time;

/// RebindPolicy: [`RebindMode`](orbium_invocation::RebindMode).
pub const REBIND: u32 = 23;
/// SyncScopePolicy: [`SyncScope`](orbium_invocation::SyncScope).
pub const SYNC_SCOPE: u32 = 24;
/// RequestPriorityPolicy:
/// [`PriorityRange`](orbium_invocation::router_policies::PriorityRange), not empty.
pub const REQUEST_PRIORITY: u32 = 25;
/// ReplyPriorityPolicy:
/// [`PriorityRange`](orbium_invocation::router_policies::PriorityRange), not empty.
pub const REPLY_PRIORITY: u32 = 26;
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
/// RoutingPolicy: [`RoutingTypeRange`](orbium_invocation::router_policies::RoutingTypeRange), which
/// must contain ROUTE_NONE: there is no router.
pub const ROUTING: u32 = 33;
/// MaxHopsPolicy: `u16`.
pub const MAX_HOPS: u32 = 34;
/// QueueOrderPolicy: [`QueueOrder`](orbium_invocation::router_policies::QueueOrder).
pub const QUEUE_ORDER: u32 = 35;
/// BidirectionalPolicy, for references only: `BidirectionalPolicy` of `orbium-config`.
pub const BIDIRECTIONAL: u32 = 37;
/// ClientProtocolPolicy: [`ProtocolPolicy`](orbium_channel::ProtocolPolicy).
pub const CLIENT_PROTOCOL: u32 = 43;

/// Name of the interface of a standard policy of clients; `None` for other numbers.
///
/// ```
/// use orbium_interceptor::policy_type;
///
/// assert_eq!(policy_type::name(policy_type::MAX_HOPS), Some("MaxHopsPolicy"));
/// assert_eq!(policy_type::name(0x4F52_4201), None);
/// ```
#[must_use]
pub const fn name(policy_type: u32) -> Option<&'static str> {
    Some(match policy_type {
        REBIND => "RebindPolicy",
        SYNC_SCOPE => "SyncScopePolicy",
        REQUEST_PRIORITY => "RequestPriorityPolicy",
        REPLY_PRIORITY => "ReplyPriorityPolicy",
        REQUEST_START_TIME => "RequestStartTimePolicy",
        REQUEST_END_TIME => "RequestEndTimePolicy",
        REPLY_START_TIME => "ReplyStartTimePolicy",
        REPLY_END_TIME => "ReplyEndTimePolicy",
        RELATIVE_REQUEST_TIMEOUT => "RelativeRequestTimeoutPolicy",
        RELATIVE_ROUNDTRIP_TIMEOUT => "RelativeRoundtripTimeoutPolicy",
        ROUTING => "RoutingPolicy",
        MAX_HOPS => "MaxHopsPolicy",
        QUEUE_ORDER => "QueueOrderPolicy",
        BIDIRECTIONAL => "BidirectionalPolicy",
        CLIENT_PROTOCOL => "ClientProtocolPolicy",
        real_time::PRIVATE_CONNECTION_POLICY => "PrivateConnectionPolicy",
        real_time::PRIORITY_BANDED_CONNECTION_POLICY => "PriorityBandedConnectionPolicy",
        _ => return None,
    })
}
