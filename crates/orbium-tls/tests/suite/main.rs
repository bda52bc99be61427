// SPDX-License-Identifier: MIT OR Apache-2.0
//! TLS as a transport, as one program: each test file is a module, so that all of them are
//! linked once.

mod against_rustls;
mod configuration;
mod damaged;
mod forked;
mod frugality;
mod interrupted;
mod midway;
mod multiplexed;
mod orb;
mod realm;
mod revocation;
mod rsa;
mod silent_peers;
mod strangers;
mod streams;
mod transport_ssliop;
mod trust;

use orbium_testkit::CountingAllocator;

#[global_allocator]
static HEAP: CountingAllocator = CountingAllocator;
