// SPDX-License-Identifier: MIT OR Apache-2.0
//! Behaviour of orbium, tested as one program: each test file is a module, so that all of them
//! are linked once.
//!
//! `cargo test -p orbium-testkit --test suite oneway::` runs those of a file. Tests
//! that count threads, descriptors or allocations, or that lower a limit of the
//! process, use [`in_own_process!`](orbium_testkit::in_own_process).

mod calls;
mod connections;
mod faults;
mod limits;
mod media;
mod over_tcp;
mod servers;
mod tracing;

use orbium_testkit::CountingAllocator;

#[global_allocator]
static HEAP: CountingAllocator = CountingAllocator;
