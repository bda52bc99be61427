// SPDX-License-Identifier: MIT OR Apache-2.0
//! Spans of calls over real connections, by the SDK's exporter into memory.

mod faults;
mod fixture;
mod spans;

type Tested = Result<(), Box<dyn std::error::Error>>;
