// SPDX-License-Identifier: MIT OR Apache-2.0
//! Configurations of an ORB by name: its keys, named profiles, files and `-ORB` arguments, and the
//! equivalents of options of other ORBs.
//!
//! It does not interpret settings: [`Config`](orbium_core::Config) is a plain value, and
//! [`Configure`] sets its fields. An ORB that a program configures by such a value does not need
//! this crate.
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
