// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conformance of every transport, for each client strategy and messaging protocol.

mod in_process;
mod messaging;
mod multiplexed;
mod shared_memory;
mod tcp;
mod unix;

use orbium_testkit::CountingAllocator;

#[global_allocator]
static HEAP: CountingAllocator = CountingAllocator;
