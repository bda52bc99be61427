// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration keys that a running ORB can change.

/// The keys that can change while the ORB runs, as [`ConfigKey`](orbium_settings::ConfigKey) names
/// them: of `server_strategy` the numbers alone, and of `protocols` none is taken away. TLS (`tls.`) can
/// be turned on. Socket options (`properties.`) can too, for connections that the client makes and
/// endpoints that are added from then on.
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

/// The keys of a lane that can change while it serves, as [`LaneKey`](orbium_settings::LaneKey)
/// names them; of its strategy the numbers alone. With other changes a new lane takes its place; its
/// priority stays.
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
