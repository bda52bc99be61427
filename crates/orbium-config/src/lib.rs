// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be chosen for an ORB as plain values, and the texts that say it:
//! configuration files, `-ORB` arguments, and those of other ORBs.
//!
//! It does not know what a key means to an ORB: `orbium-core` has the table of keys, and
//! implements [`Settings`] for its `Config`.
#![forbid(unsafe_code)]

pub mod arguments;
mod bidirectional;
mod choices;
mod client_strategy;
pub mod command_line;
mod error;
pub mod file;
pub mod file_url;
pub mod lane_name;
mod limits;
mod server_strategy;
mod settings;
pub mod spelling;
pub mod tls;
pub mod tls_values;
pub mod values;

pub use bidirectional::{BidirectionalHosts, BidirectionalPolicy};
pub use choices::{
    Collocation, ConnectTimeout, ForwardBoundKeys, GiopMinor, NamingTimeout, ReplyBatching,
    UnknownCollocation, check_times,
};
pub use client_strategy::{ClientStrategy, UnknownClientStrategy};
pub use error::{ConfigError, Place};
pub use limits::{Limits, MAX_CALLS_PER_CONNECTION};
pub use server_strategy::{ServerStrategy, UnknownStrategy};
pub use settings::Settings;
