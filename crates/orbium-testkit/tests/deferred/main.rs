// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests that servants answer after they have returned. A program of its own: it counts
//! allocations, and has generated code that no other test needs.

mod answers;
mod async_servants;
mod cancelled;
mod endings;
mod fixture;
mod futures;
mod handlers;
mod many;
mod urgent_tasks;

mod generated {
    orbium::include_idl!("later");
}

use generated::later;
use orbium_testkit::CountingAllocator;

#[global_allocator]
static HEAP: CountingAllocator = CountingAllocator;
