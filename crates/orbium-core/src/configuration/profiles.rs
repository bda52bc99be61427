// SPDX-License-Identifier: MIT OR Apache-2.0
//! Named profiles: many choices at once, for a kind of system.

use std::time::Duration;

use crate::{
    ClientStrategy, Config, ConnectTimeout, LaneConfig, Limits, Priority, Scheduling,
    ServerStrategy,
};

/// Names, and what each is for.
pub(super) const PROFILES: [(&str, &str); 4] = [
    (
        "default",
        "everything as it is without a configuration: a thread for each connection, generous bounds",
    ),
    (
        "embedded",
        "little memory and few threads: one thread serves, calls to a server share a \
         connection, small messages",
    ),
    (
        "avionics",
        "control loops: a lane with its own threads for each of three criticalities, a thread for \
         each connection of whoever asks for none, connections for each thread, and nothing that \
         waits for longer than a second",
    ),
    (
        "medical-imaging",
        "large values to many viewers: threads that take turns, messages of up to 4 GiB, large \
         buffers, patience",
    ),
];

/// The profile of that name.
pub(super) fn profile(name: &str) -> Option<Config> {
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

fn avionics() -> Config {
    let second = Duration::from_secs(1);
    Config {
        strategy: ServerStrategy::ThreadPerConnection,
        lanes: vec![
            criticality("critical", 30_000, 80, &["essential", "routine"]),
            criticality("essential", 20_000, 60, &["routine"]),
            criticality("routine", 10_000, 40, &[]),
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

/// A lane that never has more threads than it begins with, nor a long queue. On
/// a desk it goes without native priorities.
fn criticality(name: &str, priority: i16, native: i32, lenders: &[&str]) -> LaneConfig {
    LaneConfig {
        name: name.into(),
        priority: Priority::new(priority),
        scheduling: Some(Scheduling::fifo(native)),
        soft: true,
        strategy: ServerStrategy::WorkerPool {
            workers: 2,
            queue: 16,
        },
        stack_size: Some(512 << 10),
        prefault_stack: 64 << 10,
        replaces_waiting: false,
        borrows_from_named: lenders.iter().map(ToString::to_string).collect(),
        ..LaneConfig::default()
    }
}

fn medical_imaging() -> Config {
    let patience = Duration::from_secs(300);
    let mut config = Config {
        strategy: ServerStrategy::leader_followers(),
        limits: Limits {
            // Less where octets are counted in 32 bits.
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
}
