// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tests of the crate.

mod connections;
mod constraints;
mod delivery;
mod filters;
mod frugality;
mod jacorb;
mod mapping;
mod over_real_time;
mod peers;
mod proxies;
mod pulling;
mod qos;
mod updates;

use orbium_testkit::CountingAllocator;

#[global_allocator]
static HEAP: CountingAllocator = CountingAllocator;
