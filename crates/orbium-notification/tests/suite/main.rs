// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tests of the crate.

mod constraints;
mod delivery;
mod filters;
mod jacorb;
mod mapping;
mod peers;
mod proxies;
mod pulling;
mod qos;
mod updates;
