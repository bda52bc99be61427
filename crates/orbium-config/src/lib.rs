// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configuration of an ORB as plain values: limits, strategies, TLS.
//!
//! The effect of a setting on an ORB, and the files and arguments with settings, are outside this
//! crate: `orbium-settings` parses them.
#![forbid(unsafe_code)]

mod bidirectional;
mod choices;
mod client_strategy;
pub mod file_url;
mod limits;
mod server_strategy;
pub mod tls;

pub use bidirectional::{BidirectionalHosts, BidirectionalPolicy};
pub use choices::{
    Collocation, ConnectTimeout, ForwardBoundKeys, GiopMinor, NamingTimeout, ReplyBatching,
    UnknownCollocation, check_times,
};
pub use client_strategy::{ClientStrategy, UnknownClientStrategy};
pub use limits::{Limits, MAX_CALLS_PER_CONNECTION};
pub use server_strategy::{ServerStrategy, UnknownStrategy};
