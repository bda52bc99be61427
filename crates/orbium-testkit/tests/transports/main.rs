// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every transport must do, for each transport, client strategy and messaging
//! protocol.

mod in_process;
mod messaging;
mod multiplexed;
mod shared_memory;
mod tcp;
mod unix;

use orbium_testkit::CountingAllocator;

#[global_allocator]
static HEAP: CountingAllocator = CountingAllocator;
