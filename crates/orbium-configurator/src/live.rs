// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration keys that a running ORB can change.

/// The keys that can be changed while the ORB runs, by the names of
/// [`ConfigKey`](orbium_settings::ConfigKey): of `server_strategy` only the numbers, and of
/// `protocols` none can be removed. TLS (`tls.`) can be turned on. Socket options (`properties.`)
/// can be changed, too, for later connections of the client and later endpoints.
pub const LIVE_KEYS: &[&str] = &[
    "endpoint",
    "lanes",
    "server_strategy",
    "protocols",
    "client_strategy",
    "client_protocols",
    "call_timeout",
    "request_timeout",
    "connect_timeout",
    "limits.message_size",
    "limits.messages_in_assembly",
    "limits.connections",
    "limits.initial_idle_time",
    "limits.message_time",
    "limits.send_time",
    "limits.open_requests",
    "limits.open_time",
    "limits.held_requests",
    "limits.hold_time",
    "limits.dedicated_threads",
    "limits.connections_per_server",
    "limits.idle_connections",
    "limits.calls_per_connection",
    "limits.buffered_oneways",
    "limits.server_idle_time",
];

/// The keys of a lane that can be changed while it serves, by the names of
/// [`LaneKey`](orbium_settings::LaneKey); of its strategy only the numbers. For other changes a new
/// lane replaces it; its priority cannot be changed.
pub const LIVE_LANE_KEYS: &[&str] = &[
    "endpoint",
    "strategy",
    "dynamic_threads",
    "idle_time",
    "queue_octets",
];

pub(crate) fn is_live(key: &str) -> bool {
    LIVE_KEYS.contains(&key)
}

pub(crate) fn is_live_of_a_lane(key: &str) -> bool {
    LIVE_LANE_KEYS.contains(&key)
}
