// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bodies of the fuzz targets: plain functions of octets that panic when a
//! law is broken. libFuzzer drives them (see the folder above), and so do the
//! tests of this crate, with the corpora and what was found once.
//!
//! Nothing here knows what a fuzzer is, nor opens a file or a socket.
#![forbid(unsafe_code)]

mod cdr;
mod connection;
mod constraints;
mod idl;
mod json;
mod messages;
mod messaging;
mod references;
mod repository;
#[cfg(target_os = "linux")]
mod rings;
mod riop;
mod subscriptions;
pub mod types;
mod values;

pub use cdr::{cdr, format_of, type_number};
pub use connection::connection;
pub use constraints::constraints;
pub use idl::idl;
pub use json::json;
pub use messages::messages;
pub use messaging::{STACKS, messaging, stack};
pub use references::references;
pub use repository::{repository, repository_image};
#[cfg(target_os = "linux")]
pub use rings::rings;
pub use riop::riop;
pub use subscriptions::subscriptions;
pub use values::values;

/// A target by its name.
#[must_use]
pub fn target(name: &str) -> Option<fn(&[u8])> {
    Some(match name {
        "messages" => messages,
        "messaging" => messaging,
        "cdr" => cdr,
        "connection" => connection,
        "constraints" => constraints,
        "references" => references,
        "repository" => repository,
        "riop" => riop,
        #[cfg(target_os = "linux")]
        "rings" => rings,
        "subscriptions" => subscriptions,
        "idl" => idl,
        "values" => values,
        "json" => json,
        _ => return None,
    })
}
