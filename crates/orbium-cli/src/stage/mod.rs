// SPDX-License-Identifier: MIT OR Apache-2.0
//! Server and client processes, on chosen processors and over chosen transports, and the timing of
//! their calls, for `orbium demo` and the benches.

pub mod carrier;
pub mod child;
pub mod contest;
pub mod pin;
pub mod progress;
pub mod realm;
pub mod scratch;
pub mod timing;
pub mod together;
