// SPDX-License-Identifier: MIT OR Apache-2.0
//! Test kit of orbium's behaviour tests: a test interface and its servant, scripted GIOP
//! peers, counts of threads, descriptors and allocations, and the suite of every stream
//! transport ([`transport_suite`](mod@transport_suite)).
//!
//! This crate is not for users of orbium. Its functions panic when a test should fail, and none
//! waits without a time limit.
#![deny(unsafe_code)]

mod chance;
mod essence;
mod orbs;
mod peer;
mod ports;
mod process;
mod recording;
mod skipping;
mod target;
pub mod transport_suite;
mod waiting;

pub use chance::Chance;
pub use essence::essence;
pub use orbs::{
    Served, calling_by, client, each_client_strategy, each_pair, each_strategy, in_order, reach,
    reference,
};
pub use peer::hostility::{WellBehaved, good_messages, malformed_messages, short_message_time};
pub use peer::message::{
    Message, Request, RequestLine, locate_reply, reply, request, write_reference,
};
pub use peer::nats::NatsServer;
pub use peer::nats_cluster::NatsCluster;
pub use peer::relay::Relay;
pub use peer::{FakeServer, Peer};
pub use ports::dead_port;
pub use process::allocations::{
    Counted, CountingAllocator, NamedCall, count_allocations, fewest_allocations, frugal_calls,
    held_octets,
};
pub use process::forking::{Child, in_child};
pub use process::own_process::run_in_own_process;
pub use process::{descriptors, give_up_real_time, resident_octets, threads};
pub use recording::{Fields, RecordedEvent, RecordedSpan, Recorder};
pub use skipping::{skipped, skipped_peer};
pub use target::{Gate, TargetState};
pub use waiting::{
    PATIENCE, block_on, eventually, pause_calls, spawn, spawn_blocked, spawn_blocked_in,
    with_patience, with_time_enough, within,
};

mod generated {
    orbium::include_idl!("probe");
}

pub use generated::probe;

mod types {
    orbium::include_idl!("kitchen");
}

pub use types::kitchen;
