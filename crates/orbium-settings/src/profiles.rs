// SPDX-License-Identifier: MIT OR Apache-2.0
//! Named profiles: sets of values for kinds of systems.

use std::time::Duration;

use orbium_core::{
    ClientStrategy, Config, ConnectTimeout, Endpoint, LaneConfig, Limits, Priority, Scheduling,
    ServerStrategy,
};

/// The names, with their purposes.
pub(crate) const PROFILES: [(&str, &str); 4] = [
    (
        "default",
        "programs without special requirements: the defaults, with a thread for each connection and large limits",
    ),
    (
        "embedded",
        "little memory and few threads: one thread serves, calls to a server share a \
         connection, small messages",
    ),
    (
        "avionics",
        "control loops, as in the paper's Table 1: a reactive lane for each of four rates, with a native \
         priority in the order of the rates and an endpoint within the host, connections for each \
         thread, and time-outs of at most a second",
    ),
    (
        "medical-imaging",
        "large values to many viewers, as in the paper's Table 1: a thread for each connection, \
         requests in the order of their arrival, TCP; messages of up to 4 GiB, large buffers, long time-outs",
    ),
];

/// The profile with that name.
pub(crate) fn profile(name: &str) -> Option<Config> {
    match name {
        "default" => Some(Config::default()),
        "embedded" => Some(embedded()),
        "avionics" => Some(avionics()),
        "medical-imaging" => Some(medical_imaging()),
        _ => None,
    }
}

fn embedded() -> Config {
    Config {
        strategy: ServerStrategy::Reactive,
        client_strategy: ClientStrategy::LeaderFollowers,
        limits: Limits {
            message_size: 1 << 20,
            nesting: 32,
            messages_in_assembly: 2,
            connections: 64,
            held_requests: 64,
            serving_threads: 16,
            connections_per_server: 4,
            idle_connections: 8,
            forwards: 4,
            ..Limits::default()
        },
        ..Config::default()
    }
}

/// Table 1 of paper 003, row 1: thread per priority, rate-based, perfect hashing, a backplane.
fn avionics() -> Config {
    let second = Duration::from_secs(1);
    Config {
        strategy: ServerStrategy::Reactive,
        lanes: vec![
            rate_group("rate-20hz", 32_000, 80),
            rate_group("rate-10hz", 24_000, 70),
            rate_group("rate-5hz", 16_000, 60),
            rate_group("rate-1hz", 8_000, 50),
        ],
        client_strategy: ClientStrategy::ExclusivePerThread,
        limits: Limits {
            message_size: 1 << 20,
            nesting: 32,
            messages_in_assembly: 4,
            connections: 256,
            message_time: second,
            send_time: second,
            held_requests: 256,
            serving_threads: 256,
            forwards: 4,
            ..Limits::default()
        },
        call_timeout: Some(second),
        connect_timeout: ConnectTimeout(second),
        ..Config::default()
    }
}

/// A reactor for the requests of one rate: the shorter the period, the more urgent. It is reached
/// within the host, over IIOP, since references have no priorities of endpoints for other
/// protocols. On a development host it runs without native priorities.
fn rate_group(name: &str, priority: i16, native: i32) -> LaneConfig {
    LaneConfig {
        name: name.into(),
        priority: Priority::new(priority),
        scheduling: Some(Scheduling::fifo(native)),
        soft: true,
        strategy: ServerStrategy::Reactive,
        endpoints: vec![Endpoint {
            scheme: "iiop".into(),
            address: "127.0.0.1:0".into(),
            parameters: Vec::new(),
        }],
        stack_size: Some(512 << 10),
        prefault_stack: 64 << 10,
        ..LaneConfig::default()
    }
}

/// Table 1 of paper 003, row 2: thread per connection, FIFO, active demultiplexing, TCP/IP. Keys of
/// objects are their slots in a table, and endpoints are those of TCP unless others are given.
fn medical_imaging() -> Config {
    let patience = Duration::from_secs(300);
    let mut config = Config {
        strategy: ServerStrategy::ThreadPerConnection,
        limits: Limits {
            // Less on 32-bit platforms.
            message_size: usize::try_from(4_u64 << 30).unwrap_or(usize::MAX),
            message_time: patience,
            send_time: patience,
            ..Limits::default()
        },
        ..Config::default()
    };
    config.properties.send_buffer = Some(1 << 20);
    config.properties.receive_buffer = Some(1 << 20);
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_makes_sense() {
        for (name, _) in PROFILES {
            let config = profile(name).unwrap();
            assert_eq!(config.check(), Ok(()), "{name}");
            assert_eq!(config == Config::default(), name == "default");
        }
        assert_eq!(profile("fast"), None);
    }

    #[test]
    fn two_profiles_are_those_of_table_1() {
        let avionics = avionics();
        // Thread per priority: a reactor for each rate, the shorter its period the more urgent.
        assert_eq!(avionics.lanes.len(), 4);
        assert!(avionics.lanes.is_sorted_by(|a, b| a.priority > b.priority));
        for lane in &avionics.lanes {
            assert_eq!(lane.strategy, ServerStrategy::Reactive);
            assert_eq!(lane.endpoints[0].to_string(), "iiop://127.0.0.1:0");
        }
        let imaging = medical_imaging();
        assert_eq!(imaging.strategy, ServerStrategy::ThreadPerConnection);
        assert!(imaging.lanes.is_empty() && imaging.endpoints.is_empty());
    }
}
