// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory, descriptors and threads: how few are taken, and what happens when there are none.

mod allocations;
mod decoding_memory;
mod descriptor_exhaustion;
mod media_allocations;
mod open_files_limit;
mod peer_memory;
mod thread_exhaustion;
