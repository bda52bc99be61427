// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections of an ORB to servers: how they are made, pooled, shared by callers or owned by one,
//! and retained or closed while they are idle; the buffers of oneways; the outcomes of
//! exchanges.
//!
//! It has no notion of references, policies of calls or interceptors: a pool has the connections to
//! one channel with one [partition](partition::ConnectionPartition), and a caller takes one, or a
//! call slot of one, for an exchange. Its users are `orbium-client` and `orbium-ami`.
#![forbid(unsafe_code)]

mod client_config;
mod connection;
pub mod counts;
mod flow_control;
mod flusher;
pub mod introduction;
pub mod outcome;
mod pools;
mod shared;

use orbium_invocation::call_exceptions as errors;

pub use client_config::ClientConfig;
pub use connection::{Connection, Received, connecting};
pub use flow_control::FlowControl;
pub use pools::private_connections::{PrivateConnections, next_number};
pub use pools::{Pools, partition, pool, pool_key};
