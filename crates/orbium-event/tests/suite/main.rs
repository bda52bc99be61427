// SPDX-License-Identifier: MIT OR Apache-2.0
//! Event channels: filters, a channel within a process, and one that other ORBs call.

mod batches;
mod blocking;
mod contexts;
mod cos;
mod dropped;
mod failing;
mod filters;
mod frugality;
mod local;
mod observers;
mod omni_events;
mod operations;
mod parsing;
mod pull_suppliers;
mod pulled;
mod queues;
mod replayed;
mod scheduled;
mod served;
mod suspension;

use orbium_testkit::CountingAllocator;

#[global_allocator]
static HEAP: CountingAllocator = CountingAllocator;
