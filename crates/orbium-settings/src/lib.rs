// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configurations of an ORB by name: its keys, named profiles, files and `-ORB` arguments,
//! and what the options of other ORBs mean.
//!
//! It does not know what a choice does: [`Config`](orbium_core::Config) is a plain value, and
//! [`Configure`] fills it in. An ORB that a program describes by such a value needs nothing
//! of this crate.
#![forbid(unsafe_code)]

mod arguments;
mod command_line;
mod configure;
mod error;
mod file;
mod keys;
mod lane_keys;
mod lane_name;
#[cfg(test)]
mod page;
mod profiles;
mod settings;
mod spelling;
#[cfg(test)]
mod tests;
mod tls_values;
mod value_syntax;

pub use configure::Configure;
pub use error::{ConfigError, Place};
pub use keys::ConfigKey;
pub use lane_keys::LaneKey;
