// SPDX-License-Identifier: MIT OR Apache-2.0
//! The naming client, and `corbaname:` in the ORB, as one program: against contexts of
//! these tests, and against the name servers of other ORBs.

mod contexts;
mod journey;
mod memory;
mod misbehaving;
mod names;
mod peers;
mod urls;

type Tested = Result<(), Box<dyn std::error::Error>>;
